import Fugu
import FuguTesting
import Support
import Testing

extension ContainerKeys {
    fileprivate var user: PropertyKey<String> { .init(defaultValue: "none") }
    fileprivate var limit: PropertyKey<Int> { .init(defaultValue: 1) }
}

@Suite("Tasks that belong to what a load makes (laws 11, 18)", .timeLimit(.minutes(5)))
struct OwnedTaskTests {
    @TaskLocal private static var trace = "none"

    private struct Failed: Error {}
    private enum Poller: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Int { 0 }
    }
    private enum Throwing: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { 0 }
    }

    private let log = Log<String>()
    private let container = Container().unreported

    /// Lets whatever could run do so.
    private func letOthersRun() async { for _ in 0..<1_000 { await Task.yield() } }

    @Test("A task begins once the instance is kept (law 18)")
    func begins() async throws {
        container.replace(Poller.self) { [log] container in
            container.task { _ in log.add("task") }
            await letOthersRun()
            log.add("loaded")
            return 1
        }
        _ = try await container[Poller.self]
        await expect(log.first(2), equals: ["loaded", "task"])
        try await container.close()
    }

    @Test("It doesn't begin if the load fails, or if its instance isn't kept (law 18)")
    func neverBegins() async throws {
        container.replace(Poller.self) { [log] container in
            container.task { _ in log.add("task") }
            throw Failed()
        }
        await #expect(throws: Failed.self) { try await container[Poller.self] }
        let (begun, goesOn) = (Gate(), Gate())
        container.replace(Poller.self) { [log] container in
            container.onClose { log.add("closed") }
            container.task { _ in log.add("task") }
            begun.open()
            await goesOn.opened()
            return 1
        }
        async let read = container[Poller.self]
        await begun.opened()
        container.set(Poller.self, to: 2)
        goesOn.open()
        try await expect(read, equals: 2)
        await expect(log.first(1), equals: ["closed"])
        await letOthersRun()
        expect(log.all, equals: ["closed"])
    }

    @Test("It has no values of the reader's task, and reads where the instance lives, which isn't an input (law 11)")
    func reads() async throws {
        let child = container.child {
            $0.user = "ada"
            $0.limit = 2
        }
        let poller = FeatureKey(id: UniqueID()) { [log] container in
            container.task { container in
                log.add("\(Self.trace), \(container.user), \(Container.current.user), \(container.limit)")
            }
            return Log<Int>()
        }
        let instance = Self.$trace.withValue("request") { child[poller] }
        await expect(log.first(1), equals: ["none, none, none, 1"])
        expect(container[poller], is: instance)
        expect(container.child { $0.limit = 3 }[poller], is: instance)
        try await container.close()
    }

    @Test("It's canceled and awaited as a teardown closure, before those that were registered earlier (law 18)")
    func ends() async throws {
        let begun = Gate()
        let poller = FeatureKey(id: UniqueID()) { [log] container in
            container.onClose { log.add("first") }
            container.task { _ in
                begun.open()
                do { try await Gate().openedUnlessCancelled() } catch { await Task.yield() }
                log.add("task")
            }
            container.onClose { log.add("last") }
            return container.user
        }
        _ = container[poller]
        await begun.opened()
        try await container.close()
        expect(log.all, equals: ["last", "task", "first"])
    }

    @Test("It ends with its instance: when that's reset, and before the next one's begins to be closed (law 18)")
    func reset() async throws {
        let poller = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { [log] container in
            let user = container.user
            container.task { _ in
                log.add("begins \(user)")
                try? await Gate().openedUnlessCancelled()
                log.add("ends \(user)")
            }
            return user
        }
        _ = container[poller]
        await expect(log.first(1), equals: ["begins none"])
        container.user = "ada"
        container.reset { _ in poller }
        await expect(log.first(2), equals: ["begins none", "ends none"])
        _ = container[poller]
        await expect(log.first(3).last, equals: "begins ada")
        try await container.close()
        expect(log.all.last, equals: "ends ada")
    }

    @Test("An error of it is reported, but none of its cancelation (law 18)")
    func errors() async throws {
        let reports = Log<String>()
        container.handleReports { reports.add($0) }
        let poller = FeatureKey(id: UniqueID()) { [log] container in
            container.task { _ in throw Failed() }
            container.task { _ in
                log.add("begins")
                try await Gate().openedUnlessCancelled()
            }
            return 1
        }
        _ = container[poller]
        await expect(reports.first(1).first?.hasPrefix("Fugu: a task of FeatureKey<Int> ("), equals: true)
        expect(reports.all.first?.hasSuffix(" failed: Failed()"), equals: true)
        _ = await log.first(1)
        try await container.close()
        expect(reports.count, equals: 1)
    }

    @Test("If it closes its own container, or one above, it gets the error that a closure gets (law 18)")
    func closesItsOwn() async throws {
        for (kind, isAbove) in [(0, false), (0, true), (1, false), (2, true), (3, false), (4, true)] {
            let root = Container().unreported
            let (child, errors) = (root.child { $0.user = "ada" }, Log<CloseError?>())
            let closed = isAbove ? root : child
            @Sendable func start(_ handle: any FeatureContainer) -> Int {
                handle.task { [unowned closed] _ in
                    do {
                        try await closed.close()
                        errors.add(nil)
                    } catch { errors.add(error as? CloseError) }
                    // So does a task that it starts.
                    _ = await Task { await #expect(throws: CloseError.self) { try await closed.close() } }.value
                }
                return handle.user.count
            }
            switch kind {
            case 0: _ = child[FeatureKey(id: UniqueID()) { start($0) }]
            case 1:
                root.replace(Throwing.self) { start($0) }
                _ = try child[Throwing.self]
            case 2:
                root.replace(Poller.self) { start($0) }
                _ = try await child[Poller.self]
            case 3: _ = await child[MainActorFeatureKey(id: UniqueID()) { start($0) }]
            default: _ = start(child)
            }
            let error = try await finishing { await errors.first(1)[0] }
            expect(error?.code, equals: .waitsForItself)
            expect(error?.description.contains("a task of ") == true, "\(error.map { "\($0)" } ?? "")")
            try await finishing { try await root.close() }
        }
    }

    @Test("What it changes is delivered at once, and what it loads and closes elsewhere isn't its own (laws 9, 18)")
    func changes() async throws {
        let (container, child, heard) = (container, container.child(), Log<Int>())
        let token = container.observe(\.limit) { heard.add($0) }
        child.onClose { [log] in log.add("child") }
        container.task { [log] handle in
            handle._container.limit = 2
            log.add("heard \(heard.count)")
            try await child.close()
            try? await Gate().openedUnlessCancelled()
        }
        await expect(log.first(2), equals: ["heard 1", "child"])
        try await container.close()
        token.cancel()
    }

    @Test("Outside a load, it begins at once and ends with the container, closed or not (laws 7, 18)")
    func ofContainer() async throws {
        for isClosed in [true, false] {
            let log = Log<String>()
            var container: Container? = Container().unreported
            container?.user = "ada"
            container?.task { container in
                log.add("begins \(container.user)")
                try? await Gate().openedUnlessCancelled()
                log.add("ends")
            }
            _ = await log.first(1)
            if isClosed { try await container?.close() }
            container = nil
            await expect(log.first(2), equals: ["begins ada", "ends"])
        }
    }
}
