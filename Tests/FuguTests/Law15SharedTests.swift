import Fugu
import Support
import Testing

extension ContainerKeys {
    fileprivate var law15Line: FeatureKey<Int> {
        .init { container in
            container.onClose {}
            return container[Law15SharedTests.RequestID.self]
        }
    }
}

@Suite("Law 15: features that belong to the whole family, late reads, what is made again")
struct Law15SharedTests {
    static let cases: [Case<Law15SharedTests>] = [
        Case("A shared feature lives in the root, whoever asks first (law 15)", livesInTheRoot),
        Case(
            "A read through a child that overrides what a shared feature was made from throws, with the way (law 15)",
            overriddenInput),
        Case("So does one of an async feature (law 15)", overriddenInputOfAsync),
        Case("A child can set a shared feature for itself (laws 14, 15)", isSet),
        Case(
            "A replaced loader keeps the declared home, unless a container below it replaces the loader (law 15)",
            replacedKeepsHome),
        Case(
            "A child's update sees a shared feature as it is published, whatever an update above does (laws 7 and 15)",
            updateThroughChild),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law15SharedTests>) async throws { try await stated.run(self) }

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

    func livesInTheRoot() {
        Drawing(
            """
            root                 → root: 1
              child    request=7 → root: 1
                below            → root: 1
              other              → root: 1
            """, Self.held
        ) { $0[Self.pool] }
    }

    func overriddenInput() throws {
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

    func overriddenInputOfAsync() async throws {
        let root = Container()
        let child = root.child { $0[RequestID.self] = 7 }
        let error = await #expect(throws: LoadError.self) { try await child[Search.self] }
        expect(error?.path, equals: ["Search", "Logger", "RequestID"])
        try await expect(root[Search.self], is: root.child()[Search.self])
    }

    @Test("One of a plain feature stops the program with the way there (law 15)")
    func overriddenInputOfPlain() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let child = Container().child { $0[Law15SharedTests.Level.self] = 2 }
            _ = child[Law15SharedTests.Pool.self]
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        expect(text.contains("Pool → Level"))
    }

    func isSet() {
        Drawing(
            """
            root              → root: 1
              child    pool=9 → child: 9
                below         → child: 9
            """, Self.held
        ) { $0[Self.pool] }
    }

    func replacedKeepsHome() throws {
        let root = Container()
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

    @Test("An instance with closers that is made again for a child is reported once, with the way there (law 15)")
    func madeAgain() async throws {
        let root = Container()
        let reports = Log<String>()
        root.handleReports { reports.add($0) }
        _ = root[Connection.self]
        for id in 1...3 { _ = root.child { $0[RequestID.self] = id }[Connection.self] }
        expect(
            reports.all.filter { $0.contains("Connection → RequestID") && $0.contains("home: Home { .shared }") }.count,
            equals: 1)
        try await root.close()
    }

    @Test("The report on a key that is made again names the argument of the key (law 15)")
    func madeAgainByKey() async throws {
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

    @Test("The report on a decorated type that is made again names the declaration of the type (law 15)")
    func madeAgainWithin() async throws {
        let root = Container()
        let reports = root.logReports()
        root.decorate(Connection.self) { connection, _ in connection }
        _ = root[Connection.self]
        _ = root.child { $0[RequestID.self] = 1 }[Connection.self]
        let report = try #require(reports.all.first { $0.contains("loads again") })
        expect(report.contains("declare `static var home: Home { .shared }`"), "\(report)")
        try await root.close()
    }

    final class Mailer: Feature, Sendable {
        let container: any FeatureContainer
        init(_ container: any FeatureContainer) { self.container = container }
        var sender: Int { container[RequestID.self] }
        static func load(in container: any FeatureContainer) -> Mailer { Mailer(container) }
    }

    @Test("A late read through a kept handle is reported where the caller overrides what is read (law 15)")
    func lateRead() {
        let root = Container()
        let reports = Log<String>()
        root.handleReports { reports.add($0) }
        let mailer = root[Mailer.self]
        expect(mailer.sender, equals: 0)
        Container.with(root.child()) { expect(mailer.sender, equals: 0) }
        expect(reports.all, equals: [])
        let request = root.child { $0[RequestID.self] = 7 }
        for _ in 0..<2 { Container.with(request) { expect(mailer.sender, equals: 0) } }
        expect(reports.all.count, equals: 1)
        expect(reports.all.first?.contains("Mailer ignored the child's override of RequestID"), equals: true)
        expect(reports.all.first?.contains("@Injected"), equals: true)
    }
    #endif
}
