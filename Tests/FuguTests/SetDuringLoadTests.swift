@testable import Fugu
import Support
import Testing

/// Law 4: a set wins over a load in progress.
struct SetDuringLoadTests {}

extension SetDuringLoadTests {
    struct Value: Feature {
        static func load(in container: any FeatureContainer) -> Int { 1 }
    }
    struct Failing: ThrowingFeature {
        struct Broken: Error {}
        static func load(in container: any FeatureContainer) throws -> Int { throw Broken() }
    }
    struct Late: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Int { 1 }
    }

    /// A load that waits in the middle.
    final class Halted: Sendable {
        let began = Gate()
        let goesOn = Gate()
        let loads = Counter()

        func load(_ result: Int = 1) -> Int {
            let number = loads.add()
            began.open()
            goesOn.wait()
            return result * number
        }
    }

    /// Reads on five threads, of which one loads; does `change` in the middle of the load.
    ///
    /// Returns what the threads got.
    private func race(
        _ container: Container, _ key: FeatureKey<Int>, _ halted: Halted, _ change: () -> Void
    ) -> (loader: Int, waiters: [Int]) {
        let (loaded, waited) = (Log<Int>(), Log<Int>())
        let loader = startThread { loaded.add(container[key]) }
        halted.began.wait()
        let waiters = (0..<4).map { _ in startThread { waited.add(container[key]) } }
        container.awaitWaiters(4, for: key)
        change()
        halted.goesOn.open()
        loader.wait()
        waiters.forEach { $0.wait() }
        return (loaded.all[0], waited.all)
    }

    @Test("A value set during a load stays: the caller, every waiter, and who reads meanwhile get it (law 4)")
    func set() {
        // The set value stays, and the loader's own caller and every waiter get it.
        do {
            let (container, halted) = (Container(), Halted())
            let key = FeatureKey { _ in halted.load() }
            let result = race(container, key, halted) { container[key] = 10 }
            expect(result.loader, equals: 10)
            expect(result.waiters, equals: [10, 10, 10, 10])
            expect(container[key], equals: 10)
            expect(halted.loads.value, equals: 1)
        }
        // A reader after the set has the value at once, though the load goes on.
        do {
            let (container, halted) = (Container(), Halted())
            let key = FeatureKey { _ in halted.load() }
            let loader = startThread { _ = container[key] }
            halted.began.wait()
            container[key] = 10
            expect(container[key], equals: 10)
            halted.goesOn.open()
            loader.wait()
        }
    }

    @Test(
        "The set value stays, even if the child that loads gets a loader of its own meanwhile (law 4)",
        arguments: [false, true])
    func setAboveNewLoader(decorates: Bool) {
        let (container, halted) = (Container(), Halted())
        let key = FeatureKey(id: UniqueID()) { _ in halted.load() }
        let child = container.child()
        let loader = startThread { _ = child[key] }
        halted.began.wait()
        container[key] = 10
        if decorates {
            child.decorate({ _ in key }) { value, _ in value + 1 }
        } else {
            child.replace({ _ in key }) { _ in 11 }
        }
        halted.goesOn.open()
        loader.wait()
        expect(container[key], equals: 10)
        expect(container.child()[key], equals: 10)
        expect(child[key], equals: 11)
        expect(halted.loads.value, equals: 1)
    }

    @Test("A set of a property during its default, and a replaced loader during the load of the old one, win (law 4)")
    func property() {
        // A property that is set while its default is evaluated keeps what was set.
        do {
            let (container, halted) = (Container(), Halted())
            let key = PropertyKey(defaultValue: halted.load())
            let loaded = Log<Int>()
            let loader = startThread { loaded.add(container[key]) }
            halted.began.wait()
            container[key] = 10
            halted.goesOn.open()
            loader.wait()
            expect(loaded.all, equals: [10])
            expect(container[key], equals: 10)
        }
        // A replaced loader wins over the load of the old one.
        do {
            let (container, halted) = (Container(), Halted())
            container.replace(Value.self) { _ in halted.load() }
            let loader = startThread { _ = container[Value.self] }
            halted.began.wait()
            container.replace(Value.self) { _ in 10 }
            halted.goesOn.open()
            loader.wait()
            expect(container[Value.self], equals: 10)
        }
    }

    @Test("The next reader doesn't see an instance that was loaded from an overtaken value (law 4)")
    func dependent() {
        let (container, halted) = (Container(), Halted())
        let inner = FeatureKey { _ in halted.load() }
        let outer = FeatureKey { $0[inner] + 100 }
        let loaded = Log<Int>()
        let loader = startThread { loaded.add(container[outer]) }
        halted.began.wait()
        container[inner] = 10
        halted.goesOn.open()
        loader.wait()
        expect(loaded.all, equals: [110])
        expect(container[outer], equals: 110)
    }

    @Test("A set in the asker or between it and the home wins for the asker, and leaves the parent its own (law 4)")
    func setInChild() {
        // A set in the child that asked wins there and leaves the parent its own.
        do {
            let (parent, halted) = (Container(), Halted())
            let child = parent.child()
            let key = FeatureKey { _ in halted.load(7) }
            let (ofChild, ofParent) = (Log<Int>(), Log<Int>())
            let loader = startThread { ofChild.add(child[key]) }
            halted.began.wait()
            let waiter = startThread { ofParent.add(parent[key]) }
            parent.awaitWaiters(1, for: key)
            child[key] = 10
            halted.goesOn.open()
            loader.wait()
            waiter.wait()
            expect(ofChild.all, equals: [10])
            expect(child[key], equals: 10)
            expect(ofParent.all, equals: [7])
            expect(parent[key], equals: 7)
            expect(halted.loads.value, equals: 1)
        }
        // A set between the asker and the home wins for the asker.
        do {
            let (root, halted) = (Container(), Halted())
            let middle = root.child()
            let leaf = middle.child()
            let key = FeatureKey { _ in halted.load() }
            let loaded = Log<Int>()
            let loader = startThread { loaded.add(leaf[key]) }
            halted.began.wait()
            middle[key] = 10
            halted.goesOn.open()
            loader.wait()
            expect(loaded.all, equals: [10])
            expect(leaf[key], equals: 10)
            expect(middle[key], equals: 10)
            expect(root[key] != 10)
        }
    }

    @Test("A set wins over a load that fails, or suspends, for all that wait (law 4)")
    func failingLoad() async throws {
        // A set wins over a load that fails as well.
        do {
            let (container, halted) = (Container(), Halted())
            container.replace(Failing.self) { _ in
                _ = halted.load()
                throw Failing.Broken()
            }
            let results = Log<Int?>()
            let loader = startThread { results.add(try? container[Failing.self]) }
            halted.began.wait()
            let waiter = startThread { results.add(try? container[Failing.self]) }
            container.awaitWaiters(1, for: Failing.self)
            container.set(Failing.self, to: 10)
            halted.goesOn.open()
            loader.wait()
            waiter.wait()
            expect(results.all, equals: [10, 10])
            try expect(container[Failing.self], equals: 10)
        }
        // A set wins over an async load, for all tasks that wait.
        do {
            let container = Container()
            let (began, goesOn) = (Gate(), Gate())
            container.replace(Late.self) { _ in
                began.open()
                await goesOn.opened()
                return 1
            }
            let tasks = (0..<3).map { _ in Task { try await container[Late.self] } }
            await began.opened()
            startThread {
                container.awaitWaiters(3, for: Late.self)
                container.set(Late.self, to: 10)
                goesOn.open()
            }
            for task in tasks { try await expect(task.value, equals: 10) }
            try await expect(container[Late.self], equals: 10)
        }
    }

    @Test(
        "A reset during a load, of one key, of all, or after a set, gives the result to the waiters and keeps nothing (law 4)"
    )
    func reset() {
        // A reset during a load gives the result to the waiters and does not keep it.
        do {
            let (container, halted) = (Container(), Halted())
            let key = FeatureKey { _ in halted.load() }
            let result = race(container, key, halted) { container.reset { _ in key } }
            expect(result.loader == 1 && result.waiters == [1, 1, 1, 1])
            expect(container.ifLoaded { _ in key } == nil)
            expect(container[key], equals: 2)
        }
        // A reset of everything during a load does not keep its result either.
        do {
            let (container, halted) = (Container(), Halted())
            let key = FeatureKey { _ in halted.load() }
            let result = race(container, key, halted) { container.resetAll() }
            expect(result.loader == 1 && result.waiters == [1, 1, 1, 1])
            expect(container.ifLoaded { _ in key } == nil)
        }
        // A set that was reset again before the load ended leaves nothing.
        do {
            let (container, halted) = (Container(), Halted())
            let key = FeatureKey { _ in halted.load() }
            let result = race(container, key, halted) {
                container[key] = 10
                container.reset { _ in key }
            }
            expect(result.loader == 1 && result.waiters == [1, 1, 1, 1])
            expect(container.ifLoaded { _ in key } == nil)
        }
    }
}
