#!/usr/bin/env python3
"""Checks every link and picture of the pages for both readers, the documentation and GitHub: links.py

Both show a page of a catalog. DocC leaves `[Servers](Servers.md)` as it is, which leads nowhere on its site, and GitHub shows
`<doc:Servers>` as that text. `[Servers](doc:Servers)` is a link in DocC, and the word on GitHub. DocC finds a picture by its name in
the whole catalog, GitHub only by its path: `![…](family.svg)` is right in both if the file is beside the page.
"""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(subprocess.check_output(["git", "rev-parse", "--show-toplevel"], text=True).strip())
listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
files = subprocess.check_output(listing, cwd=root, text=True).splitlines()
failures, count = [], 0


def text_of(page):
    """A page with its code left blank, so that the lines keep their numbers."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])
    text = re.sub(r"^ *```.*?^ *```", blank, page.read_text(), flags=re.M | re.S)
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", blank, text)


def anchors(page):
    """The anchors that GitHub gives the headings of a page."""
    titles = re.findall(r"^#+ +(.*)$", re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.M | re.S), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def catalog_of(page):
    return next((folder for folder in page.parents if folder.suffix == ".docc"), None)


def fault(page, target, is_picture):
    """What is wrong with a link of a page, if anything."""
    catalog = catalog_of(page)
    if re.match(r"https?://|mailto:", target):
        return None
    path, _, anchor = target.partition("#")
    if target.startswith("doc:"):
        if catalog is None:
            return "only pages of a catalog can link with doc:"
        names = {file.stem for file in catalog.rglob("*") if file.suffix in (".md", ".tutorial")}
        return None if path.removeprefix("doc:") in names else "the catalog has no such page"
    if catalog and not is_picture:
        return "DocC doesn't find files: write [Title](doc:Page)"
    if is_picture and catalog and "/" in path:
        return "DocC finds pictures by name: put it beside the page"
    file = (page.parent / path).resolve() if path else page
    if not file.exists() or is_picture and not file.is_file():
        return "there is no such file"
    if anchor and file.suffix == ".md" and anchor not in anchors(file):
        return "the page has no such heading"
    return None


for name in files:
    page = root / name
    if not page.exists():
        continue
    text = text_of(page)
    found = [(m.start(), m[0], "GitHub shows this as it is: write [Title](doc:Page)") for m in re.finditer(r"<doc:[^>]*>", text)]
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
