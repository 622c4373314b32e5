"use strict";

const find = (id) => document.getElementById(id);
let token = "";

async function ask(path, options = {}) {
  const headers = { ...options.headers };
  if (token) headers.Authorization = "Bearer " + token;
  const reply = await fetch(path, { ...options, headers });
  const body = reply.headers.get("Content-Type")?.includes("json") ? await reply.json() : {};
  if (!reply.ok) throw new Error(body.error?.message ?? "The server answered with " + reply.status + ".");
  return body;
}

/** Runs what a form does, and says how it went where screen readers hear it. */
function answer(form, message, action) {
  find(form).addEventListener("submit", async (event) => {
    event.preventDefault();
    find(message).textContent = "";
    try { await action(); } catch (error) { find(message).textContent = error.message; }
  });
}

function row(cells) {
  const row = document.createElement("tr");
  for (const cell of cells) {
    const data = row.insertCell();
    data.append(cell);
  }
  return row;
}

function button(text, label, action) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  button.setAttribute("aria-label", label);
  button.addEventListener("click", action);
  return button;
}

answer("create", "message", async () => {
  find("result").hidden = true;
  const link = await ask("/api/links", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ target: find("target").value }),
  });
  find("short").href = link.url;
  find("short").textContent = link.url;
  find("result").hidden = false;
  find("message").textContent = "Here is your link:";
  find("code").value = link.code;
  find("short").focus();
});

find("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(find("short").href);
    find("message").textContent = "Copied.";
  } catch {
    find("message").textContent = "The browser doesn’t allow copying here.";
  }
});

answer("sign-in", "list-message", async () => {
  token = find("token").value;
  await list();
});

async function list() {
  const { links } = await ask("/api/links");
  const rows = links.map((link) => {
    const short = document.createElement("a");
    short.href = "/" + link.code;
    short.textContent = link.code;
    const actions = document.createElement("span");
    actions.append(
      button("Statistics", "Statistics of " + link.code, () => {
        find("code").value = link.code;
        find("ask").requestSubmit();
      }),
      " ",
      button("Delete", "Delete " + link.code, async () => {
        if (!confirm("Delete " + link.code + "? It stops working for everyone.")) return;
        try {
          await ask("/api/links/" + link.code, { method: "DELETE" });
          await list();
        } catch (error) { find("list-message").textContent = error.message; }
      }));
    return row([short, link.target, new Date(link.created * 1000).toISOString().slice(0, 10), actions]);
  });
  find("list").tBodies[0].replaceChildren(...rows);
  find("list").hidden = rows.length === 0;
  find("list-message").textContent = rows.length === 0 ? "There are no links yet." : "";
}

answer("ask", "statistics-message", async () => {
  find("chart").hidden = true;
  const code = find("code").value.trim().split("/").pop();
  const { link, hits } = await ask("/api/links/" + encodeURIComponent(code));
  draw(link, hits);
});

const dayName = (day) => new Date(day * 86400000).toISOString().slice(0, 10);

/** Bars for the last thirty days, those without hits too. */
function draw(link, hits) {
  const today = Math.floor(Date.now() / 86400000);
  const days = Array.from({ length: 30 }, (_, index) => today - 29 + index);
  const counts = new Map(hits.map(({ day, count }) => [day, count]));
  const highest = Math.max(1, ...days.map((day) => counts.get(day) ?? 0));
  const total = hits.reduce((sum, { count }) => sum + count, 0);
  const words = "Hits of " + link.code + " in the last thirty days; " + total + " in all";
  const chart = find("chart");
  const svg = chart.querySelector("svg");
  const shapes = days.map((day, index) => {
    const height = 130 * (counts.get(day) ?? 0) / highest;
    return shape("rect", { x: index * 20 + 2, y: 140 - height, width: 16, height, rx: 2 });
  });
  shapes.push(shape("line", { x1: 0, y1: 140.5, x2: 600, y2: 140.5 }));
  for (const index of [0, 10, 20, 29]) {
    const anchor = index === 29 ? "end" : "start";
    const x = index === 29 ? 600 : index * 20 + 2;
    shapes.push(shape("text", { x, y: 156, "text-anchor": anchor }, dayName(days[index])));
  }
  shapes.push(shape("text", { x: 2, y: 10 }, String(highest)));
  svg.replaceChildren(find("chart-name") ?? svg.querySelector("title"), ...shapes);
  svg.querySelector("title").textContent = words;
  chart.querySelector("figcaption").textContent = words;
  chart.querySelector("tbody").replaceChildren(
    ...hits.map(({ day, count }) => row([dayName(day), String(count)])));
  chart.hidden = false;
}

function shape(name, attributes, text = "") {
  const shape = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) shape.setAttribute(key, value);
  shape.textContent = text;
  return shape;
}
