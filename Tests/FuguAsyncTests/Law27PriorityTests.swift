import Fugu
import Support
import Testing

// Law 27: depending loads are waiters, too: a load runs with the priority of its most urgent waiter,
// directly or through others, where the runtime can raise it.
@Suite("Urgency is handed on to what a load waits for (law 27)", .timeLimit(.minutes(1)))
struct Law27PriorityTests {
    struct Deep: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> TaskPriority {
            let stage = container.stage
            stage.gate("begun").open()
            await stage.gate("deep").opened()
            return await raisedPriority()
        }
    }
    struct Middle: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> TaskPriority {
            try await container[Deep.self]
        }
    }
    struct Top: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> TaskPriority {
            try await container[Middle.self]
        }
    }

    @Test("A reader that waits through other loads raises all of them (law 27)", arguments: 0..<3)
    func through(way: Int) async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let container = Container()
        let stage = container.stage
        func read() async throws -> TaskPriority {
            switch way {
            case 0: try await container[Deep.self]
            case 1: try await container[Middle.self]
            default: try await container[Top.self]
            }
        }
        let first = Task.detached(priority: .background) { try await read() }
        await stage.gate("begun").opened()
        let second = Task.detached(priority: .high) {
            stage.gate("second").open()
            return try await read()
        }
        await stage.gate("second").opened()
        stage.gate("deep").open()
        let priority = try await finishing { try await second.value }
        expect(priority >= .high)
        _ = try await first.value
    }
}
