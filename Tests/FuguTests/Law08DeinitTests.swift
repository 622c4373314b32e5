import Fugu
import Support
import Testing

@Suite("Law 8: nothing is released under a lock") struct Law08DeinitTests {
    struct Slot: Property { static var defaultValue: Witness? { nil } }
    struct Failing: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { 0 }
    }
    struct Refusal: Error { let witness: Witness }

    /// Uses the container when it goes, from another thread.
    static func useful(_ container: Container, _ ended: Counter) -> Witness {
        Witness {
            Law04SingleFlightTests.useElsewhere(container)
            ended.add()
        }
    }

    @Test("Values that a nested update wrote over are not released under a lock (laws 7 and 8)")
    func nestedUpdate() {
        let container = Container()
        let number = PropertyKey(defaultValue: 1)
        let seen = Log<Int>()
        container.update { handle in
            handle[number] = 2
            container.update { inner in
                inner[Slot.self] = Witness { seen.add(handle[number]) }
                inner[Slot.self] = nil
            }
        }
        #expect(seen.all == [2])
    }

    @Test("Closers that go with their container are not released under a lock (law 8)")
    func closers() {
        let root = Container()
        // Debug builds report closers that never ran.
        root.handleReports { _ in }
        let ended = Counter()
        do {
            let child = root.child()
            let witness = Self.useful(root, ended)
            child.onClose { withExtendedLifetime(witness) {} }
        }
        #expect(ended.value == 1)
    }

    @Test("An error that a load has caught goes when the load ends, and not under a lock (law 8)")
    func caughtError() {
        let container = Container()
        let ended = Counter()
        container.replace(Failing.self) { _ in throw Refusal(witness: Self.useful(container, ended)) }
        let handles = Log<any FeatureContainer>()
        let forgiving = FeatureKey { handle in
            handles.add(handle)
            return (try? handle[Failing.self]) ?? 7
        }
        #expect(container[forgiving] == 7)
        #expect(ended.value == 1)
    }
}
