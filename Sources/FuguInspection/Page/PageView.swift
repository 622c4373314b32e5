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
              + (isWanted(node) ? 1000 : 0) + (["failed", "loading", "stale"].includes(lookOf(node.entry)) ? 500 : 0);
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
