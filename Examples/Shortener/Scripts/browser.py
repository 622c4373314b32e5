#!/usr/bin/env python3
"""Uses the page as a person with a keyboard does, in a real Chromium, and takes pictures of it.

    swift build && python3 Scripts/browser.py            (needs Debian's package chromium)
    python3 Scripts/browser.py --pictures Pictures       writes the pictures of the README anew
    python3 Scripts/browser.py --program PATH            for a program that was built elsewhere

Commands reach the browser over a pipe, in the DevTools protocol. Everything is on this machine.
"""
import argparse
import http.server
import os
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(here, "../../Tests/Tools/Pages"))
from browser import Browser  # noqa: E402

TOKEN = "hunter22"


class Page(Browser):
    """A page that's used by the keyboard alone."""

    def tab_to(self, selector):
        for _ in range(40):
            if self.value(f"document.activeElement?.matches('{selector}') ?? false"):
                return
            self.press("Tab")
        sys.exit(f"{selector} can't be reached by the keyboard")

    def enter(self):
        self.press("Enter")

    def nameless(self):
        """The controls that a screen reader can't name."""
        roles = {"button", "link", "textbox", "img"}
        self.call("Accessibility.enable")
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [node["role"]["value"] for node in nodes if node.get("role", {}).get("value") in roles
                and not node.get("ignored") and not node.get("name", {}).get("value")]

    def contrast(self):
        """The lowest contrast of a text to what is behind it."""
        return self.value("""(() => {
          const light = (c) => { const v = c.match(/[\\d.]+/g).map(Number).slice(0, 3).map((x) => x / 255)
            .map((x) => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
            return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
          const back = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
            if (c && !c.endsWith(", 0)") && c !== "transparent") return c; } return "rgb(255, 255, 255)"; };
          let lowest = 21;
          for (const e of document.querySelectorAll("h1, h2, p, label, a, button, td, th, summary, figcaption")) {
            if (!e.textContent.trim() || !e.checkVisibility()) continue;
            const [a, b] = [light(getComputedStyle(e).color), light(back(e))].sort((x, y) => y - x);
            lowest = Math.min(lowest, (a + 0.05) / (b + 0.05));
          }
          return lowest; })()""")


def serve_target():
    """Where the link leads to."""
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>Arrived</title>")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_program(path, folder):
    port = free_port()
    program = subprocess.Popen(
        [os.path.abspath(path), "--server-port", str(port)], cwd=folder, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "SHORTENER_ADMIN_TOKEN": TOKEN, "SHORTENER_ADMIN_ALLOWS_INSPECTION": "true"})
    for line in program.stderr:
        if "Listening at" in line:
            threading.Thread(target=program.stderr.read, daemon=True).start()
            return program, port
    sys.exit("the program didn't start")


def check(condition, what):
    if not condition:
        sys.exit(f"not so: {what}")
    print(f"ok: {what}")


