import Fugu
import FuguTesting
import StrictnessCases
import Support
import Testing

// Law 19: what a test sets where nobody looks for it, what it configures by parts, and where something was read.
struct StrictBindingsTests {
    struct Items: Feature, External {
        var fetch: @Sendable () -> Int
        var store: @Sendable (Int) throws -> Void
        static func load(in container: any FeatureContainer) -> Items { Items(fetch: { 1 }, store: { _ in }) }
        static var placeholder: Items {
            Items(fetch: unimplemented("Items.fetch", placeholder: 0), store: unimplemented("Items.store"))
        }
    }
    struct Pool: Feature, External {
        var size: @Sendable () -> Int
        static var home: Home { .shared }
        static func load(in container: any FeatureContainer) -> Pool { Pool { 1 } }
        static var placeholder: Pool { Pool { 0 } }
    }
    struct Shop {
        @Injected(Items.self) var items
        @Injected(\.itemsOfTheTest) var sameItems
    }

    /// One for each tenant.
    final class TenantPool: Feature, Sendable {
        static var home: Home { .with(Number.self) }
        static func load(in container: any FeatureContainer) -> TenantPool {
            container.onClose {}
            return TenantPool()
        }
    }

    @Test(
        "What declares a home is loaded for each value of its key, and for a trait's input below its suite's (laws 11 and 19)"
    )
    func homes() async {
        // A feature that lives where a key is set is loaded for each value of it, and fails no test.
        do {
            let found = await issues {
                try await runCase(.container) {
                    let tenants = (1...3).map { number in Container.current.child { $0[Number.self] = number } }
                    let pools = tenants.map { $0.child()[TenantPool.self] }
                    expect(pools[0] !== pools[1] && pools[1] !== pools[2] && tenants[2][TenantPool.self] === pools[2])
                    for tenant in tenants { try await tenant.close() }
                }
            }
            expect(found.map(\.text), equals: [])
        }
        // What declares a home is loaded for a test whose trait sets an input below its suite's.
        do {
            let found = await issues {
                let suite: ContainerTrait = .container { $0[Number.self] = 1 }
                try await runCase(suite, .container { $0[Number.self] = 2 }) {
                    expect(Container.current[Metrics.self].number, equals: 2)
                    let pool = Container.current.child()[TenantPool.self]
                    expect(Container.current[TenantPool.self] === pool)
                    expect(Container.current.child { $0.port = 2 }[Metrics.self].number, equals: 2)
                    expect(try Container.current.child()[Rate.self], equals: 2)
                    let child = Container.current.child { $0[Number.self] = 3 }
                    #expect(throws: LoadError.self) { try child[Rate.self] }
                }
                try await runCase(suite, .container { $0.port = 2 }) {
                    let child = Container.current.child()
                    expect(child[Metrics.self].number, equals: 1)
                    expect(child[TenantPool.self] === Container.current[TenantPool.self])
                }
            }
            // Of the child that overrides what the rate is made from.
            expect(found.count == 1 && found[0].text.hasPrefix("Fugu: Rate has the home .shared, but"), "\(found)")
        }
    }

    /// One for the whole program.
    struct Metrics: Feature {
        static var home: Home { .shared }
        let number: Int
        static func load(in container: any FeatureContainer) -> Metrics { Metrics(number: container[Number.self]) }
    }

    enum Rate: ThrowingFeature {
        static var home: Home { .shared }
        static func load(in container: any FeatureContainer) throws -> Int { container[Number.self] }
    }

    // MARK: Bindings beside one another

    /// Binds a child that sets the number.
    private func with<R>(_ number: Int, _ operation: () throws -> R) rethrows -> R {
        try Container.with {
            $0[Number.self] = number
        } operation: {
            try operation()
        }
    }

    // MARK: Parts

    @Test("The closure that configures a child may set a part of an external feature, as a trait may (law 19)")
    func configuringChildren() async throws {
        let found = await issues {
            try await runCase(.container) {
                Container.with {
                    $0[Items.self].fetch = { 5 }
                } operation: {
                    expect(Container.current[Items.self].fetch(), equals: 5)
                }
                Container.with {
                    $0.itemsOfTheTest.fetch = { 5 }
                } operation: {
                    expect(Container.current[Items.self].fetch(), equals: 5)
                }
                let child = Container.current.child { $0[Items.self].fetch = { 6 } }
                expect(child[Items.self].fetch(), equals: 6)
                try await Container.current.withChild {
                    $0[Items.self].fetch = { 7 }
                } operation: {
                    expect($0[Items.self].fetch(), equals: 7)
                }
                Container.with {
                    $0[Pool.self].size = { 8 }
                } operation: {
                    expect(Container.current[Pool.self].size(), equals: 8)
                }
            }
        }
        expect(found, equals: [])
    }

    @Test(
        "A feature that the closure only reads, or reads elsewhere, fails as before, and so does a part that wasn't set (law 19)"
    )
    func stillRefused() async throws {
        let found = await issues {
            try await runCase(.container) {
                let test = Container.current
                Container.with {
                    $0[Number.self] = $0[Items.self].fetch()
                    $0[Items.self].fetch = { 5 }
                    _ = $0[Mailer.self]
                    _ = test[Items.self]
                } operation: {
                    #expect(throws: (any Error).self) { try Container.current[Items.self].store(1) }
                    _ = Container.current[Mailer.self]
                }
            }
        }
        expect(
            found.map { String($0.text.split(separator: " ")[1]) },
            equals: [
                "Items.fetch", "Items", "Mailer", "Items.store", "Mailer",
            ], "\(found)")
    }

    // MARK: Places

    @Test("A refusal names the function or the accessor that read, and its line (law 19)")
    func places() async {
        let container = Container.strict()
        let line = #line + 2
        let texts = await texts {
            _ = container[Items.self]
            _ = container.itemsOfTheTest
            _ = try? container.socketOfTheTest()
        }
        let file = "FuguTestingTests/StrictBindingsTests.swift"
        let ends = [
            "places() at \(file):\(line)", "itemsOfTheTest at \(file):\(accessorsLine + 4)",
            "socketOfTheTest() at \(file):\(accessorsLine + 8)",
        ]
        expect(texts.count, equals: 3)
        for (text, end) in zip(texts, ends) {
            expect(text.contains(", in \(end)\n"), "\(text)")
        }
    }

    #if DEBUG
    @Test("A refused read of @Injected names the place of the wrapper in debug builds (law 19)")
    func injectedPlaces() async {
        let texts = await texts {
            Container.strict { _ in
            } operation: {
                let shop = Shop()
                _ = (shop.items, shop.sameItems)
            }
        }
        let place = ", in @Injected at FuguTestingTests/StrictBindingsTests.swift:"
        expect(texts.count == 2 && texts.allSatisfy { $0.contains(place) }, "\(texts)")
    }
    #endif
}

private let accessorsLine = #line
extension FeatureContainer {
    fileprivate var itemsOfTheTest: StrictBindingsTests.Items {
        get {
            self[StrictBindingsTests.Items.self]
        }
        set { self[StrictBindingsTests.Items.self] = newValue }
    }
    fileprivate func socketOfTheTest() throws -> String { try self[Network.Socket.self].name }
}
