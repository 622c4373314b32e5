import Fugu

extension ContainerGraph {
    /// The graph as one page for a browser, which needs nothing from the network.
    ///
    /// It draws containers as nested boxes, and arrows down to inputs. Search with `/`, zoom with the wheel or `+`, `-`
    /// and `0`, follow arrows with the arrow keys, and select an entry for its explanation and its neighbors.
    ///
    /// - Complexity: O(*n*) for *n* entries and inputs. The browser computes the layout.
    public var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
        script-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'">
        <title>Container graph</title>
        <style>
        \(GraphPage.style)
        </style>
        </head>
        <body>
        \(GraphPage.body)
        <script type="application/json" id="graph">
        \(json)</script>
        <script>
        \(GraphPage.layout)
        \(GraphPage.view)
        \(GraphPage.panel)
        </script>
        </body>
        </html>

        """
    }
}

/// The constant parts of the page.
enum GraphPage {
    static let body = """
        <div id="app">
          <main id="stage" aria-label="Graph">
            <svg id="svg" role="group" aria-label="Entries and their inputs">
              <defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
                <path d="M0 0 8 4 0 8z"/></marker></defs>
              <g id="world"><g id="boxes"></g><g id="edges"></g><g id="nodes"></g></g>
              <g id="labels" aria-hidden="true"></g>
            </svg>
            <div id="tools" role="toolbar" aria-label="View">
              <button id="in" title="Zoom in (+)">+</button><button id="out" title="Zoom out (-)">&minus;</button>
              <button id="fit" title="Show all (0)">Fit</button>
              <button id="theme" title="Light or dark">&#9680;</button>
            </div>
          </main>
          <aside id="side" aria-label="Search and details">
            <input id="search" type="search" placeholder="Search  ( / )" aria-label="Search" autocomplete="off" spellcheck="false">
            <div id="chips" role="group" aria-label="Filter by state"></div>
            <div id="details" aria-live="polite"></div>
            <ul id="list" aria-label="Entries"></ul>
          </aside>
        </div>
        """
}

extension GraphPage {
    static let style = """
        :root { color-scheme: light dark; --back: #f6f7f9; --card: #fff; --ink: #1c2430; --soft: #5d6878; --line: #c9d0da;
          --edge: #8e99a8; --box: #eceff3; --pick: #0b63ce; --set: #0b63ce; --supplied: #08796b; --default: #7a8492;
          --loaded: #3f7d3a; --loading: #7d3fc4; --stale: #b06a00; --replaced: #0b63ce; }
        @media (prefers-color-scheme: dark) { :root:not([data-theme=light]) { --back: #14181e; --card: #222932; --ink: #e8ecf1;
          --soft: #a2adba; --line: #3b4552; --edge: #6b7787; --box: #1a2028; --pick: #6db1ff; --set: #6db1ff; --supplied: #4fc9b6;
          --default: #97a2b0; --loaded: #83c77c; --loading: #bf95f5; --stale: #f0b04c; --replaced: #6db1ff; } }
        :root[data-theme=dark] { color-scheme: dark; --back: #14181e; --card: #222932; --ink: #e8ecf1;
          --soft: #a2adba; --line: #3b4552; --edge: #6b7787; --box: #1a2028; --pick: #6db1ff; --set: #6db1ff; --supplied: #4fc9b6;
          --default: #97a2b0; --loaded: #83c77c; --loading: #bf95f5; --stale: #f0b04c; --replaced: #6db1ff; }
        :root[data-theme=light] { color-scheme: light; }
        * { box-sizing: border-box; }
        html, body { height: 100%; margin: 0; }
        body { background: var(--back); color: var(--ink); font: 13px/1.45 system-ui, -apple-system, "Segoe UI", sans-serif; }
        #app { display: flex; height: 100%; }
        #stage { position: relative; flex: 1; min-width: 0; overflow: hidden; }
        #svg { display: block; width: 100%; height: 100%; cursor: grab; touch-action: none; user-select: none; }
        #svg.moving { cursor: grabbing; }
        #tools { position: absolute; left: 12px; bottom: 12px; display: flex; gap: 4px; }
        button, input { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 6px; }
        button { min-width: 32px; height: 32px; padding: 0 9px; cursor: pointer; }
        :focus { outline: none; } :focus-visible { outline: 2px solid var(--pick); outline-offset: 1px; }
        #side { width: 330px; display: flex; flex-direction: column; gap: 8px; padding: 12px; overflow: hidden;
          background: var(--card); border-left: 1px solid var(--line); }
        #search { flex: none; height: 34px; padding: 0 10px; background: var(--back); }
        #chips { display: flex; flex-wrap: wrap; gap: 4px; }
        #chips button { height: 24px; padding: 0 8px; border-radius: 12px; font-size: 12px; }
        #chips button[aria-pressed=true] { border-color: var(--pick); color: var(--pick); font-weight: 600; }
        .dot { display: inline-block; width: 9px; height: 9px; border-radius: 5px; margin-right: 6px; background: var(--tint); }
        #details { overflow: auto; max-height: 55%; overflow-wrap: anywhere; }
        #details:empty { display: none; }
        #details h2 { font-size: 15px; margin: 4px 0; } #details h3 { font-size: 12px; margin: 8px 0 2px; color: var(--soft); }
        #details p { margin: 4px 0; }
        #details .links { display: flex; flex-wrap: wrap; gap: 4px; } #details .links button { height: auto; padding: 2px 7px; text-align: left; }
        #list { list-style: none; margin: 0; padding: 0; overflow: auto; flex: 1; min-height: 90px; border-top: 1px solid var(--line); }
        #list button { display: flex; align-items: baseline; width: 100%; height: auto; border: 0; border-radius: 4px; padding: 3px 6px;
          background: none; text-align: left; } #list button:hover, #list button[aria-current=true] { background: var(--box); }
        #list .name { overflow-wrap: anywhere; flex: 1; } #list small { color: var(--soft); margin-left: 8px; white-space: nowrap; }
        .box rect { fill: var(--box); stroke: var(--line); } .box .box rect { fill: var(--back); }
        .box text { fill: var(--soft); font-weight: 600; }
        .node { cursor: pointer; } .node rect { fill: var(--card); stroke: var(--line); }
        .node .bar { fill: var(--tint); stroke: none; } .node text { fill: var(--ink); font-size: 12.5px; }
        .node .sub { fill: var(--soft); font-size: 10.5px; }
        .node.loading rect:first-child { stroke: var(--loading); stroke-width: 2; }
        .node.stale rect:first-child { stroke: var(--stale); stroke-width: 2; stroke-dasharray: 5 3; }
        .set { --tint: var(--set); } .replaced { --tint: var(--replaced); } .supplied { --tint: var(--supplied); }
        .default { --tint: var(--default); } .loaded { --tint: var(--loaded); } .loading { --tint: var(--loading); }
        .stale { --tint: var(--stale); }
        .node:focus { outline: none; } .node:focus-visible rect:first-child, .node.picked rect:first-child { stroke: var(--pick); stroke-width: 3; }
        .node.found rect:first-child { fill: color-mix(in srgb, var(--pick) 18%, var(--card)); stroke: var(--pick); }
        .edge { fill: none; stroke: var(--edge); stroke-width: 1.2; opacity: .55; marker-end: url(#tip); }
        #tip path { fill: var(--edge); }
        .edge.near { stroke: var(--pick); stroke-width: 2; opacity: 1; }
        .many .edge { opacity: .22; marker-end: none; } .many .edge.near { opacity: 1; }
        .picking .node, .picking .edge { opacity: .13; } .picking .node.picked, .picking .node.near, .picking .edge.near { opacity: 1; }
        .finding .node { opacity: .2; } .finding .node.found { opacity: 1; } .finding .edge { opacity: .08; }
        .far .node text, .far .box text { display: none; }
        .far .node rect:first-child { fill: color-mix(in srgb, var(--tint) 42%, var(--card)); }
        #labels text { font-size: 12px; fill: var(--ink); text-anchor: middle; paint-order: stroke; stroke: var(--back); stroke-width: 4px;
          stroke-linejoin: round; pointer-events: none; } #labels .title { fill: var(--soft); font-weight: 700; text-anchor: start; }
        #labels .strong { font-weight: 700; }
        .lit rect:first-child { animation: lit 1.6s ease-out; } @keyframes lit { from { fill: var(--tint); } }
        .node.loading .bar { animation: beat 1s ease-in-out infinite alternate; } @keyframes beat { from { opacity: .25; } }
        @media (prefers-reduced-motion: reduce) { * { animation: none !important; } }
        @media (max-width: 700px) { #app { flex-direction: column; } #side { width: auto; height: 45%; border-left: 0; border-top: 1px solid var(--line); } }
        """
}

extension GraphPage {
    /// The script for the layout: each container is a box with its children above and its own entries below, in rows,
    /// so that all arrows lead down.
    static let layout = #"""
        "use strict";
        const size = { height: 38, gapX: 16, gapY: 40, rowGap: 12, pad: 16, title: 26, bar: 5 };
        const short = text => text.length <= 30 ? text : text.slice(0, 18) + "…" + text.slice(-11);
        const widthOf = entry => Math.max(84, Math.min(250, 7.1 * Math.max(short(entry.name).length, 0.82 * subtitle(entry).length) + 26));
        const time = seconds => { for (const [unit, factor] of [["s", 1], ["ms", 1e3], ["µs", 1e6]])
            if (seconds * factor >= 1) return Number((seconds * factor).toPrecision(3)) + " " + unit;
          return Math.round(seconds * 1e9) + " ns"; };
        const lookOf = entry => entry.state === "loading" ? entry.state : entry.isStale ? "stale" : entry.state === "testValue" ? "loaded" : entry.state;
        function subtitle(entry) {
          const parts = [lookOf(entry)];
          if (entry.state === "testValue") parts.push("value for tests");
          else if (entry.isExternal) parts.push("external");
          if (entry.isSecret) parts.push("secret");
          if (entry.value !== undefined) parts.push(short(entry.value));
          if (entry.duration !== undefined) parts.push(time(entry.duration));
          if (entry.loadCount > 1) parts.push("×" + entry.loadCount);
          return parts.join(" · ");
        }

        // Rows begin with the inputs: each entry is placed above everything in its box that it was loaded from. Rows
        // are only as wide as a well-proportioned picture needs.
        function rowsOf(own, nodes) {
          const names = new Set(own.map(node => node.id)), rank = new Map(), rows = [];
          const widest = Math.max(5, Math.ceil(Math.sqrt(own.length) * 1.3));
          const inside = node => node.entry.inputs.filter(id => names.has(id) && id !== node.id);
          const open = new Map(own.map(node => [node.id, inside(node).length])), readers = new Map();
          for (const node of own) for (const id of inside(node)) (readers.get(id) || readers.set(id, []).get(id)).push(node);
          let ready = own.filter(node => open.get(node.id) === 0), done = 0;
          const place = node => {
            let row = 0;
            for (const id of inside(node)) if (rank.has(id)) row = Math.max(row, rank.get(id) + 1);
            while (rows[row] && rows[row].length >= widest) row++;
            while (rows.length <= row) rows.push([]);
            rows[row].push(node); rank.set(node.id, row); done++;
          };
          while (done < own.length) {
            // Entries that wait for each other, as loads in a cycle seem to, are placed in any order.
            if (ready.length === 0) { const left = own.find(node => !rank.has(node.id)); ready = [left]; open.set(left.id, 0); }
            const next = [];
            for (const node of ready) {
              if (rank.has(node.id)) continue;
              place(node);
              for (const reader of readers.get(node.id) || []) {
                open.set(reader.id, open.get(reader.id) - 1);
                if (open.get(reader.id) === 0) next.push(reader);
              }
            }
            ready = next;
          }
          return order(rows, nodes, inside, readers);
        }

        // Sorts each row by the middle of the entries that its nodes are connected with, up and down in turn.
        function order(rows, nodes, inside, readers) {
          const spread = row => { let x = 0; for (const node of row) { node.x = x; x += node.width + size.gapX; }
            const middle = (x - size.gapX) / 2; for (const node of row) node.x -= middle; };
          rows.forEach(spread);
          const middle = node => node.x + node.width / 2;
          const sort = (row, joined) => {
            const goal = new Map(row.map(node => { const all = joined(node);
              return [node, all.length ? all.reduce((sum, other) => sum + middle(other), 0) / all.length : middle(node)]; }));
            row.sort((a, b) => goal.get(a) - goal.get(b)); spread(row); return goal;
          };
          const down = node => inside(node).map(id => nodes.get(id)), up = node => readers.get(node.id) || [];
          for (let sweep = 0; sweep < 6; sweep++) {
            for (let i = 1; i < rows.length; i++) sort(rows[i], down);
            for (let i = rows.length - 2; i >= 0; i--) sort(rows[i], up);
          }
          // Nodes move towards the nodes that they're connected with, as far as their neighbors in the row allow.
          for (let pass = 0; pass < 4; pass++) for (const row of pass % 2 ? rows : [...rows].reverse()) settle(row, [down, up], middle);
          return rows;
        }

        function settle(row, ways, middle) {
          const goals = row.map(node => { const all = ways.flatMap(way => way(node));
            return all.length ? all.reduce((sum, other) => sum + middle(other), 0) / all.length - node.width / 2 : node.x; });
          const left = [], right = [];
          row.forEach((node, i) => { left[i] = i ? Math.max(goals[i], left[i - 1] + row[i - 1].width + size.gapX) : goals[i]; });
          for (let i = row.length - 1; i >= 0; i--)
            right[i] = i < row.length - 1 ? Math.min(goals[i], right[i + 1] - row[i].width - size.gapX) : goals[i];
          let edge = -Infinity;
          row.forEach((node, i) => { node.x = Math.max((left[i] + right[i]) / 2, edge); edge = node.x + node.width + size.gapX; });
        }

        // Places children side by side, in as many rows as a well-proportioned picture needs.
        function shelves(boxes, least) {
          const area = boxes.reduce((sum, box) => sum + box.width * box.height, 0);
          const limit = Math.max(least, ...boxes.map(box => box.width), Math.sqrt(area) * 1.5);
          let x = 0, y = 0, height = 0, width = 0;
          for (const box of boxes) {
            if (x > 0 && x + box.width > limit) { x = 0; y += height + size.gapX; height = 0; }
            box.x = x; box.y = y; x += box.width + size.gapX; height = Math.max(height, box.height); width = Math.max(width, x - size.gapX);
          }
          return { width, height: boxes.length ? y + height : 0 };
        }

        function layOut(graph) {
          const nodes = new Map(graph.entries.map(entry => [entry.id, { id: entry.id, entry, width: widthOf(entry), height: size.height }]));
          const boxes = new Map(graph.containers.map(container => [container.id, { container, own: [], children: [] }]));
          for (const node of nodes.values()) boxes.get(node.entry.container)?.own.push(node);
          const roots = [];
          for (const box of boxes.values()) (boxes.get(box.container.parent)?.children || roots).push(box);
          const measure = box => {
            box.children.forEach(measure);
            const rows = rowsOf(box.own, nodes);
            let left = Infinity, right = -Infinity;
            for (const node of box.own) { left = Math.min(left, node.x); right = Math.max(right, node.x + node.width); }
            const ownWidth = box.own.length ? right - left : 0;
            const above = shelves(box.children, ownWidth);
            const inner = Math.max(ownWidth, above.width, 7.4 * box.container.name.length + 60);
            let y = size.title + (above.height ? above.height + size.gapY : 0);
            for (const child of box.children) { child.x += size.pad + (inner - above.width) / 2; child.y += size.title; }
            for (const row of [...rows].reverse()) {
              for (const node of row) { node.x += size.pad + (inner - ownWidth) / 2 - left; node.y = y; }
              y += size.height + size.gapY;
            }
            box.width = inner + 2 * size.pad; box.height = (rows.length ? y - size.gapY : size.title + above.height) + size.pad;
          };
          roots.forEach(measure);
          const total = shelves(roots, 0);
          const move = (box, x, y) => { box.x += x; box.y += y;
            for (const node of box.own) { node.x += box.x; node.y += box.y; }
            for (const child of box.children) move(child, box.x, box.y); };
          for (const root of roots) move(root, 0, 0);
          const edges = [], readers = new Map();
          for (const node of nodes.values()) for (const id of node.entry.inputs) {
            const input = nodes.get(id);
            if (!input) continue;
            edges.push({ from: node, to: input });
            (readers.get(id) || readers.set(id, []).get(id)).push(node.id);
          }
          return { nodes, roots, boxes, edges, readers, width: total.width, height: total.height };
        }
        """#
}

extension GraphPage {
    /// The script that draws, zooms, and moves.
    static let view = #"""
        const $ = id => document.getElementById(id), svgName = "http://www.w3.org/2000/svg";
        const make = (name, attributes, ...children) => { const element = document.createElementNS(svgName, name);
          for (const key in attributes) element.setAttribute(key, attributes[key]);
          element.append(...children); return element; };
        let picture = layOut({ containers: [], entries: [] }), elements = new Map(), edgeElements = [];
        let camera = { x: 0, y: 0, k: 1 }, isTouched = false, picked = null, found = null, states = new Set();

        function draw(graph) {
          const isFirst = elements.size === 0, before = new Map([...elements].map(([id, element]) => [id, element.dataset.look]));
          picture = layOut(graph);
          $("boxes").replaceChildren(...picture.roots.map(drawBox));
          edgeElements = picture.edges.map(edge => {
            const [x1, y1] = [edge.from.x + edge.from.width / 2, edge.from.y + edge.from.height];
            const [x2, y2] = [edge.to.x + edge.to.width / 2, edge.to.y];
            const bend = Math.max(18, Math.min(120, Math.abs(y2 - y1) * 0.5));
            const element = make("path", { class: "edge", d: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}` });
            edge.element = element; return element; });
          $("edges").replaceChildren(...edgeElements);
          elements = new Map([...picture.nodes.values()].map(node => [node.id, drawNode(node)]));
          $("nodes").replaceChildren(...elements.values());
          if (!isFirst) for (const [id, element] of elements) if (before.get(id) !== element.dataset.look) element.classList.add("lit");
          document.body.classList.toggle("many", picture.edges.length > 400);
          if (!isTouched) fit(); else applyCamera();
          fillList(); showStates(); pick(picture.nodes.has(picked) ? picked : null);
        }

        function drawBox(box) {
          const { container } = box, hidden = container.childCount - box.children.length;
          const more = hidden > 0 ? ` · ${hidden} empty ${hidden === 1 ? "child" : "children"}` : "";
          box.text = container.name + (container.isClosed ? " (closed)" : "") + more;
          const label = make("text", { x: box.x + 12, y: box.y + 18 });
          label.textContent = box.text;
          return make("g", { class: "box" }, make("rect", { x: box.x, y: box.y, width: box.width, height: box.height, rx: 10 }),
            label, ...box.children.map(drawBox));
        }

        function drawNode(node) {
          const { entry } = node, look = lookOf(entry);
          const group = make("g", { class: `node ${look} ${entry.kind}`, transform: `translate(${node.x} ${node.y})`, tabindex: -1,
            role: "button", "aria-label": `${entry.name}, ${subtitle(entry)}` });
          group.dataset.id = node.id; group.dataset.look = look;
          const round = entry.kind === "property" ? 18 : 6, title = make("title", {});
          title.textContent = entry.name + "\n" + entry.explanation.join("\n");
          const name = make("text", { x: 15, y: 16 }), sub = make("text", { class: "sub", x: 15, y: 30 });
          name.textContent = short(entry.name); sub.textContent = subtitle(entry);
          group.append(make("rect", { width: node.width, height: node.height, rx: round }),
            make("rect", { class: "bar", x: entry.kind === "property" ? 6 : 0, y: 9, width: size.bar, height: node.height - 18, rx: 2 }), name, sub, title);
          if (entry.isExternal) group.insertBefore(make("rect", { x: 3, y: 3, width: node.width - 6, height: node.height - 6, rx: 4,
            fill: "none", style: "fill:none" }), group.children[1]);
          return group;
        }

        // ---- the camera
        function applyCamera() {
          $("world").setAttribute("transform", `translate(${camera.x} ${camera.y}) scale(${camera.k})`);
          document.body.classList.toggle("far", camera.k < 0.62);
          labelSoon();
        }
        const view = () => { const box = $("svg").getBoundingClientRect(); return { width: box.width || 800, height: box.height || 600 }; };
        function fit() {
          const { width, height } = view(), k = Math.min(1.15, (width - 40) / (picture.width || 1), (height - 40) / (picture.height || 1));
          camera = { k, x: (width - picture.width * k) / 2, y: (height - picture.height * k) / 2 }; applyCamera();
        }
        function zoom(factor, x = view().width / 2, y = view().height / 2) {
          const k = Math.max(0.02, Math.min(3, camera.k * factor)), ratio = k / camera.k;
          camera = { k, x: x - (x - camera.x) * ratio, y: y - (y - camera.y) * ratio }; isTouched = true; applyCamera();
        }
        function centre(node) {
          const { width, height } = view(), k = Math.max(camera.k, 0.8);
          camera = { k, x: width / 2 - (node.x + node.width / 2) * k, y: height / 2 - (node.y + node.height / 2) * k };
          isTouched = true; applyCamera();
        }
        // Brings a node and its neighbors into view.
        function frame(ids) {
          const all = ids.map(id => picture.nodes.get(id)).filter(Boolean), { width, height } = view();
          const left = Math.min(...all.map(n => n.x)), right = Math.max(...all.map(n => n.x + n.width));
          const top = Math.min(...all.map(n => n.y)), bottom = Math.max(...all.map(n => n.y + n.height));
          const k = Math.min(1.15, (width - 80) / (right - left), (height - 80) / (bottom - top));
          if (k < 0.35) return centre(all[0]);
          camera = { k, x: (width - (left + right) * k) / 2, y: (height - (top + bottom) * k) / 2 }; isTouched = true; applyCamera();
        }

        // ---- labels at low zoom: as many as there's room for, beginning with the entries that have the most
        // connections
        let labelling = 0;
        function labelSoon() { cancelAnimationFrame(labelling); labelling = requestAnimationFrame(label); }
        function label() {
          const labels = [];
          if (camera.k < 0.62) {
            const { width, height } = view(), taken = [];
            const free = (x, y, w) => { if (x < 2 || x + w > width - 2 || y < 12 || y > height - 4) return false;
              if (taken.some(t => x < t.x + t.w + 6 && t.x < x + w + 6 && Math.abs(t.y - y) < 15)) return false;
              taken.push({ x, y, w }); return true; };
            for (const box of picture.boxes.values()) {
              const x = box.x * camera.k + camera.x + 6, y = box.y * camera.k + camera.y + 14, w = box.text.length * 7;
              if (box.width * camera.k > w * 0.6 && free(x, y, w)) labels.push(text(box.text, x, y, "title"));
            }
            const weight = node => (picture.readers.get(node.id) || []).length + node.entry.inputs.length
              + (isWanted(node) ? 1000 : 0) + (["loading", "stale"].includes(lookOf(node.entry)) ? 500 : 0);
            for (const node of [...picture.nodes.values()].sort((a, b) => weight(b) - weight(a))) {
              if ((picked || found) && !isWanted(node)) continue;
              const name = short(node.entry.name), w = name.length * 6.6;
              const x = (node.x + node.width / 2) * camera.k + camera.x, y = (node.y + node.height / 2) * camera.k + camera.y + 4;
              if (free(x - w / 2, y, w)) labels.push(text(name, x, y, weight(node) >= 500 ? "strong" : ""));
            }
          }
          $("labels").replaceChildren(...labels);
        }
        const text = (content, x, y, name) => { const element = make("text", { x, y, class: name }); element.textContent = content; return element; };
        const isWanted = node => node.id === picked || near.has(node.id) || (found ? found.has(node.id) : false);
        let near = new Set();
        """#
}

extension GraphPage {
    /// The script that searches, selects, and explains.
    static let panel = #"""
        // ---- selecting
        function pick(id, shows = false) {
          picked = id; near = new Set();
          for (const edge of picture.edges) {
            const isNear = id !== null && (edge.from.id === id || edge.to.id === id);
            edge.element.classList.toggle("near", isNear);
            if (isNear) { near.add(edge.from.id); near.add(edge.to.id); edge.element.parentNode.append(edge.element); }
          }
          near.delete(id);
          for (const [key, element] of elements) {
            element.classList.toggle("picked", key === id); element.classList.toggle("near", near.has(key));
            element.setAttribute("aria-pressed", key === id);
          }
          document.body.classList.toggle("picking", id !== null);
          for (const button of $("list").querySelectorAll("button")) button.setAttribute("aria-current", button.dataset.id === id);
          explain(id);
          if (id !== null && shows) frame([id, ...near]); else labelSoon();
          // A live page comes here at each change; only a new choice is worth a navigation.
          if (location.hash.slice(1) !== (id ?? "")) location.replace("#" + (id ?? ""));
        }

        function explain(id) {
          const node = picture.nodes.get(id), parts = [];
          if (node) {
            const { entry } = node, container = picture.boxes.get(entry.container)?.container;
            const heading = html("h2", entry.name);
            heading.prepend(html("span", "", "dot")); heading.className = lookOf(entry);
            parts.push(heading, html("p", `${subtitle(entry)} · ${kinds[entry.kind]} in ${container?.name ?? "?"}`, "soft"));
            for (const sentence of entry.explanation) parts.push(html("p", sentence));
            parts.push(...links("Loaded from", entry.inputs), ...links("Loaded from it", picture.readers.get(id) || []));
          }
          $("details").replaceChildren(...parts);
        }
        const kinds = { property: "property", feature: "feature", throwingFeature: "throwing feature", asyncFeature: "async feature" };
        const html = (name, content, className = "") => { const element = document.createElement(name);
          element.textContent = content; if (className) element.className = className; return element; };
        function links(title, ids) {
          const nodes = ids.map(id => picture.nodes.get(id)).filter(Boolean);
          if (!nodes.length) return [];
          const group = html("div", "", "links");
          group.append(...nodes.slice(0, 60).map(node => { const button = html("button", node.entry.name, lookOf(node.entry));
            button.prepend(html("span", "", "dot")); button.onclick = () => pick(node.id, true); return button; }));
          return [html("h3", `${title} (${nodes.length})`), group];
        }

        // ---- searching
        function search() {
          const words = $("search").value.trim().toLowerCase().split(/\s+/).filter(Boolean);
          const matches = node => words.every(word => node.entry.name.toLowerCase().includes(word))
            && (states.size === 0 || states.has(lookOf(node.entry)));
          found = words.length || states.size ? new Set([...picture.nodes.values()].filter(matches).map(node => node.id)) : null;
          for (const [id, element] of elements) element.classList.toggle("found", found?.has(id) ?? false);
          document.body.classList.toggle("finding", found !== null);
          for (const item of $("list").children) item.hidden = found !== null && !found.has(item.firstChild.dataset.id);
          labelSoon();
        }
        function fillList() {
          const nodes = [...picture.nodes.values()].sort((a, b) => a.entry.name.localeCompare(b.entry.name));
          $("list").replaceChildren(...nodes.map(node => {
            const button = html("button", "", lookOf(node.entry)), box = picture.boxes.get(node.entry.container)?.container;
            button.dataset.id = node.id;
            button.append(html("span", "", "dot"), html("span", node.entry.name, "name"), html("small", box?.id === 0 ? "" : box?.name ?? ""));
            button.onclick = () => pick(node.id, true);
            const item = html("li", ""); item.append(button); return item; }));
        }
        function showStates() {
          const counts = new Map();
          for (const node of picture.nodes.values()) counts.set(lookOf(node.entry), (counts.get(lookOf(node.entry)) || 0) + 1);
          for (const state of [...states]) if (!counts.has(state)) states.delete(state);
          $("chips").replaceChildren(...[...counts].sort().map(([state, count]) => {
            const button = html("button", `${state} ${count}`, state); button.prepend(html("span", "", "dot"));
            button.setAttribute("aria-pressed", states.has(state));
            button.onclick = () => { states.has(state) ? states.delete(state) : states.add(state); showStates(); };
            return button; }));
          search();
        }
        function nextFound(step) {
          const ids = [...$("list").children].filter(item => !item.hidden).map(item => item.firstChild.dataset.id);
          if (ids.length) pick(ids[(ids.indexOf(picked) + step + ids.length) % ids.length], true);
        }

        // ---- moving with keys: down to an input, up to a reader, sideways in the row
        function walk(key) {
          const node = picture.nodes.get(picked);
          if (!node) { const first = [...picture.nodes.values()][0]; return first && select(first.id); }
          const middle = other => other.x + other.width / 2, nearest = ids => ids.map(id => picture.nodes.get(id)).filter(Boolean)
            .sort((a, b) => Math.abs(middle(a) - middle(node)) - Math.abs(middle(b) - middle(node)))[0];
          const row = [...picture.nodes.values()].filter(other => Math.abs(other.y - node.y) < 2).sort((a, b) => a.x - b.x);
          const next = key === "ArrowDown" ? nearest(node.entry.inputs) : key === "ArrowUp" ? nearest(picture.readers.get(node.id) || [])
            : row[row.indexOf(node) + (key === "ArrowRight" ? 1 : -1)];
          if (next) select(next.id);
        }
        function select(id) {
          pick(id); const node = picture.nodes.get(id), { width, height } = view();
          const x = node.x * camera.k + camera.x, y = node.y * camera.k + camera.y;
          if (camera.k < 0.4 || x < 20 || y < 20 || x + node.width * camera.k > width - 20 || y > height - 60) centre(node);
          elements.get(id).focus({ preventScroll: true });
        }

        // ---- pointer
        const stage = $("svg"); let drag = null;
        stage.addEventListener("pointerdown", event => { drag = { x: event.clientX, y: event.clientY, moved: false, target: event.target }; });
        stage.addEventListener("pointermove", event => {
          if (!drag) return;
          const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
          if (!drag.moved && Math.hypot(x, y) < 4) return;
          if (!drag.moved) { stage.setPointerCapture(event.pointerId); stage.classList.add("moving"); }
          Object.assign(drag, { x: event.clientX, y: event.clientY, moved: true });
          camera.x += x; camera.y += y; isTouched = true; applyCamera(); });
        const drop = () => { if (drag && !drag.moved) pick(drag.target.closest?.(".node")?.dataset.id ?? null);
          drag = null; stage.classList.remove("moving"); };
        stage.addEventListener("pointerup", drop);
        stage.addEventListener("pointercancel", () => { drag = null; stage.classList.remove("moving"); });
        stage.addEventListener("wheel", event => { event.preventDefault();
          const box = stage.getBoundingClientRect();
          if (event.shiftKey) { camera.x -= event.deltaY; isTouched = true; return applyCamera(); }
          zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), event.clientX - box.left, event.clientY - box.top); }, { passive: false });
        $("in").onclick = () => zoom(1.3); $("out").onclick = () => zoom(1 / 1.3); $("fit").onclick = () => { isTouched = false; fit(); };
        $("theme").onclick = () => { const root = document.documentElement, isDark = root.dataset.theme
          ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches; root.dataset.theme = isDark ? "light" : "dark"; };
        $("search").addEventListener("input", search);
        addEventListener("keydown", event => {
          const isTyping = event.target === $("search");
          if (event.ctrlKey || event.metaKey || event.altKey) return;
          if (event.key === "Escape") { $("search").value = ""; states.clear(); showStates(); pick(null); document.activeElement.blur(); }
          else if (isTyping) { if (event.key === "Enter") nextFound(event.shiftKey ? -1 : 1); }
          else if (event.key === "/") { event.preventDefault(); $("search").focus(); }
          else if (event.key === "+" || event.key === "=") zoom(1.3);
          else if (event.key === "-") zoom(1 / 1.3);
          else if (event.key === "0") { isTouched = false; fit(); }
          else if (event.key.startsWith("Arrow") && !event.target.closest?.("#side")) { event.preventDefault(); walk(event.key); } });
        addEventListener("resize", () => isTouched ? applyCamera() : fit());

        // A program that has a newer graph shows it with this.
        window.fugu = { draw, pick, get picture() { return picture; } };
        draw(JSON.parse($("graph").textContent));
        if (location.hash.length > 1 && picture.nodes.has(location.hash.slice(1))) pick(location.hash.slice(1), true);
        """#
}
