#!/usr/bin/env python3
"""Opens the rendered documentation in Chromium, on wide and narrow windows, light and dark, and saves screenshots.

    python3 Tests/Tools/Pages/documentation.py ARCHIVE FOLDER        after `bash .ci/run --only docs`

It fails if a page has no title, shows a picture that didn't load, is wider than its window, or logs an error.
"""
import functools
import http.server
import pathlib
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from browser import Browser

pages = {
    "landing": "/documentation/",
    "fugu": "/documentation/fugu/",
    "container": "/documentation/fugu/container/",
    "article": "/documentation/fugu/families/",
    "onepage": "/documentation/fugu/onepage/",
    "troubleshooting": "/documentation/fugu/troubleshooting/",
    "tutorials": "/tutorials/buildaferry/",
    "tutorial": "/tutorials/fugu/declareandtest/",
}
# Chapters with code beside their steps are laid out for a screen; the renderer scrolls that code sideways on a phone.
widths = {"wide": 1400, "narrow": 400}


# The renderer asks for this file, which a project can have.
optional = {"/theme-settings.json"}
missing_files = set()


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def send_error(self, code, *arguments):
        if self.path not in optional:
            missing_files.add(self.path)
        super().send_error(code, *arguments)


def main(archive, folder):
    site = folder / "site"
    subprocess.run(
        ["docc", "process-archive", "transform-for-static-hosting", archive, "--output-path", site], check=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    problems = []
    for size, width in widths.items():
        browser = Browser(width, 1000)
        for scheme in ["light", "dark"]:
            browser.scheme(scheme)
            for name, path in pages.items():
                browser.open(f"http://127.0.0.1:{server.server_port}{path}")
                browser.wait("document.querySelector('h1') !== null && document.querySelector('h1').innerText !== ''")
                browser.value("document.fonts.ready.then(() => true)")
                label = f"{name}, {size}, {scheme}"
                missing = browser.value(
                    "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)")
                excess = browser.value("document.documentElement.scrollWidth - innerWidth")
                if missing:
                    problems.append(f"{label}: pictures are missing: {missing}")
                if excess > 0:
                    problems.append(f"{label}: {excess} pixels wider than the window")
                print(f"{label}: {browser.value('document.querySelector(`h1`).innerText')}")
                browser.picture(folder / f"{name}-{size}-{scheme}.png")
        problems += [c for c in browser.complaints if "404" not in c]
        browser.close()
    problems += [f"the site has no {path}" for path in sorted(missing_files)]
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    destination = pathlib.Path(sys.argv[2])
    destination.mkdir(parents=True, exist_ok=True)
    main(pathlib.Path(sys.argv[1]), destination)
