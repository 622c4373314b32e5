import Support
import Testing

@testable import Fugu

extension ContainerKeys {
    fileprivate var law15Request: PropertyKey<Int> { .init(defaultValue: 0) }
}

/// Law 11: a feature lives where its inputs live.
struct HomeTests {}

extension HomeTests {
    /// Names the container that answers; every container of these tests sets its own.
    struct Name: Property { static var defaultValue: String { "?" } }
    struct Request: Property { static var defaultValue: Int { 0 } }
    struct Tenant: Property { static var defaultValue: String { "none" } }
    struct IsFancy: Property { static var defaultValue: Bool { false } }

    /// Makes a line of containers: the root and one below the other.
    private func line(_ count: Int) -> [Container] {
        var line = [Container()]
        for _ in 1..<count { line.append(line.last!.child()) }
        for (depth, container) in line.enumerated() { container[Name.self] = "\(depth)" }
        return line
    }

    final class Pool: Feature, Sendable {
        let handle: any FeatureContainer
        init(_ handle: any FeatureContainer) { self.handle = handle }
        static func load(in container: any FeatureContainer) -> Pool { Pool(container) }
    }
    final class Handler: Feature, Sendable {
        let handle: any FeatureContainer
        let request: Int
        init(_ handle: any FeatureContainer, _ request: Int) { (self.handle, self.request) = (handle, request) }
        static func load(in container: any FeatureContainer) -> Handler { Handler(container, container[Request.self]) }
    }

    private static let held: [String: Drawing.Held] = [
        "request": .property(Request.self), "tenant": .property(Tenant.self), "fancy": .property(IsFancy.self),
        "pool": .instance(pool), "page": .loader(page) { "\($0[handler].text) \($0[pool].text)" },
    ]
    private static let pool = FeatureKey { Thing("pool", $0) }
    private static let handler = FeatureKey { Thing($0[Request.self], $0) }
    private static let page = FeatureKey { Thing("\($0[handler].text) \($0[pool].text)", $0) }
    private static let invoice = FeatureKey { Thing("\($0[Tenant.self]) \($0[Request.self])", $0) }
    private static let cache = FeatureKey(home: .local) { Thing("cache", $0) }
    private static let cachedPage = FeatureKey { Thing($0[cache].text, $0) }
    private static let conditional = FeatureKey { container in
        Thing(container[IsFancy.self] ? "\(container[Request.self])" : container[Tenant.self], container)
    }

    @Test(
        "A feature that reads nothing, or only the root's values, lives in the root, and one that reads the request's in each (law 11)"
    )
    func readsNothing() {
        // A feature that reads nothing lives in the root, whoever asks first.
        do {
            Drawing(
                """
                root                   → root: pool
                  child                → root: pool
                    request  request=1 → root: pool
                      below            → root: pool
                """, Self.held
            ) { $0[Self.pool] }
        }
        // A feature that reads only the root's values lives in the root.
        do {
            Drawing(
                """
                root       request=5 → root: 5
                  child              → root: 5
                    below            → root: 5
                """, Self.held
            ) { $0[Self.handler] }
        }
        // A feature that reads what each request sets is made for each request.
        do {
            Drawing(
                """
                root                 → root: 0
                  first    request=1 → first: 1
                    below            → first: 1
                  second   request=2 → second: 2
                """, Self.held
            ) { $0[Self.handler] }
        }
    }

    @Test(
        "The home is the deepest container that holds what was read, directly or through other features, where it was set (law 11)"
    )
    func throughOthers() {
        // Inputs of inputs count, too.
        do {
            Drawing(
                """
                root                   → root: 0 pool
                  child                → root: 0 pool
                    request  request=1 → request: 1 pool
                      below            → request: 1 pool
                """, Self.held
            ) { $0[Self.page] }
        }
        // The deepest of those that hold what was read is the home.
        do {
            Drawing(
                """
                root                         → root: none 0
                  tenant        tenant=acme  → tenant: acme 0
                    child                    → tenant: acme 0
                      request   request=4    → request: acme 4
                        below                → request: acme 4
                """, Self.held
            ) { $0[Self.invoice] }
        }
        // An input that was set is held where it was set.
        do {
            Drawing(
                """
                root              → root: 0 pool
                  child  pool=own → child: 0 own
                    below         → child: 0 own
                """, Self.held
            ) { $0[Self.page] }
        }
    }

