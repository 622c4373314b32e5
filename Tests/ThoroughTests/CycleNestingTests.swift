import Fugu
import Support
import Testing

@Suite("Loads of thousands of types within each other (law 5)") struct CycleNestingTests {}

extension CycleNestingTests {
    /// Two thousand types, none of which has a long name.
    struct Deep<Fifties: Sendable, Ones: Sendable>: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Int {
            Loads.counter.add().isMultiple(of: 50)
                ? try await container[Deep<Fifties?, Int>.self] : try await container[Deep<Fifties, Ones?>.self]
        }
    }
    private enum Loads {
        static let counter = Counter()
    }

    @Test("Nesting async loads without end is reported as that of others is (law 5)")
    func deep() async throws {
        let container = Container()
        let error = try #require(await #expect(throws: LoadError.self) { try await container[Deep<Int, Int>.self] })
        expect(error.path.count > 101)
        expect(error.description.contains("a stack may have no room for more"))
        expect(Loads.counter.value, equals: error.path.count - 1)
    }

    /// Goes on in another container without end, and so on no stack.
    struct Elsewhere: AsyncFeature {
        static let loads = Counter()
        static func load(in container: any FeatureContainer) async throws -> Int {
            loads.add()
            return try await Container()[Elsewhere.self]
        }
    }

    @Test("2,000 loads may be nested where none takes stack from another; the next is reported (law 5)")
    func deepest() async throws {
        await #expect(throws: LoadError.self) { try await Container()[Elsewhere.self] }
        expect(Elsewhere.loads.value, equals: 2_000)
    }
}
