import Fugu
import Support
import Testing

@Suite("What is loaded while a container is being closed (law 28)") struct ClosingLateInputsTests {}

extension ClosingLateInputsTests {
    struct Closed: Property { static var defaultValue: Log<String> { Log() } }

    struct Input: Feature {
        static func load(in container: any FeatureContainer) -> Token {
            let closed = container[Closed.self]
            container.onClose { closed.add("input") }
            return Token()
        }
    }
    struct Late: Feature {
        static func load(in container: any FeatureContainer) -> Token {
            let closed = container[Closed.self]
            _ = container[Input.self]
            container.onClose { closed.add("late") }
            return Token()
        }
    }

    @Test("It may be closed after its inputs, by the same close() or by another one (law 28)")
    func later() async throws {
        let container = Container.program().unreported
        let closed = container[Closed.self]
        let input = container[Input.self]
        let (closing, goesOn) = (Gate(), Gate())
        // It runs last.
        container.onClose {
            closing.open()
            await goesOn.opened()
        }
        async let first: Void = container.close()
        await closing.opened()
        expect(closed.all, equals: ["input"])
        _ = container[Late.self]
        expect(container[Input.self], is: input)
        goesOn.open()
        try await first
        try await container.close()
        expect(closed.all, equals: ["input", "late"])
    }
}
