// Reads graphs with Mermaid's own parser and compares them with their JSON: mermaid.js PARSER GRAPH …
const fs = require("fs");
const parse = require(process.argv[2]);

(async () => {
  for (const path of process.argv.slice(3)) {
    const graph = JSON.parse(fs.readFileSync(path + ".json", "utf8"));
    const read = JSON.parse(await parse(fs.readFileSync(path + ".mmd", "utf8"))).graph_data;
    const edges = graph.entries.flatMap(entry => entry.inputs.map(input => entry.id + " " + input)).sort();
    const check = (what, is, should) => {
      if (JSON.stringify(is) !== JSON.stringify(should)) throw new Error(`${path}: Mermaid reads other ${what}: ${is} instead of ${should}`);
    };
    check("nodes", Object.keys(read.vertices).sort(), graph.entries.map(entry => entry.id).sort());
    check("edges", read.edges.map(edge => edge.start + " " + edge.end).sort(), edges);
    check("boxes", read.subGraphs.map(box => box.id).sort(), graph.containers.map(container => "c" + container.id).sort());
    console.log(`Mermaid reads the ${graph.entries.length} nodes, ${edges.length} edges and ${graph.containers.length} boxes of ${path}`);
  }
})().catch(error => { console.error("error: " + (error.message ?? error)); process.exit(1); });