    final class Invoice: Feature, Sendable {
        let home: any FeatureContainer
        init(_ home: any FeatureContainer) { self.home = home }
        static func load(in container: any FeatureContainer) -> Invoice {
            _ = (container[Tenant.self], container[Request.self], container[Tenant.self])
            return Invoice(container)
        }
    }

    @Test(
        "A local feature lives in the container that was asked, and an instance of a replaced loader there or deeper (law 11)"
    )
    func local() {
        // A local feature lives in the container that was asked, and what is made from it too.
        do {
            for key in [Self.cache, Self.cachedPage] {
                Drawing(
                    """
                    root       → root: cache
                      child    → child: cache
                        below  → below: cache
                    """, Self.held
                ) { $0[key] }
            }
        }
        // An instance of a replaced loader lives there or deeper, where its inputs live.
        do {
            let family = Drawing(
                """
                root                      → root: 0 pool
                  replaced   page=another → replaced: another 0 pool
                    request               → replaced: another 0 pool
                      below               → replaced: another 0 pool
                """, Self.held
            ) { $0[Self.page] }
            family.show(
                """
                root                      → root kept: 0 pool
                  replaced   page=another → replaced kept: another 0 pool
                    request  request=3    → request new: another 3 pool
                      below               → request new: another 3 pool
                """)
        }
    }

    struct Ambient: Feature {
        let handle: any FeatureContainer
        static func load(in container: any FeatureContainer) -> Ambient {
            let number = read()
            _ = number
            return Ambient(handle: container)
        }
        static func read() -> Int { Container.current[Request.self] }
    }
    struct Wrapped: Feature {
        struct Part {
            @Injected(\.law15Request) var request
        }
        let request: Int
        let handle: any FeatureContainer
        static func load(in container: any FeatureContainer) -> Wrapped {
            Wrapped(request: Part().request, handle: container)
        }
    }

    @Test(
        "A read through Container.current or @Injected during a load is an input, for that is the recording view (law 11)"
    )
    func ambientReads() {
        // A read through Container.current or @Injected during a load is an input.
        do {
            let line = line(3)
            defer { withExtendedLifetime(line) {} }
            line[1][Request.self] = 1
            line[1].law15Request = 2
            expect(line[2][Ambient.self].handle[Name.self], equals: "1")
            expect(line[2][Wrapped.self].handle[Name.self], equals: "1")
            expect(line[2][Wrapped.self].request, equals: 2)
            expect(line[0][Ambient.self].handle[Name.self], equals: "0")
        }
        // Inside a load, Container.current is its recording view and not the container.
        do {
            struct Peek: Feature {
                let current: Container
                static func load(in container: any FeatureContainer) -> Peek { Peek(current: Container.current) }
            }
            let root = Container()
            let current = root[Peek.self].current
            expect(current !== root)
            expect(current !== Container.current)
            expect(Container.current, is: Container.shared)
        }
    }

