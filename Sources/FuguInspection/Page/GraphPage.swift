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
