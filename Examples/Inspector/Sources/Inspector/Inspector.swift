import Foundation
public import Fugu
import FuguInspection
import HTTPTypes
public import Hummingbird
import NIOCore
public import ServiceLifecycle
import Synchronization

/// Shows a container's family in a browser, live: nodes light up as they load, overrides appear, and a timeline shows which
/// loads ran when and who needed them.
///
///     let inspector = Inspector(container)
///     try await ServiceGroup(services: [inspector.service(port: 8080)], logger: logger).run()
///
/// It answers on 127.0.0.1 only, unless you tell otherwise, and only requests that name this machine, so that no page from
/// elsewhere can ask through the browser. It shows no values unless you allow it, and secrets never.
public struct Inspector: Sendable {
    /// The address that the service listens on.
    let feed: Feed
    let isOpen: Bool

    /// Creates an inspector, which records loads from now on.
    ///
    /// - Parameters:
    ///   - container: A container of the family to show.
    ///   - showsValues: Pass `true` to show the values of properties that aren't secret.
    ///   - isOpen: Pass `true` to answer requests that name another host than this machine, such as those of a proxy.
    public init(_ container: Container, showsValues: Bool = false, isOpen: Bool = false) {
        feed = Feed(of: container, showsValues: showsValues)
        self.isOpen = isOpen
    }

    /// Returns a service that serves the page until it's shut down.
    ///
    /// - Parameters:
    ///   - host: The address to listen on.
    ///   - port: The port to listen on.
    /// - Returns: The service.
    public func service(host: String = "127.0.0.1", port: Int) -> some Service {
        Application(
            responder: router().buildResponder(), configuration: .init(address: .hostname(host, port: port)))
    }

    /// Returns a router with the inspector's routes alone.
    func router() -> Router<BasicRequestContext> {
        let router = Router()
        addRoutes(to: router)
        return router
    }

    /// Adds the inspector's routes to a router of your own.
    ///
    /// Whether a request may see the page is for your middleware to say.
    ///
    /// - Parameters:
    ///   - router: The router.
    ///   - path: The path of the page, such as `inspect`.
    public func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>, at path: RouterPath = "") {
        let group = router.group(path).add(middleware: LocalOnly(isOpen: isOpen))
        group.get("") { [feed] request, _ in
            // Relative addresses in the page need the slash.
            let folder =
                request.uri.path.hasSuffix("/")
                ? "" : request.uri.path.split(separator: "/").last.map { $0 + "/" } ?? ""
            return Response.page(LivePage.text(of: feed.graph(), folder: String(folder)))
        }
        group.get("graph.json") { [feed] _, _ in Response.json(feed.graph().json) }
        group.get("live") { [feed] _, _ in Response.events(of: feed) }
    }
}

/// Refuses requests for other hosts than this machine, as a page from elsewhere makes them after its name was pointed here.
struct LocalOnly<Context: RequestContext>: RouterMiddleware {
    let isOpen: Bool

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard isOpen || Self.isLocal(request.head.authority ?? "") else { throw HTTPError(.misdirectedRequest) }
        var response = try await next(request, context)
        response.headers[.cacheControl] = "no-store"
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.referrerPolicy] = "no-referrer"
        return response
    }

    static func isLocal(_ authority: String) -> Bool {
        if authority.hasPrefix("[::1]") { return true }
        let host = authority.prefix { $0 != ":" }
        return host == "localhost" || host == "127.0.0.1"
    }
}

extension HTTPField.Name {
    static var xContentTypeOptions: HTTPField.Name { HTTPField.Name("X-Content-Type-Options")! }
    static var referrerPolicy: HTTPField.Name { HTTPField.Name("Referrer-Policy")! }
}

