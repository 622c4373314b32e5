"""Reads the patches that break the laws, and writes files in which each of them waits behind a switch.

Each law has a file of patches. A patch begins with its name and what it breaks. Then come its changes, each with the file, the lines
that are there, and those that take their place:

    ## 04-nobody-joins
    Readers that come during a load begin another one.

    Sources/Fugu/Engine/Reading.swift
    - if misses < 4, !isAlone
    + if misses < 4, !broken, !isAlone

The old text is a part of a line, or lines without their indentation, and stands in the file once, or as often as is said behind the
name of the file (`, 2 times`). In the new text, `broken` is true while the patch is chosen; while it isn't, the new text must do what the
old text does. Only what differs between the two is written, so that patches can share lines, but not what they replace.
"""
import pathlib
import re

here = pathlib.Path(__file__).resolve().parent
root = here.parents[2]
folder = here / "patches"


class Fault(Exception):
    pass


class Patch:
    def __init__(self, name, lines):
        self.name = name
        self.changes = []
        self.purpose = lines[0] if lines else ""
        if not self.purpose or self.purpose.startswith(("Sources/", "- ", "+ ")):
            raise Fault(f"{self.name}:1: a patch begins with what it breaks")
        change = None
        for number, line in enumerate(lines[1:], 2):
            if match := re.fullmatch(r"(Sources/\S+\.swift)(?:, (\d+) times)?", line):
                change = Change(match.group(1), int(match.group(2) or 1), f"{self.name}:{number}")
                self.changes.append(change)
            elif match := re.fullmatch(r"([-+])(?: (.*))?", line):
                if change is None:
                    raise Fault(f"{self.name}:{number}: no file is named")
                if match.group(1) == "-" and change.new:
                    change = Change(change.path, 1, f"{self.name}:{number}")
                    self.changes.append(change)
                (change.old if match.group(1) == "-" else change.new).append((match.group(2) or "").strip())
            elif line.strip() and self.changes:
                raise Fault(f"{self.name}:{number}: neither a file nor - or + with text: {line}")
        if not self.changes:
            raise Fault(f"{self.name}: it changes nothing")
        if not any(re.search(r"\bbroken\b", line) for change in self.changes for line in change.new):
            raise Fault(f"{self.name}: no new text asks whether it's broken")
        for change in self.changes:
            if not change.old:
                raise Fault(f"{change.place}: there is no old text")


class Change:
    def __init__(self, path, times, place):
        self.path, self.times, self.place = path, times, place
        self.old, self.new = [], []

    def edits(self, text, switch):
        """Returns what is to be put where in a file, as pairs of places with new text."""
        found = list(re.finditer(r"\n[ \t]*".join(map(re.escape, self.old)), text))
        if len(found) != self.times:
            raise Fault(f"{self.place}: the old text stands {len(found)} times in {self.path}, not {self.times} times")
        old, new = "\n".join(self.old), "\n".join(self.new)
        start = 0
        while start < min(len(old), len(new)) and old[start] == new[start]:
            start += 1
        # Not within a word.
        while start and any(re.match(r"\w\w", text[start - 1: start + 1]) for text in (old, new)):
            start -= 1
        end = 0
        while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
            end += 1
        while end and any(re.match(r"\w\w", text[len(text) - end - 1: len(text) - end + 1]) for text in (old, new)):
            end -= 1
        written = re.sub(r"\bbroken\b", switch, new[start: len(new) - end])
        for match in found:
            # Where each character of the old text stands, which has no indentation.
            places = []
            for line in re.finditer(r"[^\n]+|\n[ \t]*", match.group()):
                if line.group().startswith("\n"):
                    places.append(match.start() + line.start())
                else:
                    places += range(match.start() + line.start(), match.start() + line.end())
            places.append(match.end())
            yield places[start], places[len(old) - end], written


def patches():
    """Returns all patches and what is wrong with the others."""
    found, faults = [], []
    for path in sorted(folder.glob("*.patches")):
        parts = re.split(r"(?m)^## (\S+)$", path.read_text())
        for name, text in zip(parts[1::2], parts[2::2]):
            try:
                if not name.startswith(path.stem + "-"):
                    raise Fault(f"{path.name}: {name} belongs to another law")
                found.append(Patch(name, text.strip().splitlines()))
            except Fault as fault:
                faults.append(str(fault))
    return found, faults


def written(found):
    """Returns the text of each file that a patch changes, and what doesn't fit."""
    texts, edits, faults = {}, {}, []
    for number, patch in enumerate(found):
        for change in patch.changes:
            if change.path not in texts:
                path = root / change.path
                texts[change.path] = path.read_text() if path.exists() else ""
            try:
                for begin, end, new in change.edits(texts[change.path], f"_m({number})"):
                    edits.setdefault(change.path, []).append((begin, end, number, new, change.place))
            except Fault as fault:
                faults.append(str(fault))
    for path, all_edits in edits.items():
        out, done, last = [], 0, ""
        for begin, end, _, new, place in sorted(all_edits):
            if begin < done:
                faults.append(f"{place}: replaces what {last} changes, too: insert something instead")
                continue
            out += [texts[path][done:begin], new]
            done, last = end, place
        texts[path] = "".join(out) + texts[path][done:]
    return texts, faults
