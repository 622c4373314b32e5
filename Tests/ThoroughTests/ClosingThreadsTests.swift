import Fugu
import Support
import Testing

@Suite("Law 18: closing while others go on", .timeLimit(.minutes(5))) struct ClosingThreadsTests {}

extension ClosingThreadsTests {
    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Failure: Error {}
    /// Counts what was opened and closed.
    struct Ledger: Property { static var defaultValue: Accounts { Accounts() } }
    struct Accounts: Sendable {
        let opened = Counter()
        let closed = Counter()
    }
    struct Base: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int {
            let ledger = container[Ledger.self]
            ledger.opened.add()
            container.onClose { ledger.closed.add() }
            return 1
        }
    }
    struct Top: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int {
            let (ledger, number) = (container[Ledger.self], container[Number.self])
            _ = try container[Base.self]
            ledger.opened.add()
            container.onClose { ledger.closed.add() }
            if number % 5 == 4 { throw Failure() }
            return number
        }
    }

    @Test("Threads read, reset and drop while containers close: each closer runs once, and nothing hangs (laws 18, 20)")
    func race() async throws {
        for round in 0..<60 {
            let root = Container()
            root.handleReports { _ in }
            let (first, second) = (root.child(), root.child())
            first[Number.self] = round
            let threads = (0..<3).map { thread in
                startThread {
                    for step in 0..<30 {
                        let container = [root, first, second, first.child()][(step + thread) % 4]
                        _ = try? container[Top.self]
                        if step % 7 == thread { container.reset(Top.self) }
                        if step % 11 == thread { second[Number.self] = step }
                        if step % 13 == thread { root.reset(Base.self) }
                    }
                }
            }
            if round % 3 == 0 { for _ in 0..<20 { await Task.yield() } }
            async let closingFirst: Void = first.close()
            if round % 2 == 0 { try await second.close() }
            async let closingRoot: Void = root.close()
            _ = try await (closingFirst, closingRoot)
            for thread in threads { await thread.opened() }
            try await root.close()
            let ledger = root[Ledger.self]
            expect(ledger.opened.value, equals: ledger.closed.value, "round \(round)")
        }
    }
}
