extension GraphPage {
    static let style = """
        :root { color-scheme: light dark; --back: #f6f7f9; --card: #fff; --ink: #1c2430; --soft: #5d6878; --line: #c9d0da;
          --edge: #8e99a8; --box: #eceff3; --pick: #0b63ce; --set: #0b63ce; --supplied: #08796b; --default: #7a8492;
          --loaded: #3f7d3a; --loading: #7d3fc4; --failed: #c02f26; --stale: #b06a00; --replaced: #0b63ce; }
        @media (prefers-color-scheme: dark) { :root:not([data-theme=light]) { --back: #14181e; --card: #222932; --ink: #e8ecf1;
          --soft: #a2adba; --line: #3b4552; --edge: #6b7787; --box: #1a2028; --pick: #6db1ff; --set: #6db1ff; --supplied: #4fc9b6;
          --default: #97a2b0; --loaded: #83c77c; --loading: #bf95f5; --failed: #ff8178; --stale: #f0b04c; --replaced: #6db1ff; } }
        :root[data-theme=dark] { color-scheme: dark; --back: #14181e; --card: #222932; --ink: #e8ecf1;
          --soft: #a2adba; --line: #3b4552; --edge: #6b7787; --box: #1a2028; --pick: #6db1ff; --set: #6db1ff; --supplied: #4fc9b6;
          --default: #97a2b0; --loaded: #83c77c; --loading: #bf95f5; --failed: #ff8178; --stale: #f0b04c; --replaced: #6db1ff; }
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
        .node.failed rect:first-child { stroke: var(--failed); stroke-width: 2; }
        .node.loading rect:first-child { stroke: var(--loading); stroke-width: 2; }
        .node.stale rect:first-child { stroke: var(--stale); stroke-width: 2; stroke-dasharray: 5 3; }
        .set { --tint: var(--set); } .replaced { --tint: var(--replaced); } .supplied { --tint: var(--supplied); }
        .default { --tint: var(--default); } .loaded { --tint: var(--loaded); } .loading { --tint: var(--loading); }
        .failed { --tint: var(--failed); } .stale { --tint: var(--stale); }
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