extension Response {
    static func page(_ text: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    static func json(_ text: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// Sends events to the browser until it disconnects or the server shuts down.
    static func events(of feed: Feed) -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/event-stream"],
            body: ResponseBody { writer in
                var known: ContainerGraph?
                var last: UInt64 = 0
                try await writer.write(ByteBuffer(string: "retry: 1000\n\n"))
                for await _ in feed.changes().cancelOnGracefulShutdown() {
                    let (moments, graph) = (feed.moments(after: last), feed.graph())
                    if let number = moments.last?.number {
                        last = number
                        try await writer.write(ByteBuffer(string: ServerSentEvent.text("moments", moments.json)))
                    }
                    if graph != known {
                        known = graph
                        try await writer.write(ByteBuffer(string: ServerSentEvent.text("graph", graph.json)))
                    }
                    // Events that happen meanwhile are shown together.
                    try await Task.sleep(for: .milliseconds(graph.entries.count > 300 ? 500 : 100))
                }
                try await writer.finish(nil)
            })
    }
}

enum ServerSentEvent {
    static func text(_ name: String, _ data: String) -> String {
        let lines = data.split(separator: "\n").map { "data: \($0)\n" }.joined()
        return "event: \(name)\n\(lines)\n"
    }
}

/// The graph's page with what makes it live: a stream of events, and the timeline.
enum LivePage {
    /// `folder`: The address of the page's folder, as the page sees it.
    static func text(of graph: ContainerGraph, folder: String) -> String {
        let page = graph.html
        guard let end = page.range(of: "</body>", options: .backwards) else { return page }
        let extra = """
            <style>
            \(style)
            </style>
            <section id="time" aria-label="Timeline of loads"><header><b>Loads</b> <span id="state" role="status">connecting</span>
            <span id="hint"></span><button id="hold" aria-pressed="false">Hold</button></header>
            <canvas id="flames" tabindex="0" role="img" aria-label="Loads over time"></canvas></section>
            <script>
            const liveAddress = "\(folder.filter { $0.isLetter || $0.isNumber || "/-_".contains($0) })live";
            \(script)
            </script>

            """
        return page.replacingCharacters(in: end.lowerBound..<end.lowerBound, with: extra)
    }

    static let style = """
        body { display: flex; flex-direction: column; } #app { flex: 1; min-height: 0; height: auto; }
        #time { height: 210px; flex: none; display: flex; flex-direction: column; border-top: 1px solid var(--line); background: var(--card); }
        #time header { display: flex; gap: 10px; align-items: center; padding: 4px 12px; }
        #time header button { height: 24px; margin-left: auto; } #time header button[aria-pressed=true] { color: var(--pick); }
        #hint { color: var(--soft); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; } #state { color: var(--soft); }
        :root { --failed: #d9534a; }
        #state.live { color: var(--loaded); } #state.lost { color: var(--failed); }
        #flames { flex: 1; min-height: 0; width: 100%; cursor: crosshair; }
        """

