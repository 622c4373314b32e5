"""Looks at the live page of the demo in Chromium while it loads: look.py FOLDER PORT, after `swift build --product Demo`."""

import os
import subprocess
import sys
import urllib.error
import urllib.request

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "../../Tests/Pages"))
from browser import Browser  # noqa: E402

failures = []


def expect(what, is_true):
    print(("ok    " if is_true else "FAIL  ") + what)
    if not is_true:
        failures.append(what)


def main(folder, port):
    os.makedirs(folder, exist_ok=True)
    demo = subprocess.Popen([os.path.join(here, ".build/debug/Demo"), str(port)], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
    browser = Browser()
    try:
        for _ in range(200):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/graph.json").close()
                break
            except urllib.error.URLError:
                browser.value("new Promise(done => setTimeout(done, 25))")
        browser.open(f"http://127.0.0.1:{port}/")
        browser.wait("document.querySelector('#state').className === 'live'")
        browser.wait("document.querySelectorAll('.node.loading').length > 0")
        expect("nodes light up as they load", True)
        browser.wait("[...inspector.loads.values()].some(load => load.end === null)")
        browser.picture(f"{folder}/loading.png")
        browser.wait("document.querySelectorAll('.node.failed').length > 0", 60)
        expect("a failure is shown in red, with its text and without the secret", browser.value(
            "(() => { const failed = [...fugu.picture.nodes.values()].find(node => node.entry.state === 'failed');"
            " return failed.entry.explanation.join(' ').includes('too heavy, says (secret)'); })()"))
        expect("the timeline has the load that failed, below the one that needed it or at the top", browser.value(
            "[...inspector.loads.values()].some(load => load.kind === 'failed' && load.end > load.start)"))
        expect("loads stand below those that needed them", browser.value(
            "[...inspector.loads.values()].every(load => !inspector.loads.has(load.neededBy)"
            " || inspector.loads.get(load.neededBy).lane < load.lane)"))
        browser.wait("inspector.waits.length > 0", 60)
        expect("who waited for whom is shown", browser.value("inspector.waits.every(wait => wait.load && wait.duration >= 0)"))
        expect("overrides appear", browser.value(
            "[...fugu.picture.nodes.values()].some(node => node.entry.name.endsWith('letter') && node.entry.state === 'set')"))
        expect("no secret is in the page", browser.value("!document.documentElement.outerHTML.includes('swordfish')"))
        browser.click("#hold")
        browser.picture(f"{folder}/failed-light.png")
        browser.scheme("dark")
        browser.value("dispatchEvent(new Event('resize'))")
        browser.picture(f"{folder}/failed-dark.png")
        box = browser.value("(() => { const bar = document.querySelector('#flames').getBoundingClientRect(); return [bar.x, bar.y]; })()")
        bar = browser.value("(() => { const bar = bars.find(b => b.load.kind === 'failed' || b.load.kind === 'loaded');"
                            " return [(bar.left + bar.right) / 2, (bar.top + bar.bottom) / 2]; })()")
        for kind in ["mousePressed", "mouseReleased"]:
            browser.call("Input.dispatchMouseEvent", type=kind, x=box[0] + bar[0], y=box[1] + bar[1], button="left", clickCount=1)
        browser.settle()
        expect("a click on a load selects its node", browser.value("document.querySelector('.node.picked') !== null"))
        browser.picture(f"{folder}/picked.png")
        request = urllib.request.Request(f"http://127.0.0.1:{port}/", headers={"Host": "evil.example"})
        try:
            urllib.request.urlopen(request)
            expect("who names another machine is refused", False)
        except urllib.error.HTTPError as error:
            expect("who names another machine is refused", error.code == 421)
        demo.terminate()
        demo.wait(20)
        expect("the server ends though the page is open", demo.returncode == 0)
        browser.wait("document.querySelector('#state').className === 'lost'")
        expect("and the page says so", True)
        complaints = [text for text in browser.complaints if "ERR_" not in text]
        expect("the browser has nothing to complain of: " + "; ".join(complaints), not complaints)
    finally:
        browser.close()
        if demo.poll() is None:
            demo.kill()
    if failures:
        raise SystemExit(f"{len(failures)} failed")


main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 8099)
