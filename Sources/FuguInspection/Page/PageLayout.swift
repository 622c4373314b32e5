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
        const lookOf = entry => entry.state === "failed" || entry.state === "loading" ? entry.state : entry.isStale ? "stale" : entry.state;
        function subtitle(entry) {
          const parts = [lookOf(entry)];
          if (entry.isExternal) parts.push("external");
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
