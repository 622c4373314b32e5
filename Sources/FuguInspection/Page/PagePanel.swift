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
