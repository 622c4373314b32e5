import Foundation
import Fugu
import Observation
import Support
import Synchronization
import Testing

extension ContainerKeys {
    var law13Title: PropertyKey<String> { .init(defaultValue: "untitled") }
}

/// Law 9: observation.
struct ObservableTests {}

extension ObservableTests {
    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Other: Property { static var defaultValue: Int { 0 } }
    struct Label: Feature {
        static func load(in container: any FeatureContainer) -> String { "number \(container[Number.self])" }
    }
    struct Parsed: ThrowingFeature {
        struct Broken: Error {}
        static func load(in container: any FeatureContainer) throws -> Int {
            guard container[Other.self] >= 0 else { throw Broken() }
            return container[Other.self]
        }
    }
    struct Fetched: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Int { 1 }
    }

    /// Counts the changes of what `read` reads; there is one at most.
    private func track<R>(_ container: Container, _ read: (ObservableContainer) -> R) -> Counter {
        let changes = Counter()
        let observable = container.observable
        withObservationTracking {
            _ = read(observable)
        } onChange: {
            changes.add()
        }
        return changes
    }

    @Test("The same keyed accessors read, set and reset through the observable container (law 9)")
    func accessors() async throws {
        let container = Container()
        let observable = container.observable
        let key = FeatureKey { $0[Number.self] + 1 }
        observable[Number.self] = 5
        observable.law13Title = "notes"
        expect(container[Number.self], equals: 5)
        expect(container.law13Title, equals: "notes")
        expect(observable.law13Title, equals: "notes")
        expect(observable[Label.self], equals: "number 5")
        expect(observable[key], equals: 6)
        try expect(observable[Parsed.self], equals: 0)
        try await expect(observable[Fetched.self], equals: 1)
        observable.set(Parsed.self, to: 7)
        try expect(container[Parsed.self], equals: 7)
        observable.reset(Number.self)
        expect(container[Number.self], equals: 0)
        func generic(_ container: some FeatureContainer) -> Int { container[Number.self] }
        expect(generic(observable), equals: 0)
    }

    struct Current: Feature {
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) -> Int { container[Number.self] }
    }

    @Test("A change before tracking begins is missed, but not those after it (law 9)")
    func changedWhileReading() {
        for container in [Container(), Container().child { $0[Other.self] = 1 }] {
            let changes = track(container) { observable in
                let seen = (observable[Number.self], observable[Current.self])
                container[Number.self] = 1
                return seen
            }
            let later = track(container) { observable in
                _ = observable[Current.self]
                container[Number.self] = 2
            }
            container[Number.self] = 3
            expect(changes.value, equals: 1)
            expect(later.value, equals: 1)
        }
    }

    @Test("Reading a key tracks that key and no other, nor what a feature was loaded from (law 9)")
    func changes() throws {
        // Reading a key tracks that key.
        do {
            let container = Container()
            let ways: [(String, (Container) -> Void)] = [
                ("set", { $0[Number.self] = 1 }),
                ("modify", { $0.modify(Number.self) { $0 += 1 } }),
                ("update", { $0.update { $0[Number.self] = 9 } }),
                ("set through it", { $0.observable[Number.self] = 10 }),
                ("reset", { $0.reset(Number.self) }),
            ]
            for (name, change) in ways {
                let changes = track(container) { $0[Number.self] }
                expect(changes.value, equals: 0)
                change(container)
                expect(changes.value, equals: 1, "\(name)")
            }
        }
        // No other key is tracked, not even what the feature was loaded from, nor a plain container's.
        do {
            let container = Container().unreported
            let untracked = Counter()
            withObservationTracking {
                _ = container[Number.self]
            } onChange: {
                untracked.add()
            }
            let elsewhere = track(container) { ($0[Other.self], $0[Number.self], $0.law13Title) }
            let changes = track(container) { $0[Label.self] }
            container[Other.self] = 1
            container[Number.self] = 1
            container.law13Title = "set"
            expect(changes.value, equals: 0)
            expect(elsewhere.value, equals: 1)
            expect(untracked.value, equals: 0)
            container[Label.self] = "set"
            expect(changes.value, equals: 1)
        }
    }

    @Test("Every kind of key is tracked, and a reset is a change (law 9)")
    func kinds() async throws {
        let container = Container()
        let key = FeatureKey { _ in 1 }
        let title = track(container) { $0.law13Title }
        container.law13Title = "set"
        expect(title.value, equals: 1)
        let label = track(container) { $0[Label.self] }
        container[Label.self] = "set"
        expect(label.value, equals: 1)
        let labelReset = track(container) { $0[Label.self] }
        container.reset(Label.self)
        expect(labelReset.value, equals: 1)
        let feature = track(container) { $0[key] }
        container[key] = 2
        expect(feature.value, equals: 1)
        let parsed = track(container) { try? $0[Parsed.self] }
        container.set(Parsed.self, to: 2)
        expect(parsed.value, equals: 1)
    }

    @Test("A first load is no change, nor is a set to an equal value (law 9)")
    func firstLoad() throws {
        let container = Container()
        container[Other.self] = -1
        let changes = track(container) { try? $0[Parsed.self] }
        container[Other.self] = 3
        try expect(container[Parsed.self], equals: 3)
        expect(changes.value, equals: 0)
        container.set(Parsed.self, to: 4)
        expect(changes.value, equals: 1)
        container[Number.self] = 5
        let number = track(container) { $0[Number.self] }
        container[Number.self] = 5
        expect(number.value, equals: 0)
        container[Number.self] = 6
        expect(number.value, equals: 1)
    }

    @Test("A child tracks what it inherits (law 9)")
    func child() {
        let container = Container()
        let child = container.child()
        let changes = track(child) { $0[Number.self] }
        container[Number.self] = 1
        expect(changes.value, equals: 1)
        child[Number.self] = 2
        let own = track(child) { $0[Number.self] }
        container[Number.self] = 3
        expect(own.value, equals: 0)
        child.reset(Number.self)
        expect(own.value, equals: 1)
    }

    @Test("Inside onChange and after it the new value is read (law 9)")
    func newValue() {
        let container = Container()
        let observable = container.observable
        let seen = Log<Int>()
        withObservationTracking {
            _ = observable[Number.self]
        } onChange: {
            seen.add(container[Number.self])
        }
        container[Number.self] = 7
        expect(seen.all, equals: [7])
    }

    @Test("Tracking does not keep the container, and each view tracks anew (law 9)")
    func lifetime() {
        var container: Container? = Container()
        weak let weakContainer = container
        let first = track(container!) { $0[Number.self] }
        let second = track(container!) { $0[Number.self] }
        container?[Number.self] = 1
        expect(first.value, equals: 1)
        expect(second.value, equals: 1)
        container?[Number.self] = 2
        expect(first.value, equals: 1)
        expect(second.value, equals: 1)
        container = nil
        expect(weakContainer == nil)
    }
}