    @Test(
        "A kept handle answers from the home and writes to it, and what is read through it later is no load's input (law 11)"
    )
    func keptHandle() {
        // A kept handle answers from the home, and what it reads later is no input.
        do {
            let line = line(3)
            defer { withExtendedLifetime(line) {} }
            line[2][Request.self] = 9
            let pool = line[2][Pool.self]
            expect(pool.handle[Name.self], equals: "0")
            expect(pool.handle[Request.self], equals: 0)
            expect(pool.handle[Handler.self], is: line[0][Handler.self])
            line[2][Name.self] = "other"
            expect(line[2][Pool.self], is: pool)
            pool.handle.reset(Request.self)
            expect(line[0][Pool.self] === pool && line[1].child()[Pool.self] === pool)
        }
        // Another load's read through a kept handle isn't an input of that load either.
        do {
            let root = Container().unreported
            root[Request.self] = 1
            let reader = FeatureKey { container in
                _ = container[Pool.self].handle[Request.self]
                return Witness()
            }
            let shared = root[reader]
            expect(root.child { $0[Request.self] = 2 }[reader], is: shared)
        }
        // A kept handle writes to the home once the load has ended.
        do {
            struct Writer: Feature {
                let handle: Container
                static func load(in container: any FeatureContainer) -> Writer { Writer(handle: Container.current) }
            }
            let root = Container()
            let writer = root.child()[Writer.self]
            writer.handle[Request.self] = 12
            expect(root[Request.self], equals: 12)
        }
    }

    enum Write: String, CaseIterable, Codable {
        case reset, modify, update, resetAll

        func perform(in container: any FeatureContainer) {
            switch self {
            case .reset: container.reset(Request.self)
            case .modify: Container.current.modify(Request.self) { $0 += 1 }
            case .update: Container.current.update { $0[Request.self] = 1 }
            case .resetAll: Container.current.resetAll()
            }
        }
        var changed: String { self == .reset || self == .modify ? "Request" : "values" }
    }

    @Test("What a load reads from a container that it captured, or a child that it made, is no input (law 11)")
    func capturedContainer() {
        // What a load reads from a container that it captured isn't an input.
        do {
            let root = Container()
            let child = root.child { $0[Request.self] = 3 }
            let reader = FeatureKey { _ in
                _ = child[Request.self]
                return Witness()
            }
            expect(child[reader], is: root[reader])
        }
        // A read through a child made inside the load, or bound there, is no input.
        do {
            struct Sub: Feature {
                let token: Token
                let handle: any FeatureContainer
                static func load(in container: any FeatureContainer) -> Sub {
                    let child = Container.current.child { $0[Tenant.self] = "sub" }
                    let bound = Container.with {
                        $0[Tenant.self] = "bound"
                    } operation: {
                        Container.current[Request.self]
                    }
                    return Sub(token: Token(child[Request.self] + bound), handle: container)
                }
            }
            let root = Container().unreported
            let request = root.child { $0[Request.self] = 3 }
            expect(request[Sub.self].token.number, equals: 6)
            expect(root[Sub.self].token, is: request[Sub.self].token)
        }
    }

    @Test(
        "During the load the handle and Container.current only read: a write stops with a message (law 11)",
        arguments: Write.allCases)
    func handleOnlyReads(_ write: Write) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [write] in
            _ = Container()[FeatureKey(id: write) { write.perform(in: $0) }]
        }
        expectMessage(of: result, "changes \(write.changed) while it loads")
    }

    @Test("Only what a load really read counts, whatever it reads on another condition (law 11)")
    func conditionalInputs() {
        Drawing(
            """
            root                              → root: none
              plain      request=1            → root: none
              fancy      fancy=true tenant=a  → fancy: 0
                fancier  request=2            → fancier: 2
                tenant   tenant=b             → fancy: 0
            """, Self.held
        ) { $0[Self.conditional] }
    }
}

extension ContainerKeys {
    fileprivate var law15Line: FeatureKey<Int> {
        .init { container in
            container.onClose {}
            return container[HomeSharedTests.RequestID.self]
        }
    }
}

/// Law 11: features that belong to the whole family, late reads, what is made again.
struct HomeSharedTests {}

extension HomeSharedTests {
    struct RequestID: Property { static var defaultValue: Int { 0 } }
    struct Level: Property { static var defaultValue: Int { 1 } }

    struct Logger: Feature {
        let prefix: Int
        static func load(in container: any FeatureContainer) -> Logger { Logger(prefix: container[RequestID.self]) }
    }

    final class Database: ThrowingFeature, Sendable {
        static var home: Home { .shared }
        let prefix: Int
        init(_ prefix: Int) { self.prefix = prefix }
        static func load(in container: any FeatureContainer) throws -> Database {
            Database(container[Logger.self].prefix)
        }
    }