    static let script = #"""
        // Loads by their numbers: { key, start, end, kind, path, lane }. A load stands below the one that needed it.
        const loads = new Map(), waits = []; let newest = 0, span = 0, from = 0, isHeld = false, bars = [], needsDraw = false;
        function take(moment) {
          newest = Math.max(newest, moment.time);
          if (moment.kind === "loadBegan") loads.set(moment.load, { ...moment, start: moment.time, end: null, lane: laneFor(moment) });
          else if (moment.kind === "waited") { const wait = { ...moment, start: moment.time - moment.duration, end: moment.time };
            waits.push({ ...wait, lane: laneFor(moment, wait.start) }); }
          else if (moment.load !== null && moment.load !== undefined && loads.has(moment.load))
            Object.assign(loads.get(moment.load), { end: moment.time, kind: moment.kind, home: moment.home });
          if (loads.size > 4000) loads.delete(loads.keys().next().value);
          if (waits.length > 4000) waits.shift();
        }
        function laneFor(moment, start = moment.time) {
          const above = loads.get(moment.neededBy), least = above ? above.lane + 1 : 0, taken = new Set();
          for (const other of [...loads.values(), ...waits.slice(-200)])
            if (other.end === null || other.end > start) taken.add(other.lane);
          let lane = least; while (taken.has(lane)) lane++;
          return lane;
        }
        const colors = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
        const tint = kind => ({ failed: "failed", overtaken: "stale", notKept: "stale", loadBegan: "loading", waited: "line" })[kind] || "loaded";
        function paint() {
          needsDraw = false;
          const canvas = $("flames"), box = canvas.getBoundingClientRect(), ratio = devicePixelRatio || 1;
          canvas.width = box.width * ratio; canvas.height = box.height * ratio;
          const pen = canvas.getContext("2d"); pen.scale(ratio, ratio);
          const all = [...loads.values(), ...waits];
          if (!all.length) return;
          if (!isHeld) { from = Math.min(...all.map(load => load.start)); span = Math.max(1, newest - from) * 1.03; }
          const x = time => (time - from) / span * (box.width - 24) + 12, height = 18;
          pen.font = "11px system-ui, sans-serif"; pen.textBaseline = "middle";
          pen.fillStyle = colors("soft"); pen.strokeStyle = colors("line");
          const step = niceStep(span / 8);
          for (let time = Math.ceil(from / step) * step; time < from + span; time += step) {
            pen.beginPath(); pen.moveTo(x(time), 0); pen.lineTo(x(time), box.height); pen.stroke();
            pen.fillText(time >= 1000 ? (time / 1000).toFixed(step < 1000 ? 2 : 0) + " s" : time.toFixed(step < 1 ? 2 : 0) + " ms", x(time) + 3, box.height - 7);
          }
          bars = [];
          for (const load of all) {
            const left = x(load.start), right = Math.max(left + 2, x(load.end ?? newest)), top = 4 + load.lane * (height + 2);
            if (top > box.height - height || right < 0 || left > box.width) continue;
            pen.fillStyle = colors(tint(load.kind)); pen.globalAlpha = load.kind === "waited" ? 0.9 : load.end === null ? 0.6 : 0.85;
            pen.fillRect(left, top, right - left, height); pen.globalAlpha = 1;
            const name = (load.kind === "waited" ? "waits for " : "") + load.key;
            if (right - left > 24) { pen.save(); pen.beginPath(); pen.rect(left, top, right - left, height); pen.clip();
              pen.fillStyle = load.kind === "waited" ? colors("ink") : colors("card"); pen.fillText(name, left + 4, top + height / 2); pen.restore(); }
            bars.push({ left, right, top, bottom: top + height, load });
          }
        }
        function niceStep(least) { const power = 10 ** Math.floor(Math.log10(least));
          return [1, 2, 5, 10].map(n => n * power).find(step => step >= least); }
        const soon = () => { if (!needsDraw) { needsDraw = true; requestAnimationFrame(paint); } };
        const barAt = event => { const box = $("flames").getBoundingClientRect(), px = event.clientX - box.left, py = event.clientY - box.top;
          return bars.findLast(bar => px >= bar.left - 1 && px <= bar.right + 1 && py >= bar.top && py <= bar.bottom)?.load; };
        $("flames").addEventListener("pointermove", event => { const load = barAt(event);
          $("hint").textContent = load ? `${load.path.join(" → ")}: ${load.kind === "loadBegan" ? "loading" : load.kind}`
            + (load.end === null ? "" : ` in ${time((load.end - load.start) / 1000)}`) : ""; });
        $("flames").addEventListener("click", event => { const load = barAt(event); if (!load) return;
          const all = [...fugu.picture.nodes.values()].filter(node => node.entry.name === load.key);
          const node = all.find(node => node.entry.container === (load.home ?? load.container)) || all[0];
          if (node) fugu.pick(node.id, true); else $("hint").textContent = `${load.key} isn't in the graph now, because an input changed or its container was closed`; });
        $("flames").addEventListener("wheel", event => { event.preventDefault(); setHeld(true);
          const box = $("flames").getBoundingClientRect(), at = from + (event.clientX - box.left - 12) / (box.width - 24) * span;
          if (event.shiftKey) from += span * Math.sign(event.deltaY) * 0.1;
          else { const factor = Math.exp(event.deltaY * 0.002); from = at - (at - from) * factor; span *= factor; } soon(); }, { passive: false });
        function setHeld(isOn) { isHeld = isOn; $("hold").setAttribute("aria-pressed", isOn); soon(); }
        $("hold").onclick = () => setHeld(!isHeld);
        addEventListener("resize", soon);
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", soon); $("theme").addEventListener("click", soon);
        new ResizeObserver(() => { soon(); dispatchEvent(new Event("resize")); }).observe($("time"));
        const source = new EventSource(liveAddress), show = (text, name) => { $("state").textContent = text; $("state").className = name; };
        source.onopen = () => show("live", "live"); source.onerror = () => show("not connected", "lost");
        source.addEventListener("moments", event => { JSON.parse(event.data).forEach(take); soon(); });
        source.addEventListener("graph", event => fugu.draw(JSON.parse(event.data)));
        window.inspector = { loads, waits };
        """#
}

/// The events of a family that the page shows, and the clients that wait for more.
final class Feed: Sendable {
    private struct State {
        /// The latest events, oldest first.
        var moments: [Moment] = []
        var viewers: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastViewer = 0
    }

    private static let limit = 4_000
    private let container: Container
    private let showsValues: Bool
    private let start = ContinuousClock.now
    private let state = Mutex(State())
    private let token = Mutex<ObservationToken?>(nil)

    init(of container: Container, showsValues: Bool) {
        self.container = container
        self.showsValues = showsValues
        let token = container.observeEvents { [weak self] in self?.note($0) }
        self.token.withLock { $0 = token }
    }

    deinit { token.withLock { $0?.cancel() } }

    func graph() -> ContainerGraph { container.graph(includingValues: showsValues) }

    private func note(_ event: ContainerEvent) {
        let moment = Moment(event, since: start)
        let viewers = state.withLock { state in
            state.moments.append(moment)
            // This runs now and then only, because it takes time for every event.
            if state.moments.count > 2 * Self.limit { state.moments.removeFirst(Self.limit) }
            return Array(state.viewers.values)
        }
        for viewer in viewers { viewer.yield() }
    }

    /// Returns the events after the given one.
    func moments(after number: UInt64) -> [Moment] {
        state.withLock { $0.moments.suffix(Self.limit).filter { $0.number > number } }.sorted { $0.number < $1.number }
    }

    /// A sequence of one element at once, and of another whenever something has happened since.
    func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let viewer = state.withLock { state in
            state.lastViewer += 1
            state.viewers[state.lastViewer] = continuation
            return state.lastViewer
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.viewers.removeValue(forKey: viewer) }
        }
        continuation.yield()
        return stream
    }

    var viewerCount: Int { state.withLock { $0.viewers.count } }
}

/// An event as the page gets it: names and times, no values, and no error's text, which the graph shows without secrets.
struct Moment: Sendable, Encodable {
    let number: UInt64
    let kind: String
    let key: String?
    let container: Int
    let home: Int?
    let load: UInt64?
    let neededBy: UInt64?
    let path: [String]
    /// In milliseconds since the inspector was made.
    let time: Double
    /// In milliseconds.
    let duration: Double?

    init(_ event: ContainerEvent, since start: ContinuousClock.Instant) {
        number = event.number
        kind = event.kind.rawValue
        key = event.key
        container = event.container
        home = event.home
        load = event.load
        neededBy = event.neededBy
        path = event.path
        time = (event.time - start) / .milliseconds(1)
        duration = event.duration.map { $0 / .milliseconds(1) }
    }
}

extension [Moment] {
    var json: String { (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "[]" }
}