// Law 9: reading a key through `observable` tracks that key; access is registered before the read.
@Suite("Law 9: a first access that others make, too", .timeLimit(.minutes(5))) struct ObservableFirstAccessTests {}

extension ObservableFirstAccessTests {
    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Keeps: Feature {
        let handle: Container
        static func load(in container: any FeatureContainer) -> Keeps {
            _ = container[Number.self]
            return Keeps(handle: .current)
        }
    }

    // The Observation framework begins to listen when the tracked closure has ended, so the reader looks for what changed in between.
    @Test("A reader that looks once more after a tracked read misses no change (law 9)")
    func lastValue() async throws {
        try await finishing {
            let container = Container()
            let observable = container.observable
            let last = 1_000
            let begun = Gate()
            let reader = startThread {
                var seen = 0
                while seen < last {
                    let changed = Gate()
                    seen = withObservationTracking {
                        observable[Number.self]
                    } onChange: {
                        changed.open()
                    }
                    begun.open()
                    if seen < last, seen == container[Number.self] { changed.wait() }
                }
            }
            begun.wait()
            for number in 1...last { container[Number.self] = number }
            reader.wait()
        }
    }

    @Test("Tracked reads are notified of changes though the view it was read through has gone (law 9)")
    func viewGone() {
        let container = Container()
        let changes = Counter()
        func track(_ container: Container) {
            withObservationTracking {
                _ = container.observable[Number.self]
            } onChange: {
                changes.add()
            }
        }
        track(container)
        container[Number.self] = 1
        expect(changes.value, equals: 1)
        track(container[Keeps.self].handle)
        container.reset(Keeps.self)
        container[Number.self] = 2
        expect(changes.value, equals: 2)
    }

    @Test("A child's tracking of what it inherits ends with the child, and leaves the parent's alone (laws 7 and 9)")
    func childGone() {
        let container = Container()
        let (above, below) = (Counter(), Counter())
        withObservationTracking {
            _ = container.observable[Number.self]
        } onChange: {
            above.add()
        }
        var child: Container? = container.child()
        withObservationTracking {
            _ = child!.observable[Number.self]
        } onChange: {
            below.add()
        }
        weak let gone = child
        child = nil
        expect(gone == nil)
        container[Number.self] = 1
        expect(above.value, equals: 1)
        expect(below.value, equals: 0)
    }
}

extension ContainerKeys {
    fileprivate var volume: PropertyKey<Int> { .init(defaultValue: 5) }
}

/// Law 9: the observable container is one object.
struct ObservableIdentityTests {}

extension ObservableIdentityTests {
    @Test("It is the same each time while someone holds it, and keeps no circle (laws 7 and 9)")
    func same() {
        var container: Container? = Container()
        weak let alive = container
        var observable: ObservableContainer? = container!.observable
        expect(container!.observable, is: observable)
        expect(container!.child().observable !== observable)
        container = nil
        expect(alive != nil)
        observable = nil
        expect(alive == nil)
    }

    @Test("SwiftUI's bindings read and write through it (law 9)")
    func bindings() {
        let container = Container()
        let path: ReferenceWritableKeyPath<ObservableContainer, Int> = \.volume
        let observable = container.observable
        let changes = Counter()
        withObservationTracking {
            expect(observable[keyPath: path], equals: 5)
        } onChange: {
            changes.add()
        }
        observable[keyPath: path] = 6
        expect(container.volume, equals: 6)
        expect(changes.value, equals: 1)
    }
}