    final class Pool: Feature, Sendable {
        static var home: Home { .shared }
        let level: Int
        init(_ level: Int) { self.level = level }
        static func load(in container: any FeatureContainer) -> Pool { Pool(container[Level.self]) }
    }

    final class Search: AsyncFeature, Sendable {
        static var home: Home { .shared }
        static func load(in container: any FeatureContainer) async throws -> Search {
            _ = container[Logger.self]
            return Search()
        }
    }

    final class Cart: Feature, Sendable {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) -> Cart { Cart() }
    }

    struct Checkout: Feature {
        let cart: Cart
        static func load(in container: any FeatureContainer) -> Checkout { Checkout(cart: container[Cart.self]) }
    }

    final class Register: ThrowingFeature, Sendable {
        static var home: Home { .shared }
        let checkout: Checkout
        init(_ checkout: Checkout) { self.checkout = checkout }
        static func load(in container: any FeatureContainer) throws -> Register { Register(container[Checkout.self]) }
    }

    struct Till: ThrowingFeature {
        static var home: Home { .with(Level.self) }
        let checkout: Checkout
        static func load(in container: any FeatureContainer) throws -> Till { Till(checkout: container[Checkout.self]) }
    }

    private static let held: [String: Drawing.Held] = [
        "request": .property(RequestID.self), "level": .property(Level.self), "pool": .instance(pool),
    ]
    private static let pool = FeatureKey(home: .shared) { Thing($0[Level.self], $0) }
    private struct Store: ThrowingFeature {
        static var home: Home { .shared }
        static func load(in container: any FeatureContainer) throws -> Thing {
            Thing(container[Logger.self].prefix, container)
        }
    }

    @Test(
        "A shared feature lives in the root; a read through a child that overrides what it was made from throws, with the way (law 11)"
    )
    func livesInTheRoot() async throws {
        // A shared feature lives in the root, whoever asks first.
        do {
            Drawing(
                """
                root                 → root: 1
                  child    request=7 → root: 1
                    below            → root: 1
                  other              → root: 1
                """, Self.held
            ) { $0[Self.pool] }
        }
        // A read through a child that overrides what a shared feature was made from throws, with the way.
        do {
            let family = Drawing(
                """
                root                 → root: 0
                  child    request=7 → ! Store → Logger → RequestID
                    below            → ! Store → Logger → RequestID
                  other              → root: 0
                """, Self.held
            ) { try $0[Store.self] }
            let error = #expect(throws: LoadError.self) { try family["child"][Store.self] }
            expect(error?.description.contains("Store → Logger → RequestID"), equals: true)
            expect(error?.code, equals: .inputOverridden)
            expect(error?.description.contains("has the home .shared"), equals: true)
            family.show(
                """
                root                 → root kept: 0
                  child              → root: 0
                    below            → root: 0
                  other              → root kept: 0
                """)
        }
        // So does one of an async feature.
        do {
            let root = Container().unreported
            let child = root.child { $0[RequestID.self] = 7 }
            let error = await #expect(throws: LoadError.self) { try await child[Search.self] }
            expect(error?.path, equals: ["Search", "Logger", "RequestID"])
            try await expect(root[Search.self], is: root.child()[Search.self])
        }
    }

    @Test("So does one through a child if an input is local, with the way to that input (law 11)")
    func localInput() throws {
        let root = Container().unreported
        try expect(root[Register.self], is: root[Register.self])
        let tenant = root.child { $0[Level.self] = 2 }
        for (child, reader) in [(root.child(), "Register"), (tenant.child(), "Till")] {
            let error = #expect(throws: LoadError.self) {
                _ = reader == "Till" ? try child[Till.self].checkout : try child[Register.self].checkout
            }
            expect(error?.code, equals: .inputOverridden)
            expect(error?.path, equals: [reader, "Checkout", "Cart"])
            expect(error?.feature, equals: reader)
            expect(error?.description.contains("is made from Cart, which has the home .local"), equals: true)
        }
    }

    @Test("A child can set a shared feature for itself, and a replaced loader keeps the declared home (laws 10, 11)")
    func isSet() throws {
        // A child can set a shared feature for itself.
        do {
            Drawing(
                """
                root              → root: 1
                  child    pool=9 → child: 9
                    below         → child: 9
                """, Self.held
            ) { $0[Self.pool] }
        }
        // A replaced loader keeps the declared home, unless a container below it replaces the loader.
        do {
            let root = Container().unreported
            root.replace(Database.self) { Database($0[Logger.self].prefix + 1) }
            let child = root.child { $0[RequestID.self] = 7 }
            let error = #expect(throws: LoadError.self) { try child[Database.self] }
            expect(error?.code, equals: .inputOverridden)
            expect(error?.path.last, equals: "RequestID")
            try expect(root.child()[Database.self], is: root[Database.self])
            try expect(root[Database.self].prefix, equals: 1)
            child.replace(Database.self) { Database($0[Logger.self].prefix + 2) }
            try expect(child[Database.self].prefix, equals: 9)
            try expect(child.child()[Database.self], is: child[Database.self])
            try expect(child.child { $0[RequestID.self] = 8 }[Database.self].prefix, equals: 10)
        }
    }

    @Test("A child's update sees a shared feature as it is published, whatever an update above does (laws 6 and 11)")
    func updateThroughChild() throws {
        let root = Container()
        let before = try root[Database.self]
        try root.update { handle in
            handle.reset(Database.self)
            try root.child().update { child in
                let inside = try child[Database.self]
                expect(inside, is: before)
            }
            handle.replace(Database.self) { _ in Database(5) }
            try root.child().update { child in
                let inside = try child[Database.self]
                expect(inside, is: before)
            }
        }
        try expect(root.child()[Database.self].prefix, equals: 5)
    }

    #if DEBUG
    final class Connection: Feature, Sendable {
        let id: Int
        init(_ id: Int) { self.id = id }
        static func load(in container: any FeatureContainer) -> Connection {
            container.onClose {}
            return Connection(container[RequestID.self])
        }
    }

    @Test(
        "An instance with closers that is made again for a child is reported once, with the way there, or the argument of its key (law 11)"
    )
    func madeAgain() async throws {
        // An instance with closers that is made again for a child is reported once, with the way there.
        do {
            let root = Container()
            let reports = Log<String>()
            root.handleReports { reports.add($0) }
            _ = root[Connection.self]
            for id in 1...3 { _ = root.child { $0[RequestID.self] = id }[Connection.self] }
            expect(
                reports.all.filter { $0.contains("Connection → RequestID") && $0.contains("home: Home { .shared }") }
                    .count,
                equals: 1)
            try await root.close()
        }
        // The report on a key that is made again names the argument of the key.
        do {
            let root = Container()
            let reports = root.logReports()
            expect(root.law15Line, equals: 0)
            expect(root.child { $0[RequestID.self] = 1 }.law15Line, equals: 1)
            let report = try #require(reports.all.first)
            expect(report.contains(#"\.law15Line → RequestID"#))
            expect(report.contains("pass `home: .shared` to the key"))
            expect(!report.contains("static var"))
            try await root.close()
        }
    }

    @Test("An instance with closers that each child makes for itself isn't reported, an external one is (law 11)")
    func madeForEach() async throws {
        let root = Container.program()
        let reports = root.logReports()
        defer {
            let line = FeatureKey(placeholder: { 0 }, load: { $0[RequestID.self] })
            for id in 1...2 { _ = root.child { $0[RequestID.self] = id }[line] }
            expect(reports.all.count, equals: 1)
        }
        for id in 1...3 {
            try await root.withChild {
                $0[RequestID.self] = id
            } operation: {
                expect($0[Connection.self].id, equals: id)
            }
        }
        expect(reports.all, equals: [])
    }
    #endif
}
