import Fugu
import FuguInspection
import Support
import Synchronization
import Testing

/// Events report what happens in a family, to their observers.
struct EventsTests {}

extension EventsTests {
    struct Host: Property { static var defaultValue: String { "localhost" } }
    struct Client: Feature {
        static func load(in container: any FeatureContainer) -> Client {
            _ = container[Host.self]
            return Client()
        }
    }
    struct Api: Feature {
        static func load(in container: any FeatureContainer) -> Api {
            _ = container[Client.self]
            return Api()
        }
    }
    struct Live: Feature {
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) -> Live {
            _ = container[Host.self]
            return Live()
        }
    }
    struct Broken: Error {}
    struct Database: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Database { throw Broken() }
    }
    struct Search: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Search {
            _ = try container[Database.self]
            return Search()
        }
    }

    private func record(_ container: Container) -> (Log<ContainerEvent>, ObservationToken) {
        let log = Log<ContainerEvent>()
        return (log, container.observeEvents { log.add($0) })
    }

    private func words(_ log: Log<ContainerEvent>) -> [String] {
        log.all.map { "\($0.kind) \($0.key ?? "-") \($0.container)" }
    }

    @Test("A load sends events for its beginning and its end, with path, number, home, and duration (law 11)")
    func loads() throws {
        let root = Container()
        let (log, token) = record(root)
        let child = root.child { $0[Host.self] = "child" }
        _ = child[Api.self]
        expect(
            words(log),
            equals: [
                "overridden Host 1", "loadBegan Api 1", "loadBegan Client 1", "loaded Client 1", "loaded Api 1",
            ])
        let client = log.all[3]
        expect(client.path, equals: ["Api", "Client"])
        expect(client.load == log.all[2].load && client.load != log.all[1].load)
        expect(client.neededBy, equals: log.all[1].load)
        expect(client.home, equals: 1)
        try expect(#require(client.duration) > .zero)
        expect(log.all.map(\.number), equals: [1, 2, 3, 4, 5])
        expect(log.all[1].duration == nil && log.all[1].home == nil && log.all[1].neededBy == nil)
        token.cancel()
        _ = root[Api.self]
        expect(log.all.count, equals: 5)
    }

    @Test("Every write is an event, also of what nobody else is concerned with and of what was set before (law 9)")
    func writes() {
        let container = Container()
        container[Host.self] = "before"
        container[Host.self] = "before"
        let child = container.child { $0[Host.self] = "before" }
        let (log, token) = record(child)
        container[Host.self] = "a"
        container[Host.self] = "a"
        child[Host.self] = "b"
        child.reset(Host.self)
        child[Host.self] = "c"
        container[PropertyKey(defaultValue: 1)] = 2
        container.replace(Client.self) { _ in Client() }
        expect(
            log.all.map { "\($0.kind) \($0.container)" },
            equals: [
                "set 0", "set 0", "set 1", "reset 1", "overridden 1", "set 0", "replaced 0",
            ])
        token.cancel()
        container[Host.self] = "unheard"
        expect(log.all.count, equals: 7)
    }

    @Test("A failed load is an event with its error, and so is a set that overtakes a load (law 4)")
    func failures() async throws {
        // The event of a failed load has its error, and its dependents fail, too.
        do {
            let container = Container()
            let (log, _) = record(container)
            await #expect(throws: Broken.self) { try await container[Search.self] }
            expect(
                words(log),
                equals: [
                    "loadBegan Search 0", "loadBegan Database 0", "failed Database 0", "failed Search 0",
                ])
            expect(log.all[2].error is Broken && log.all[3].error is Broken)
            expect(log.all[2].path, equals: ["Search", "Database"])
            expect(log.all[2].description.hasSuffix("(Search → Database): Broken()"))
            expect(log.all[2].description.hasPrefix("Database failed to load in the root after "))
        }
        // A set that overtakes a load is an event.
        do {
            let container = Container()
            let (reached, gate) = (Gate(), Gate())
            struct Slow: Feature {
                @TaskLocal static var gates: (reached: Gate, open: Gate)?
                static func load(in container: any FeatureContainer) -> Slow {
                    if let gates {
                        gates.reached.open()
                        gates.open.wait()
                    }
                    return Slow()
                }
            }
            let (log, _) = record(container)
            let loading = startThread { Slow.$gates.withValue((reached, gate)) { _ = container[Slow.self] } }
            reached.wait()
            container[Slow.self] = Slow()
            gate.open()
            loading.wait()
            expect(words(log), equals: ["loadBegan Slow 0", "set Slow 0", "overtaken Slow 0"])
        }
    }

    @Test("An instance that is dropped and loaded again because inputs changed is reported as a reload (law 12)")
    func reloads() {
        let container = Container()
        _ = container[Live.self]
        let (log, _) = record(container)
        container[Host.self] = "other"
        _ = container[Live.self]
        expect(words(log), equals: ["set Host 0", "dropped Live 0", "loadBegan Live 0", "reloaded Live 0"])
    }

    @Test("Waiting for a load of another thread sends an event with the load and the duration (law 3)")
    func waits() throws {
        let container = Container()
        let (log, _) = record(container)
        let (reached, gate) = (Gate(), Gate())
        container.replace(Client.self) { _ in
            reached.open()
            gate.wait()
            return Client()
        }
        let first = startThread { _ = container[Client.self] }
        reached.wait()
        let second = startThread { _ = container[Api.self] }
        container.awaitWaiters(1, for: Client.self)
        gate.open()
        first.wait()
        second.wait()
        let waited = try #require(log.all.first { $0.kind == .waited })
        expect(waited.key, equals: "Client")
        expect(waited.path, equals: ["Api", "Client"])
        expect(waited.duration != nil)
        expect(waited.load, equals: log.all.first { $0.kind == .loadBegan && $0.key == "Client" }?.load)
        expect(waited.neededBy, equals: log.all.first { $0.kind == .loadBegan && $0.key == "Api" }?.load)
        expect(log.all.filter { $0.kind == .loaded && $0.key == "Client" }.count, equals: 1)
    }

    @Test("Closing sends an event for every instance with closers, and for the container at the end (law 18)")
    func closing() async throws {
        struct Pool: Feature {
            static func load(in container: any FeatureContainer) -> Pool {
                container.onClose { throw Broken() }
                return Pool()
            }
        }
        let container = Container()
        let child = container.child()
        let (log, _) = record(container)
        _ = child[Pool.self]
        try await child.close()
        await #expect(throws: CloseError.self) { try await container.close() }
        expect(
            words(log),
            equals: [
                "loadBegan Pool 1", "loaded Pool 1", "closed - 1", "closed Pool 0", "dropped Pool 0", "closed - 0",
            ])
        expect(log.all[3].error is Broken)
        expect(log.all[5].error is CloseError)
        expect(log.all[5].description.hasPrefix("the root was closed after "))
    }

    @Test("A handler may read and write; what it reads is no input, and what it does causes no events (law 11)")
    func handlers() throws {
        let root = Container()
        let child = root.child { $0[Host.self] = "child" }
        let log = Log<String>()
        struct Plain: Feature {
            static func load(in container: any FeatureContainer) -> Plain { Plain() }
        }
        root.observeEvents { [weak child] event in
            log.add("\(event.kind)")
            _ = child?[Host.self]
            _ = child?[Client.self]
        }
        _ = child[Plain.self]
        expect(log.all, equals: ["loadBegan", "loaded"])
        expect(child.ifLoaded(Client.self) != nil)
        // It lives in the root, since it has read nothing.
        expect(root.ifLoaded(Plain.self) != nil)
    }

    @Test("Several handlers hear of the same events, and each is released with its token and its container (law 9)")
    func several() {
        // Several handlers hear of the same events; ending one leaves the others.
        do {
            let container = Container()
            let (first, token) = record(container)
            let (second, _) = record(container.child())
            container[Host.self] = "a"
            token.cancel()
            container[Host.self] = "b"
            expect(first.all.count, equals: 1)
            expect(second.all.map(\.number), equals: [1, 2])
        }
        // Cancelling a token releases the handler, and so does the end of the root container.
        do {
            final class Captured: Sendable {}
            var captured: Captured? = Captured()
            weak let weakly = captured
            var container: Container? = Container()
            let token = container!.observeEvents { [captured] _ in _ = captured }
            captured = nil
            expect(weakly != nil)
            token.cancel()
            expect(weakly == nil)

            captured = Captured()
            weak let again = captured
            container!.observeEvents { [captured] _ in _ = captured }
            captured = nil
            expect(again != nil)
            container = nil
            expect(again == nil)
        }
    }

    @Test("The text of an event names the way to it if somebody needed it, and else none")
    func ways() throws {
        let container = Container()
        let (log, _) = record(container)
        _ = container[Client.self]
        container.reset(Client.self)
        _ = container[Api.self]
        let began = log.all.filter { $0.kind == .loadBegan }.map(\.description)
        expect(
            began,
            equals: [
                "Client started loading in the root", "Api started loading in the root",
                "Client started loading in the root (Api → Client)",
            ])
    }
}

/// Durations as text.
struct DurationTextTests {}

extension DurationTextTests {
    @Test(
        "A duration is written with three digits and the unit that suits them",
        arguments: [
            (0, "0 ns"), (1, "1 ns"), (999, "999 ns"), (1_000, "1 µs"), (1_234, "1.23 µs"), (9_994, "9.99 µs"),
            (9_995, "10 µs"), (12_340, "12.3 µs"), (99_949, "99.9 µs"), (99_950, "100 µs"), (999_499, "999 µs"),
            (999_500, "1 ms"), (999_499_999, "999 ms"), (999_500_000, "1 s"), (61_000_000_000, "61 s"),
            (7_200_000_000_000, "7200 s"),
        ])
    func text(nanoseconds: Int, text: String) {
        expect(Duration.nanoseconds(nanoseconds).shortText, equals: text)
    }
}
