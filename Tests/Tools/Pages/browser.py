"""Drives Chromium through the pipe of its debugging protocol: real clicks and keys, nothing installed but the browser."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time


class Browser:
    def __init__(self, width=1400, height=900, options=()):
        path = os.environ.get("FUGU_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
        if not path:
            raise SystemExit("there is no Chromium here")
        self.profile = tempfile.mkdtemp()
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def prepare():
            # The protocol uses the descriptors 3 and 4.
            os.dup2(to_browser, 13)
            os.dup2(from_browser, 14)
            os.dup2(13, 3)
            os.dup2(14, 4)

        self.process = subprocess.Popen(
            [path, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             "--disable-dev-shm-usage", "--remote-debugging-pipe", *options,
             f"--user-data-dir={self.profile}", f"--window-size={width},{height}", "about:blank"],
            preexec_fn=prepare, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.session, self.complaints = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log"]:
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def _message(self):
        while b"\0" not in self.buffer:
            part = os.read(self.read_end, 1 << 16)
            if not part:
                raise SystemExit("the browser has disconnected")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("method") == "Runtime.exceptionThrown":
                details = answer["params"]["exceptionDetails"]
                self.complaints.append(details.get("exception", {}).get("description") or details["text"])
            if answer.get("method") == "Log.entryAdded" and answer["params"]["entry"]["level"] == "error":
                self.complaints.append(answer["params"]["entry"]["text"])
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, address):
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && document.body !== null")

    def value(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, condition, seconds=120):
        """Waits until something is true, for as long as a slow machine may need, and gives what it is."""
        limit = time.monotonic() + seconds
        while not (value := self.value(condition)):
            if time.monotonic() > limit:
                raise SystemExit(f"never true: {condition}")
            time.sleep(0.02)
        return value

    def settle(self):
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def click(self, selector):
        place = self.value(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null;"
            " const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        if place is None:
            raise SystemExit(f"nothing to click: {selector}")
        for kind in ["mousePressed", "mouseReleased"]:
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)
        self.settle()

    def press(self, key):
        for kind in ["keyDown", "keyUp"]:
            letter = "\r" if key == "Enter" else key
            text = {"text": letter} if len(letter) == 1 and kind == "keyDown" else {}
            codes = {"Tab": 9, "Escape": 27, "Enter": 13, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=codes.get(key, 0), **text)
        self.settle()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def wheel(self, x, y, delta):
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=delta)
        self.settle()

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])
        self.settle()

    def picture(self, path):
        self.settle()
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
        # For pictures that are kept: a third of the size, and nothing to be seen of it.
        if shutil.which("pngquant"):
            subprocess.run(["pngquant", "--force", "--skip-if-larger", "--output", path, "96", path], check=False)
