import Fugu
import Testing

extension ContainerKeys {
    var mode: PropertyKey<String> { .init(defaultValue: "day") }
}

/// Declarations that the page takes for granted.
@MainActor final class Window {
    var title = ""
}

func refreshLater(_ schedule: (@escaping @Sendable () -> Void) -> Void) {
    let container = Container.current
    schedule {
        Container.with(container) { print(Container.current.mode) }
    }
}

struct Poller: Feature {
    static func load(in container: any FeatureContainer) -> Poller {
        let clock = container.clock
        let task = Task.detached {
            while true { try await clock.sleep(for: .seconds(60)) }
        }
        container.onClose {
            task.cancel()
            _ = await task.result
        }
        return Poller()
    }
}

actor Counter: Feature {
    @Injected(\.mode) var mode
    private var count = 0

    static func load(in container: any FeatureContainer) -> Counter { Counter() }

    func increment() -> String {
        count += 1
        return "\(mode): \(count)"
    }
}

// What the page says of a global actor of one's own.

@globalActor actor LedgerActor { static let shared = LedgerActor() }

@LedgerActor final class Ledger: Feature {
    private var lines: [String] = []
    nonisolated init() {}

    nonisolated static func load(in container: any FeatureContainer) -> Ledger { Ledger() }

    func add(_ line: String) -> Int {
        lines.append(line)
        return lines.count
    }
}

@LedgerActor final class Archive: AsyncFeature {
    private let ledger: Ledger
    init(_ ledger: Ledger) { self.ledger = ledger }

    @LedgerActor static func load(in container: any FeatureContainer) async throws -> Archive {
        Archive(container[Ledger.self])
    }

    func add(_ line: String) -> Int { ledger.add(line) }
}

final class Lamp: Sendable {
    private let container = Container.current

    var isOn: Bool { container.mode == "night" }
}

@MainActor final class Dashboard: MainActorFeature {
    let title: String
    init(title: String) { self.title = title }

    static func load(in container: any FeatureContainer) -> Dashboard { Dashboard(title: "It is \(container.mode)") }
}

@MainActor func show(_ container: Container) -> String { container[Dashboard.self].title }

extension ContainerKeys {
    var dashboard: MainActorFeatureKey<Dashboard> { .init(Dashboard.self) }
}

@MainActor final class Toolbar {
    var dashboard: Dashboard { Container.current.dashboard }

    var title: String { "Tools for: \(dashboard.title)" }
}

@MainActor func follow(_ container: Container, _ dashboard: Window) {
    let modes = container.values(of: \.mode)
    Task { [weak dashboard] in
        for await mode in modes { dashboard?.title = mode }
    }
}

extension Snippets {
    @Test("Concurrency: tasks inherit the current container, detached tasks take it along")
    func taskLocals() async throws {
        try await run {
            await Container.with {
                $0.mode = "night"
            } operation: {
                await Task { print(Container.current.mode) }.value  // night
                await Task.detached { print(Container.current.mode) }.value  // day
                let container = Container.current
                await Task.detached { Container.with(container) { print(Container.current.mode) } }.value  // night
            }
        }
    }

    @Test("Concurrency: an escaping closure takes the container along")
    func escapingClosure() {
        var later: [@Sendable () -> Void] = []
        Container.with {
            $0.mode = "dusk"
        } operation: {
            refreshLater { later.append($0) }
        }
        later[0]()
        #expect(transcriptSoFar.last == "dusk")
    }

    @Test("Concurrency: an actor is a feature and reads late")
    func actors() async throws {
        try await run {
            let container = Container()
            let counter = container[Counter.self]
            print(await counter.increment())  // day: 1
            print(await container[Counter.self].increment())  // day: 2
        }
        #expect(!Lamp().isOn)
        #expect(Container.with({ $0.mode = "night" }, operation: { Lamp() }).isOn)
    }

    @Test("Concurrency: what belongs to a global actor of one's own is loaded by any thread, or on that actor")
    func globalActors() async throws {
        let container = Container()
        #expect(await container[Ledger.self].add("one") == 1)
        #expect(await (try container[Archive.self]).add("two") == 2)
    }

    @Test("Concurrency: what belongs to the main actor is loaded and observed there")
    @MainActor func mainActor() async {
        let container = Container()
        let window = Window()
        #expect(show(container) == "It is day")
        #expect(Container.with(container) { Toolbar().title } == "Tools for: It is day")
        follow(container, window)
        container.mode = "night"
        while window.title != "night" { await Task.yield() }
        #expect(window.title == "night")
    }
}
