import Fugu
import Support
import Testing

// Law 28: close() always comes back. A closing that would wait for itself is found, through others too.
@Suite("Closings that wait for one another come to an end (law 28)", .timeLimit(.minutes(1)))
struct Law28CrosswiseTests {
    /// Closes `containers` together, each of which closes the next as it closes, and returns the failures.
    private func closeInARing(_ containers: [Container]) async throws -> [any Error] {
        let began = Counter()
        for (number, container) in containers.enumerated() {
            container.onClose { [next = containers[(number + 1) % containers.count]] in
                began.add()
                await began.reaches(containers.count)
                try await next.close()
            }
        }
        return try await finishing {
            await withTaskGroup { group in
                for container in containers {
                    group.addTask { () -> (any Error)? in
                        do {
                            try await container.close()
                            return nil
                        } catch { return error }
                    }
                }
                return await group.reduce(into: []) { if let error = $1 { $0.append(error) } }
            }
        }
    }

    @Test("Two children whose closers close each other: at least one gets an error, and both are closed (law 28)")
    func two() async throws {
        let root = Container()
        let children = [root.child(), root.child()]
        let errors = try await closeInARing(children)
        expect(!errors.isEmpty && errors.allSatisfy { "\($0)".contains("waits for close()") }, "\(errors)")
        for child in children { #expect(throws: LoadError.self) { try child[Refused.self] } }
        try await finishing { try await root.close() }
    }

    struct Refused: ThrowingFeature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) throws -> Int { 1 }
    }

    @Test("The same holds for a ring of three, and for separate families (law 28)")
    func more() async throws {
        let root = Container()
        try await expect(!closeInARing((0..<3).map { _ in root.child() }).isEmpty)
        try await expect(!closeInARing((0..<2).map { _ in Container() }).isEmpty)
    }

    @Test("Two that close the same third one at once both wait for it, without an error (law 28)")
    func sameTarget() async throws {
        let root = Container()
        let (first, second, third) = (root.child(), root.child(), root.child())
        let (gate, log) = (Gate(), Log<String>())
        third.onClose {
            await gate.opened()
            log.add("third")
        }
        for container in [first, second] {
            container.onClose {
                try await third.close()
                log.add("after")
            }
        }
        let closing = Task {
            try await finishing {
                async let one: Void = first.close()
                async let two: Void = second.close()
                _ = try await (one, two)
            }
        }
        await giveOthersTime()
        expect(log.all, equals: [])
        gate.open()
        try await closing.value
        expect(log.all, equals: ["third", "after", "after"])
    }
}
