import Fugu
import Support
import Testing

private struct Parsed: ThrowingFeature {
    let number: Int
    static func load(in container: any FeatureContainer) throws -> Parsed {
        guard let number = Int(container[Tenant.self]) else { throw Boom(container[Tenant.self]) }
        return Parsed(number: number)
    }
}
private struct Doubled: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Int { try container.parsed.number * 2 }
}

extension FeatureContainer {
    fileprivate var parsed: Parsed { get throws { try self[Parsed.self] } }
    fileprivate var doubled: Int { get async throws { try await self[Doubled.self] } }
}

@Suite("How features that fail or suspend are read") struct AccessorTests {}

extension AccessorTests {
    @Test("By accessors with effects, of containers and of the handles of loads")
    func accessors() async throws {
        let container = Container()
        await #expect(throws: Boom("root")) { try await container.doubled }
        container[Tenant.self] = "21"
        try expect(container.parsed.number, equals: 21)
        try await expect(container.doubled, equals: 42)
        let child = container.child { $0[Tenant.self] = "4" }
        try await expect(child.doubled, equals: 8)
    }

    /// The same read in a load of each of the two kinds.
    private func feature(_ kind: String, _ load: String) throws -> (isRight: Bool, output: String)? {
        try Compiler.check(
            """
            import Fugu
            struct Database: AsyncFeature {
                static func load(in container: any FeatureContainer) async throws -> Database { Database() }
            }
            struct Search: \(kind) {
                let database: Database
                static func load(in container: any FeatureContainer) \(load)
            }
            """)
    }

    @Test("A plain feature whose load needs an async one does not compile")
    func plainNeedsAsync() async throws {
        let right = try feature(
            "AsyncFeature", "async throws -> Search { Search(database: try await container[Database.self]) }")
        let wrong = [
            try feature("Feature", "-> Search { Search(database: container[Database.self]) }"),
            try feature("Feature", "async throws -> Search { Search(database: try await container[Database.self]) }"),
            try feature("ThrowingFeature", "throws -> Search { Search(database: try container[Database.self]) }"),
        ]
        guard let right else { return print("skipped: no compiler or no module Fugu was found") }
        expect(right.isRight, "\(right.output)")
        for wrong in wrong {
            let wrong = try #require(wrong)
            expect(!wrong.isRight && wrong.output.contains("async"), "\(wrong.output)")
        }
    }
}
