#!/usr/bin/env python3
"""Checks every link and picture of the pages, as GitHub shows them: links.py

    python3 Tests/Tools/Pages/links.py CATALOG COPY     copies a catalog with the links that DocC knows

The sources have the links of files: `[Servers](Servers.md#streams)`. In the copy, a link to a page of the catalog, or of one that
DocC converts before it, is `[Servers](doc:Servers#Streams)`; any other link to a file is only its text. DocC finds a picture by its
name in the whole catalog, GitHub only by its path: `![…](family.svg)` is right in both if the file is beside the page.
"""
import pathlib
import re
import shutil
import subprocess
import sys

root = pathlib.Path(subprocess.check_output(["git", "rev-parse", "--show-toplevel"], text=True).strip())
link = re.compile(r"(!?)\[([^\[\]]*)\]\(([^)\s]+)\)")
outside = re.compile(r"https?://|mailto:")


def without_code(text):
    """A page with its code left blank, so that everything else keeps its place."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])
    text = re.sub(r"^ *```.*?^ *```", blank, text, flags=re.M | re.S)
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", blank, text)


def anchors(page):
    """The headings of a page: the anchors that GitHub gives them, with those of DocC."""
    titles = re.findall(r"^#+ +(.*)$", re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.M | re.S), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-"): title.replace("`", "").replace(" ", "-") for title in titles}


def catalog_of(page):
    return next((folder for folder in page.parents if folder.suffix == ".docc"), None)


def fault(page, target, is_picture):
    """What is wrong with a link of a page, if anything."""
    if outside.match(target):
        return None
    if target.startswith("doc:"):
        return "GitHub shows only its text: write [Title](Page.md)"
    path, _, anchor = target.partition("#")
    if is_picture and catalog_of(page) and "/" in path:
        return "DocC finds pictures by name: put it beside the page"
    file = (page.parent / path).resolve() if path else page
    if not file.exists() or is_picture and not file.is_file():
        return "there is no such file"
    if anchor and file.suffix == ".md" and anchor not in anchors(file):
        return "the page has no such heading"
    return None


def check():
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    files = [name for name in subprocess.check_output(listing, cwd=root, text=True).splitlines() if (root / name).exists()]
    failures, count = [], 0
    for name in files:
        page = root / name
        text = without_code(page.read_text())
        found = [(m.start(), m[0], "GitHub shows this as it is: write [Title](Page.md)") for m in re.finditer(r"<doc:[^>]*>", text)]
        links = [(m.start(), m[2], (m[1] or "").startswith("!")) for m in re.finditer(r"(!?\[[^\[\]]*)?\]\(([^)\s]+)\)", text)]
        links += [(m.start(), m[1], True) for m in re.finditer(r"(?:src|srcset)=\"([^\"]+)\"", text)]
        links += [(m.start(), m[1], False) for m in re.finditer(r"href=\"([^\"]+)\"", text)]
        count += len(links)
        found += [(place, target, what) for place, target, is_picture in links if (what := fault(page, target, is_picture))]
        failures += [f"{name}:{text.count(chr(10), 0, place) + 1}: {target}: {what}" for place, target, what in sorted(found)]
    for failure in failures:
        print(f"error: {failure}", file=sys.stderr)
    if count < 100:
        sys.exit(f"error: only {count} links were found")
    print(f"{count} links and pictures of {len(files)} pages lead somewhere")
    sys.exit(1 if failures else 0)


def converted(page, text):
    """The text of a page of a catalog with DocC's links."""
    catalog = catalog_of(page)

    def replacement(match):
        picture, title, target = match.groups()
        if picture or outside.match(target) or plain[match.start()] != "[":
            return match[0]
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        module = catalog_of(file).stem if file.suffix in (".md", ".tutorial") and catalog_of(file) else None
        # DocC converts Fugu first.
        if module not in (catalog.stem, "Fugu"):
            return title
        place = f"//Fugu/documentation/Fugu{'' if file.stem == 'Fugu' else '/' + file.stem}" if module != catalog.stem else file.stem
        return f"[{title}](doc:{place}{'#' + anchors(file)[anchor] if anchor else ''})"

    plain = without_code(text)
    return link.sub(replacement, text)


if len(sys.argv) == 1:
    check()
catalog, copy = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
shutil.copytree(catalog, copy)
for page in catalog.rglob("*.md"):
    (copy / page.relative_to(catalog)).write_text(converted(page, page.read_text()))
