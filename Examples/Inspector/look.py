"""Looks at the live page of the demo in Chromium while it loads, and takes pictures of it.

    swift build && python3 look.py FOLDER                (needs Debian's package chromium)
    swift build && python3 look.py Pictures              writes the pictures of the README anew
    python3 look.py FOLDER --program PATH                for a demo that was built elsewhere
"""

import argparse
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "../../Tests/Tools/Pages"))
from browser import Browser  # noqa: E402

failures = []


def expect(what, is_true):
    print(("ok    " if is_true else "FAIL  ") + what)
    if not is_true:
        failures.append(what)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main(folder, program):
    os.makedirs(folder, exist_ok=True)
    port = free_port()
    demo = subprocess.Popen([os.path.abspath(program), str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    browser = Browser(1200, 760)
    try:
        for _ in range(2000):
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
        browser.wait("[...inspector.loads.values()].some(load => load.kind === 'failed')")
        expect("the timeline has the load that failed, below the one that needed it or at the top", browser.value(
            "[...inspector.loads.values()].some(load => load.kind === 'failed' && load.end > load.start)"))
        expect("loads stand below those that needed them", browser.value(
            "[...inspector.loads.values()].every(load => !inspector.loads.has(load.neededBy)"
            " || inspector.loads.get(load.neededBy).lane < load.lane)"))
        browser.wait("inspector.waits.length > 0")
        expect("who waited for whom is shown", browser.value("inspector.waits.every(wait => wait.load && wait.duration >= 0)"))
        browser.wait("[...fugu.picture.nodes.values()].some(node => node.entry.name.endsWith('letter')"
                     " && node.entry.state === 'set')")
        expect("overrides appear", True)
        expect("no secret is in the page", browser.value("!document.documentElement.outerHTML.includes('swordfish')"))
        browser.click("#hold")
        for scheme in ["light", "dark"]:
            browser.scheme(scheme)
            browser.picture(f"{folder}/live-{scheme}.png")
        box = browser.value("(() => { const bar = document.querySelector('#flames').getBoundingClientRect(); return [bar.x, bar.y]; })()")
        # The archive is never loaded again, so its node is there however slow this is.
        bar = browser.value("(() => { const bar = bars.find(b => b.load.kind === 'loaded' && b.load.key === 'Archive');"
                            " return [(bar.left + bar.right) / 2, (bar.top + bar.bottom) / 2]; })()")
        for kind in ["mousePressed", "mouseReleased"]:
            browser.call("Input.dispatchMouseEvent", type=kind, x=box[0] + bar[0], y=box[1] + bar[1], button="left", clickCount=1)
        browser.settle()
        expect("a click on a load selects its node", browser.value("document.querySelector('.node.picked') !== null"))
        request = urllib.request.Request(f"http://127.0.0.1:{port}/", headers={"Host": "evil.example"})
        try:
            urllib.request.urlopen(request)
            expect("who names another machine is refused", False)
        except urllib.error.HTTPError as error:
            expect("who names another machine is refused", error.code == 421)
        demo.terminate()
        demo.wait(120)
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


parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--program", default=os.path.join(here, ".build/debug/Demo"))
options = parser.parse_args()
main(options.folder, options.program)
