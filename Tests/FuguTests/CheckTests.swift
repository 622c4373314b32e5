import Fugu
import FuguInspection
import Support
import Testing

extension ContainerKeys {
    fileprivate var checkedID: PropertyKey<Int> { .init(defaultValue: 0) }
    fileprivate var checkedUser: PropertyKey<String> { .init(defaultValue: "guest") }
    fileprivate var checkedScreen: MainActorFeatureKey<Int> { .init { _ in 1 } }
}

@Suite("Checks: everything is loaded, and all of it reported at once") struct CheckTests {}

extension CheckTests {
    struct URL: Property { static var defaultValue: String { "main.db" } }

    struct Pool: Feature {
        static func load(in container: any FeatureContainer) -> Pool {
            _ = container[URL.self]
            return Pool()
        }
    }
    struct RequestLog: Feature {
        static func load(in container: any FeatureContainer) -> RequestLog {
            _ = container.checkedID
            return RequestLog()
        }
    }
    struct Session: Feature {
        static func load(in container: any FeatureContainer) -> Session {
            _ = (container[Pool.self], container[RequestLog.self])
            return Session()
        }
    }
    struct Notes: Feature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) -> Notes { Notes() }
    }
    struct Mailer: Feature, External {
        static var placeholder: Mailer { Mailer() }
        static func load(in container: any FeatureContainer) -> Mailer { fatalError("reaches outside") }
    }
    struct Payments: Feature, Required {
        static var placeholder: Payments { Payments() }
    }
    struct Search: AsyncFeature, Required {}
    struct Database: AsyncFeature, External {
        static func load(in container: any FeatureContainer) async throws -> Database { fatalError("reaches outside") }
    }
    struct Signup: Feature {
        static func load(in container: any FeatureContainer) -> Signup {
            _ = (container[Mailer.self], container[Payments.self], container[Session.self])
            return Signup()
        }
    }
    struct Reports: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Reports {
            _ = try? await container[Search.self]
            _ = try await container[Database.self]
            return Reports()
        }
    }
    struct First: Feature {
        static func load(in container: any FeatureContainer) -> First {
            _ = container[Second.self]
            return First()
        }
    }
    struct Second: Feature {
        static func load(in container: any FeatureContainer) -> Second {
            _ = container[First.self]
            return Second()
        }
    }
    struct Third: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Third { try container[Third.self] }
    }
    struct Broken: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Broken { throw Ended() }
    }
    struct Ended: Error, CustomStringConvertible { let description = "the disk is full" }
    struct Shared: ThrowingFeature {
        static var home: Home { .shared }
        static func load(in container: any FeatureContainer) throws -> Shared {
            _ = container[RequestLog.self]
            return Shared()
        }
    }

    @Test("A check shows where each instance would live, given the keys that a request sets (law 15)")
    func lives() async {
        let check = await Container().check(overriding: \.checkedID, \.checkedUser) {
            $0.load(Session.self)
            $0.load(Notes.self)
        }
        expect(
            check.description,
            equals: """
                lives in the root
                  Pool
                lives where \\.checkedID or \\.checkedUser is set
                  RequestLog: \\.checkedID
                  Session: RequestLog → \\.checkedID
                lives in each container that reads it
                  Notes
                """)
        expect(!check.hasProblems)
    }

    @Test("A database that begins to read the request's log is another text, so a test that compares it fails")
    func moves() async {
        let container = Container()
        let before = await container.check(overriding: \.checkedID) { $0.load(Pool.self) }
        container.replace(Pool.self) { container in
            _ = container[RequestLog.self]
            return Pool()
        }
        let after = await container.check(overriding: \.checkedID) { $0.load(Pool.self) }
        expect(before.shared.map(\.name), equals: ["Pool"])
        expect(before.overriding, equals: [])
        expect(after.overriding.map(\.path), equals: [["RequestLog", "\\.checkedID"], ["\\.checkedID"]])
        expect("\(before)" != "\(after)")
    }

    @Test("All that is missing or wrong is reported together, though plain features need themselves (law 6)")
    func problems() async {
        let check = await Container().check(overriding: \.checkedID) {
            $0.load(Signup.self)
            $0.load(First.self)
            $0.load(Second.self)
            $0.load(Third.self)
            $0.load(Reports.self)
            $0.load(Broken.self)
        }
        expect(
            check.description,
            equals: """
                lives in the root
                  Pool
                lives where \\.checkedID is set
                  RequestLog: \\.checkedID
                  Session: RequestLog → \\.checkedID
                  Signup: Session → RequestLog → \\.checkedID
                depends on features that weren't loaded
                  Reports: Database
                external, without a declared home
                  Mailer: Signup → Mailer
                external, without a placeholder, so features that need it weren't loaded
                  Database: Reports → Database
                missing
                  Payments: Signup → Payments
                  Search: Reports → Search
                needs itself
                  First → Second → First
                  Third → Third
                failed to load
                  Broken: Broken: the disk is full
                """)
        expect(check.hasProblems)
    }

    @Test("A shared feature that reads what a request sets is reported with the path (law 15)")
    func shared() async {
        let check = await Container().check(overriding: \.checkedID) { $0.load(Shared.self) }
        expect(check.failures.map(\.feature.path), equals: [["Shared", "RequestLog", "\\.checkedID"]])
        expect(check.failures.first?.error.contains("has the home .shared"), equals: true)
    }

    @Test("Set and replaced features are used, here and above, and nothing is loaded in the container itself (law 18)")
    func copies() async {
        let root = Container()
        root.replace(Mailer.self) { container in
            _ = container[URL.self]
            return Mailer()
        }
        let container = root.child { $0[Payments.self] = Payments() }
        let check = await container.check(overriding: \.checkedID) { $0.load(Signup.self) }
        expect(!check.hasProblems)
        expect(check.external, equals: [])
        expect(check.shared.map(\.name), equals: ["Mailer", "Pool"])
        expect(container.ifLoaded(Signup.self) == nil)
        expect(root.ifLoaded(Mailer.self) == nil)
        expect(container.ifLoaded(\.checkedID) == nil)
    }

    @Test("A check closes the instances that it really loads, and reports nothing (law 28)")
    func closes() async {
        let (closed, reports) = (Counter(), Log<String>())
        let key = FeatureKey(id: UniqueID()) { container in
            container.onClose { closed.add() }
            return container[URL.self]
        }
        let container = Container()
        container.handleReports { reports.add($0) }
        _ = await container.check { $0.load { _ in key } }
        expect(closed.value, equals: 1)
        expect(reports.all, equals: [])
    }

    @Test("A key that a check can't override stops the program with its name")
    func refusesOverride() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = await Container().check(overriding: \.checkedScreen) { $0.load(Pool.self) }
        }
        expectMessage(of: result, "can't override")
    }

    struct Fixed: Feature {
        static var home: Home { .shared }
        static func load(in container: any FeatureContainer) -> Int { container.checkedID }
    }

    @Test("A feature whose declared home isn't possible is reported itself, and not the input that is overridden")
    func homes() async {
        let check = await Container().check(overriding: \.checkedID) { $0.load(Fixed.self) }
        expect(check.failures.map(\.feature.name), equals: ["Fixed"])
    }
}
