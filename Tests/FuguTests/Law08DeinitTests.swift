import Fugu
import Support
import Testing

@Suite("Law 8: nothing is released under a lock") struct Law08DeinitTests {
    static let cases: [Case<Law08DeinitTests>] = [
        Case("Values that a nested update wrote over are not released under a lock (laws 7 and 8)", nestedUpdate),
        Case("Closers that go with their container are not released under a lock (law 8)", closers),
        Case("An error that a load has caught goes when the load ends, and not under a lock (law 8)", caughtError),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law08DeinitTests>) async throws { try await stated.run(self) }

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
        expect(seen.all, equals: [2])
    }

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
        expect(ended.value, equals: 1)
    }

    func caughtError() {
        let container = Container()
        let ended = Counter()
        container.replace(Failing.self) { _ in throw Refusal(witness: Self.useful(container, ended)) }
        let handles = Log<any FeatureContainer>()
        let forgiving = FeatureKey { handle in
            handles.add(handle)
            return (try? handle[Failing.self]) ?? 7
        }
        expect(container[forgiving], equals: 7)
        expect(ended.value, equals: 1)
    }
}
