#!/usr/bin/env python3
"""Uses the page as a person with a keyboard does, in a real Chromium, and takes pictures of it.

    swift build && python3 Scripts/browser.py            (needs Debian's package chromium)
    python3 Scripts/browser.py --pictures Pictures       writes the pictures of the README anew
    python3 Scripts/browser.py --program PATH            for a program that was built elsewhere

The browser is told what to do over a pipe, in the DevTools protocol. Everything is on this machine.
"""
import argparse
import base64
import http.server
import json
import os
import re
import select
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

TOKEN = "hunter22"


class Browser:
    """A page in a browser of its own."""

    def __init__(self, folder):
        chromium = shutil.which("chromium") or sys.exit("chromium isn't installed: apt-get install chromium")
        to_browser, self.writer = os.pipe()
        self.reader, from_browser = os.pipe()

        def place():  # The browser reads from 3 and writes to 4.
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--disable-dev-shm-usage", "--no-first-run", f"--user-data-dir={folder}", "--hide-scrollbars",
             "--host-resolver-rules=MAP target.test 127.0.0.1", "about:blank"],
            preexec_fn=place, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.buffer, self.count, self.session, self.messages = b"", 0, None, []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Accessibility"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=800, height=1150, deviceScaleFactor=1, mobile=False)

    def call(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.count:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
            if answer.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown"):
                self.messages.append(json.dumps(answer["params"])[:300])

    def receive(self):
        deadline = time.monotonic() + 20
        while b"\0" not in self.buffer:
            if not select.select([self.reader], [], [], deadline - time.monotonic())[0]:
                sys.exit("the browser doesn't answer")
            self.buffer += os.read(self.reader, 1 << 20)
        line, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(line)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            sys.exit(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, expression, what):
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline:
            if value := self.evaluate(expression):
                return value
            time.sleep(0.02)
        sys.exit(f"waited in vain for {what}")

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'", url)

    def key(self, name, code, text=None):
        extra = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, code=name, windowsVirtualKeyCode=code, **extra)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, code=name, windowsVirtualKeyCode=code)

    def tab_to(self, selector):
        for _ in range(40):
            if self.evaluate(f"document.activeElement?.matches({json.dumps(selector)}) ?? false"):
                return
            self.key("Tab", 9)
        sys.exit(f"{selector} can't be reached by the keyboard")

    def type(self, text):
        self.call("Input.insertText", text=text)

    def enter(self):
        self.key("Enter", 13, "\r")

    def picture(self, path, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def nameless(self):
        """The controls that a screen reader can't name."""
        roles = {"button", "link", "textbox", "img"}
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [node["role"]["value"] for node in nodes if node.get("role", {}).get("value") in roles
                and not node.get("ignored") and not node.get("name", {}).get("value")]

    def contrast(self):
        """The lowest contrast of a text to what is behind it."""
        return self.evaluate("""(() => {
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
    import socket
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_program(path, folder):
    port = free_port()
    program = subprocess.Popen(
        [os.path.abspath(path), "--server-port", str(port)], cwd=folder, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "SHORTENER_ADMIN_TOKEN": TOKEN})
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
    browser.wait("document.getElementById('message').textContent.includes('must begin with')", "a refusal")
    check(True, "a script is refused, in words")

    browser.evaluate("document.getElementById('target').select()")
    browser.type(target)
    browser.enter()
    short = browser.wait("!document.getElementById('result').hidden && document.getElementById('short').href", "a link")
    check(re.fullmatch(re.escape(home) + r"[A-Za-z0-9]{7}", short), "a link is created by keyboard alone")
    check(browser.evaluate("document.activeElement.id") == "short", "the new link has the focus")
    browser.enter()
    browser.wait("document.title === 'Arrived'", "the target")
    check(True, "the link is followed to its target")
    for _ in range(2):
        browser.open(short)
    browser.open(home)

    time.sleep(1.5)  # Hits are written once a second.
    add_past(database, short[-7:])
    browser.tab_to("#token")
    browser.type(TOKEN)
    browser.enter()
    browser.wait("!document.getElementById('list').hidden", "the list")
    check(browser.evaluate("document.querySelector('#list td').textContent") == short[-7:], "the admin sees the link")
    browser.tab_to("#list button[aria-label^=Statistics]")
    browser.enter()
    words = browser.wait("!document.getElementById('chart').hidden"
                         " && document.querySelector('figcaption').textContent", "the chart")
    check(words.endswith(f"; {3 + sum(1 + index * 7 % 11 for index in range(19))} in all"),
          "the chart tells all hits")
    check(browser.evaluate("[...document.querySelectorAll('svg rect')].filter((r) => r.getAttribute('height') > 0).length")
          == 20, "there is a bar for each day that had hits")
    browser.tab_to("#target")
    browser.type("https://example.org/handbook/chapter/7?print=yes")
    browser.enter()
    browser.wait("!document.getElementById('result').hidden", "another link")
    browser.evaluate("scrollTo(0, 0)")
    check(browser.nameless() == [], "every control has a name for screen readers")
    for scheme in ("light", "dark"):
        browser.picture(os.path.join(pictures, f"page-{scheme}.png"), scheme)
        check(browser.contrast() >= 4.5, f"every text has a contrast of at least 4.5 to 1, {scheme}")


def main():
    parser = argparse.ArgumentParser()
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser.add_argument("--program", default=os.path.join(here, ".build/debug/Shortener"))
    parser.add_argument("--pictures")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        pictures = options.pictures or folder
        os.makedirs(pictures, exist_ok=True)
        program, port = start_program(options.program, folder)
        browser = None
        try:
            browser = Browser(os.path.join(folder, "profile"))
            visit(browser, f"http://127.0.0.1:{port}/", f"http://target.test:{serve_target()}/a",
                  os.path.join(folder, "links.sqlite"), pictures)
            strange = [m for m in browser.messages if "status of 422" not in m]
            check(strange == [], f"the browser complains of nothing {strange or ''}")
        finally:
            if browser:
                browser.process.kill()
                browser.process.wait()
            program.terminate()
            check(program.wait(timeout=10) == 0, "the program ends with success")


main()