def add_past(database, code):
    """Gives the link a past, so that the chart shows more than today."""
    today = int(time.time() // 86400)
    with sqlite3.connect(database) as connection:
        connection.executemany("INSERT INTO hit (code, day, count) VALUES (?, ?, ?)",
                               [(code, today - 25 + index, 1 + index * 7 % 11) for index in range(19)])
    connection.close()


def visit(browser, home, target, database, pictures):
    browser.open(home)
    browser.tab_to("#target")
    browser.type("javascript:alert(1)")
    browser.enter()
    browser.wait("document.getElementById('message').textContent.includes('must begin with')")
    check(True, "a script is refused, in words")

    browser.value("document.getElementById('target').select()")
    browser.type(target)
    browser.enter()
    short = browser.wait("!document.getElementById('result').hidden && document.getElementById('short').href")
    check(re.fullmatch(re.escape(home) + r"[A-Za-z0-9]{7}", short), "a link is created by keyboard alone")
    check(browser.value("document.activeElement.id") == "short", "the new link has the focus")
    browser.enter()
    browser.wait("document.title === 'Arrived'")
    check(True, "the link is followed to its target")
    for _ in range(2):
        browser.open(short)
    wait_for_hits(database, short[-7:], 3)
    add_past(database, short[-7:])
    browser.open(home)
    browser.tab_to("#token")
    browser.type(TOKEN)
    browser.enter()
    browser.wait("!document.getElementById('list').hidden")
    check(browser.value("document.querySelector('#list td').textContent") == short[-7:], "the admin sees the link")
    browser.tab_to("#list button[aria-label^=Statistics]")
    browser.enter()
    words = browser.wait("!document.getElementById('chart').hidden"
                         " && document.querySelector('figcaption').textContent")
    check(words.endswith(f"; {3 + sum(1 + index * 7 % 11 for index in range(19))} in all"),
          "the chart shows all hits")
    check(browser.value("[...document.querySelectorAll('svg rect')].filter((r) => r.getAttribute('height') > 0).length")
          == 20, "there is a bar for each day that had hits")
    browser.tab_to("#target")
    browser.type("https://example.org/handbook/chapter/7?print=yes")
    browser.enter()
    browser.wait("!document.getElementById('result').hidden")
    browser.value("scrollTo(0, 0)")
    check(browser.nameless() == [], "every control has a name for screen readers")
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        browser.picture(os.path.join(pictures, f"page-{scheme}.png"))
        check(browser.value("matchMedia('(prefers-color-scheme: dark)').matches") == (scheme == "dark"),
              f"the page is {scheme}")
        check(browser.contrast() >= 4.5, f"every text has a contrast of at least 4.5 to 1, {scheme}")


def inspect(browser, home, pictures):
    # A browser asks for the password once, and then sends it along.
    browser.open(home.replace("//", f"//admin:{TOKEN}@") + "inspect/graph.json")
    browser.call("Emulation.setDeviceMetricsOverride", width=1200, height=760, deviceScaleFactor=1, mobile=False)
    browser.scheme("light")
    browser.open(home + "inspect")
    browser.wait("document.querySelector('#state').className === 'live'")
    browser.wait("fugu.picture.nodes.has('c0_HitCounter')")
    check(True, "the inspector shows the program, live")
    check(browser.value(f"!document.documentElement.outerHTML.includes('{TOKEN}')"), "and not the token")
    browser.wait("[...fugu.picture.boxes.values()].some((box) => box.container.name === 'GET /inspect/live')")
    check(True, "and the request that shows it")
    browser.wait("document.getAnimations().length === 0")
    browser.picture(os.path.join(pictures, "inspector.png"))


def wait_for_hits(database, code, count):
    """Until they are written, once a second."""
    for _ in range(600):
        with sqlite3.connect(database) as connection:
            if connection.execute("SELECT sum(count) FROM hit WHERE code = ?", [code]).fetchone() == (count,):
                return
        time.sleep(0.1)
    sys.exit("the hits weren't written")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=os.path.join(here, ".build/debug/Shortener"))
    parser.add_argument("--pictures")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        pictures = options.pictures or folder
        os.makedirs(pictures, exist_ok=True)
        program, port = start_program(options.program, folder)
        browser = None
        try:
            browser = Page(800, 1150, ["--host-resolver-rules=MAP target.test 127.0.0.1"])
            home = f"http://127.0.0.1:{port}/"
            visit(browser, home, f"http://target.test:{serve_target()}/a", os.path.join(folder, "links.sqlite"), pictures)
            inspect(browser, home, pictures)
            strange = [text for text in browser.complaints if "status of 422" not in text]
            check(strange == [], f"the browser complains of nothing {strange or ''}")
            program.terminate()
            check(program.wait(timeout=120) == 0, "the program ends with success, though the inspector is open")
        finally:
            if browser:
                browser.close()
            program.kill()


main()
