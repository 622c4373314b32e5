"""Opens pages of graphs, clicks, searches, walks and looks: pages.py FOLDER, with a page in each of shop, 300 and 1000."""

import sys
import time

from browser import Browser

failures = []


def expect(what, is_true):
    print(("ok    " if is_true else "FAIL  ") + what)
    if not is_true:
        failures.append(what)


def overlaps(browser):
    """How many pairs of nodes cover one another, and how many nodes lie outside of their boxes."""
    return browser.value("""(() => {
        const { nodes, boxes } = fugu.picture, all = [...nodes.values()].sort((a, b) => a.x - b.x);
        let pairs = 0, outside = 0, upward = 0;
        all.forEach((a, i) => { for (let j = i + 1; j < all.length && all[j].x < a.x + a.width; j++)
            if (Math.abs(all[j].y - a.y) < a.height) pairs++; });
        for (const node of all) { const box = boxes.get(node.entry.container);
            if (node.x < box.x || node.y < box.y || node.x + node.width > box.x + box.width || node.y + node.height > box.y + box.height)
                outside++; }
        for (const edge of fugu.picture.edges) if (edge.from.y >= edge.to.y) upward++;
        return [pairs, outside, upward]; })()""")


def look(browser, folder, name):
    start = time.monotonic()
    browser.open(f"file://{folder}/{name}/graph.html")
    browser.wait("document.querySelectorAll('.node').length > 0")
    browser.settle()
    seconds = time.monotonic() - start
    count = browser.value("fugu.picture.nodes.size")
    print(f"{name}: {count} nodes, {browser.value('fugu.picture.edges.length')} edges, shown after {seconds:.2f} s")
    expect(f"{name}: every node is drawn", browser.value("document.querySelectorAll('.node').length") == count)
    pairs, outside, upward = overlaps(browser)
    expect(f"{name}: no node covers another one", pairs == 0)
    expect(f"{name}: every node lies in its container's box", outside == 0)
    expect(f"{name}: every arrow leads down", upward == 0)
    expect(f"{name}: all is in view", browser.value(
        "[...document.querySelectorAll('#boxes > .box > rect')].every(e => { const r = e.getBoundingClientRect();"
        " const s = document.querySelector('#svg').getBoundingClientRect();"
        " return r.left >= s.left && r.right <= s.right && r.top >= s.top && r.bottom <= s.bottom; })"))
    for scheme in ["light", "dark"]:
        browser.scheme(scheme)
        browser.picture(f"{folder}/{name}-{scheme}.png")
    browser.scheme("light")


def use_shop(browser, folder):
    browser.open(f"file://{folder}/shop/graph.html")
    browser.click(".node[data-id=c2_Payments]")
    expect("a click selects", browser.value("document.querySelector('.node.picked')?.dataset.id") == "c2_Payments")
    details = browser.value("document.querySelector('#details').textContent")
    expect("and explains", "Payments was loaded" in details)
    browser.click(".node[data-id=c2_session]")
    expect("and shows the neighbours", browser.value(
        "[...document.querySelectorAll('.node.near')].map(e => e.dataset.id).sort().join()")
        == "c0_users,c2_basket,c2_requestLogger,c2_user")
    browser.picture(f"{folder}/shop-click.png")
    browser.press("ArrowUp")
    expect("up leads to who needed it",
           browser.value("document.querySelector('.node.picked')?.dataset.id") == "c2_basket")
    browser.press("ArrowDown")
    expect("down leads to an input", browser.value(
        "fugu.picture.nodes.get('c2_basket').entry.inputs.includes(document.querySelector('.node.picked').dataset.id)"))
    browser.press("Escape")
    expect("Escape selects nothing", browser.value("document.querySelectorAll('.node.picked').length") == 0)
    browser.press("/")
    browser.type("logger")
    expect("a search finds", browser.value("document.querySelectorAll('.node.found').length") == 3)
    expect("and the list shows it alone", browser.value("document.querySelectorAll('#list li:not([hidden])').length") == 3)
    browser.picture(f"{folder}/shop-search.png")
    browser.press("Enter")
    expect("Enter goes to the first", browser.value("document.querySelector('.node.picked') !== null"))
    browser.press("Escape")
    browser.click("#chips button.stale")
    expect("a state filters", browser.value("document.querySelectorAll('.node.found').length") == 2)
    browser.press("Escape")
    browser.click("#list li:nth-child(5) button")
    expect("the list selects", browser.value("document.querySelectorAll('.node.picked').length") == 1)
    before = browser.value("document.querySelector('#world').getAttribute('transform')")
    browser.wheel(500, 400, -300)
    expect("the wheel zooms", browser.value("document.querySelector('#world').getAttribute('transform')") != before)
    browser.click("#theme")
    expect("the theme turns", browser.value("document.documentElement.dataset.theme") == "dark")
    browser.call("Emulation.setDeviceMetricsOverride", width=420, height=800, deviceScaleFactor=1, mobile=False)
    browser.picture(f"{folder}/shop-narrow.png")
    browser.call("Emulation.setDeviceMetricsOverride", width=1400, height=900, deviceScaleFactor=1, mobile=False)


def use_large(browser, folder):
    browser.open(f"file://{folder}/1000/graph.html")
    expect("from afar some names are shown", browser.value("document.querySelectorAll('#labels text').length") > 20)
    browser.press("/")
    browser.type("service[777]")
    browser.press("Enter")
    browser.settle()
    expect("one of a thousand is found and near enough to be read", browser.value(
        "(() => { const e = document.querySelector('.node.picked'), r = e?.getBoundingClientRect();"
        " return r && r.height >= 12 && r.left > 0 && r.right < 1070; })()"))
    browser.picture(f"{folder}/1000-found.png")


def main(folder):
    browser = Browser()
    try:
        for name in ["shop", "300", "1000"]:
            look(browser, folder, name)
        use_shop(browser, folder)
        use_large(browser, folder)
        expect("the browser has nothing to complain of: " + "; ".join(browser.complaints), not browser.complaints)
    finally:
        browser.close()
    if failures:
        raise SystemExit(f"{len(failures)} failed")


main(sys.argv[1])
