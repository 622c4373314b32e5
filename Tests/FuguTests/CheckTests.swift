import Fugu
import FuguInspection
import Support
import Testing

extension ContainerKeys {
    fileprivate var checkedID: PropertyKey<Int> { .init(defaultValue: 0) }
    fileprivate var checkedUser: PropertyKey<String> { .init(defaultValue: "guest") }
    fileprivate var checkedPayments: FeatureKey<Int> { .required(placeholder: 0) }
    fileprivate var checkedPassword: PropertyKey<String> { .init(defaultValue: "none", isSecret: true) }
    fileprivate var checkedNumber: PropertyKey<Int> { .init(defaultValue: 4711, isSecret: true) }
    fileprivate var checkedNothing: PropertyKey<Int?> { .init(defaultValue: nil, isSecret: true) }
    fileprivate var checkedList: PropertyKey<[String]> {
        .init(defaultValue: ["l1st", "a\"b", "e", "sec"], isSecret: true)
    }
    fileprivate var checkedLogins: PropertyKey<[String: CheckedLogin]> {
        .init(defaultValue: ["n4me": CheckedLogin(user: "us3r", pin: 8150)], isSecret: true)
    }
    fileprivate var checkedScreen: MainActorFeatureKey<Int> { .init { _ in 1 } }
}

private struct CheckedLogin: Sendable, CustomStringConvertible {
    let user: String, pin: Int?
    var description: String { "\(user)/\(pin ?? 0)" }
}

/// Checks: everything is loaded, and all of it reported at once.
struct CheckTests {}

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
    struct Database: AsyncFeature, External {
        static func load(in container: any FeatureContainer) async throws -> Database { fatalError("reaches outside") }
    }
    struct Signup: Feature {
        static func load(in container: any FeatureContainer) -> Signup {
            _ = (container[Mailer.self], container.checkedPayments, container[Session.self])
            return Signup()
        }
    }
    struct Reports: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Reports {
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

    @Test("A check shows where each instance would live, given the keys that a request sets (law 11)")
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

    @Test("All that is missing or wrong is reported together, though plain features need themselves (law 5)")
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
                  Database: Reports
                missing
                  \\.checkedPayments: Signup
                needs itself
                  First → Second → First
                  Third → Third
                failed to load
                  Broken: Broken: the disk is full
                """)
        expect(check.hasProblems)
    }

    @Test(
        "A shared feature that reads what a request sets is reported with the path, and an impossible declared home itself (law 11)"
    )
    func shared() async {
        // A shared feature that reads what a request sets is reported with the path.
        do {
            let check = await Container().check(overriding: \.checkedID) { $0.load(Shared.self) }
            expect(check.failures.map(\.feature.path), equals: [["Shared", "RequestLog", "\\.checkedID"]])
            expect(check.failures.first?.error.contains("has the home .shared"), equals: true)
        }
        // A feature whose declared home isn't possible is reported itself, and not the input that is overridden.
        do {
            let check = await Container().check(overriding: \.checkedID) { $0.load(Fixed.self) }
            expect(check.failures.map(\.feature.name), equals: ["Fixed"])
        }
    }

    @Test(
        "An error that quotes a secret is listed without it, also where a long one is cut (law 17)",
        arguments: [0, 983, 995])
    func secrets(_ length: Int) async {
        struct Refused: Error, CustomStringConvertible { let description: String }
        let container = Container()
        container.checkedPassword = "hunter2"
        container.replace(Broken.self) { container throws -> Broken in
            let dashes = String(repeating: "-", count: length)
            throw Refused(description: "\(dashes)no way in with \(container.checkedPassword)")
        }
        let check = await container.check { $0.load(Broken.self) }
        let text = String(repeating: "-", count: length) + "no way in with (secret)"
        expect(check.failures.map(\.error), equals: [text.count > 1_000 ? text.prefix(1_000) + "…" : text])
        expect(!check.description.contains("hun"))
    }

    @Test("A secret of any type is masked in errors, and so are its parts, each once (law 17)")
    func secretsOfOtherTypes() async {
        struct Refused: Error, CustomStringConvertible { let description: String }
        let container = Container()
        container.replace(Broken.self) { container throws -> Broken in
            let (list, login) = (container.checkedList, container.checkedLogins.first!)
            throw Refused(
                description: """
                    nil [:] \(container.checkedNumber) \(container.checkedNothing == nil) \(list[0]), \(list), \(list[3]): \
                    \(login.key) \(login.value.pin!) \(login.value.user) \(login.value) end
                    """)
        }
        let check = await container.check { $0.load(Broken.self) }
        expect(
            check.failures.map(\.error),
            equals: [
                "nil [:] (secret) true (secret), (secret), (secret): (secret) (secret) (secret) (secret) end"
            ])
    }

    @Test("Set and replaced features are used, here and above, and nothing is loaded in the container itself (law 2)")
    func copies() async {
        let root = Container()
        root.replace(Mailer.self) { container in
            _ = container[URL.self]
            return Mailer()
        }
        let container = root.child { $0.checkedPayments = 1 }
        let check = await container.check(overriding: \.checkedID) { $0.load(Signup.self) }
        expect(!check.hasProblems)
        expect(check.external, equals: [])
        expect(check.shared.map(\.name), equals: ["Mailer", "Pool"])
        expect(container.ifLoaded(Signup.self) == nil)
        expect(root.ifLoaded(Mailer.self) == nil)
        expect(container.ifLoaded(\.checkedID) == nil)
    }

    @Test("A check closes the instances that it really loads, and reports nothing (law 18)")
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
}

extension ContainerKeys {
    fileprivate var visit: PropertyKey<Int> { .init(defaultValue: 0) }
    fileprivate var tenant: PropertyKey<String> { .init(defaultValue: "none") }
    fileprivate var session: PropertyKey<String> { .required() }
    fileprivate var billing: FeatureKey<Int> { .required { _ in 0 } }
    fileprivate var tracer: FeatureKey<Int> {
        .init(placeholder: { 0 }) { _ in
            Issue.record("reached outside"); return 1
        }
    }
}

/// Checks behind external features (law 11, Inspecting).
struct CheckExternalsTests {
    /// Reads one feature.
    struct Mail: Feature, External {
        static var placeholder: Mail { Mail() }
        static func load(in container: any FeatureContainer) -> Mail { Mail() }
    }
    struct Signup: Feature {
        static func load(in container: any FeatureContainer) -> Signup {
            _ = container[Mail.self]
            return Signup()
        }
    }
    struct Page: Feature {
        static func load(in container: any FeatureContainer) -> Page {
            _ = (container[Signup.self], container[Clean.self])
            return Page()
        }
    }
    struct Clean: Feature {
        static func load(in container: any FeatureContainer) -> Clean { Clean() }
    }
    struct VisitLog: Feature {
        static func load(in container: any FeatureContainer) -> VisitLog {
            _ = (container[Mail.self], container.visit)
            return VisitLog()
        }
    }
    /// Says itself where it lives, whatever it's made from.
    struct Office: Feature {
        static var home: Home { .shared }
        static func load(in container: any FeatureContainer) -> Office {
            _ = container[Signup.self]
            return Office()
        }
    }
    struct Front: Feature {
        static func load(in container: any FeatureContainer) -> Front {
            _ = container[Office.self]
            return Front()
        }
    }

    @Test("What is made with an external feature without a declared home is said to depend on what wasn't loaded")
    func undetermined() async {
        let check = await Container().check(overriding: \.visit) {
            $0.load(Page.self)
            $0.load(VisitLog.self)
            $0.load(Front.self)
        }
        expect(
            "\(check)",
            equals: """
                lives in the root
                  Clean
                  Front
                  Office
                lives where \\.visit is set
                  VisitLog: \\.visit
                depends on features that weren't loaded
                  Page: Signup → Mail
                  Signup: Mail
                external, without a declared home
                  Mail: Page → Signup → Mail
                """)
    }

    struct Pool: Feature, External {
        static var home: Home { .shared }
        static var placeholder: Pool { Pool() }
        static func load(in container: any FeatureContainer) -> Pool { Pool() }
    }
    struct Schema: AsyncFeature, External {
        static var home: Home { .with(\.tenant) }
        static func load(in container: any FeatureContainer) async throws -> Schema { Schema() }
    }
    struct Index: Feature, External {
        static var home: Home { .with(\.tenant) }
        static var placeholder: Index { Index() }
        static func load(in container: any FeatureContainer) -> Index { Index() }
    }
    struct Scratch: Feature, External {
        static var home: Home { .local }
        static var placeholder: Scratch { Scratch() }
        static func load(in container: any FeatureContainer) -> Scratch { Scratch() }
    }
    struct Lists: Feature {
        static func load(in container: any FeatureContainer) -> Lists {
            _ = container[Pool.self]
            return Lists()
        }
    }
    struct Finder: Feature {
        static func load(in container: any FeatureContainer) -> Finder {
            _ = (container[Lists.self], container[Index.self])
            return Finder()
        }
    }
    struct Draft: Feature {
        static func load(in container: any FeatureContainer) -> Draft {
            _ = container[Scratch.self]
            return Draft()
        }
    }
    struct Tables: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Tables {
            _ = try? await container[Schema.self]
            return Tables()
        }
    }
    struct Rows: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Rows {
            _ = try await container[Schema.self]
            return Rows()
        }
    }
    /// Isn't loaded either, since what it needs isn't, and says where it lives.
    struct Archive: AsyncFeature {
        static var home: Home { .with(\.tenant) }
        static func load(in container: any FeatureContainer) async throws -> Archive {
            _ = try await container[Rows.self]
            return Archive()
        }
    }

    @Test("An external feature that isn't loaded counts with its declared home, and so does what is made with it")
    func declared() async {
        let check = await Container().check(overriding: \.tenant) {
            $0.load(Finder.self)
            $0.load(Draft.self)
            $0.load(Tables.self)
            $0.load(Archive.self)
        }
        expect(
            "\(check)",
            equals: """
                lives in the root
                  Lists
                  Pool
                lives where \\.tenant is set
                  Archive: \\.tenant
                  Finder: Index → \\.tenant
                  Index: \\.tenant
                  Schema: \\.tenant
                  Tables
                lives in each container that reads it
                  Draft
                  Scratch
                depends on features that weren't loaded
                  Rows: Schema
                external, without a placeholder, so features that need it weren't loaded
                  Schema: Archive, Rows, Tables
                """)
        // Where nothing sets the key, the home is the root.
        let without = await Container().check(overriding: \.visit) { $0.load(Finder.self) }
        expect("\(without)", equals: "lives in the root\n  Finder\n  Index\n  Lists\n  Pool")
    }

    struct Ledger: Feature {
        static var home: Home { .with(\.tenant) }
        static func load(in container: any FeatureContainer) -> Ledger { Ledger() }
    }

    @Test("What each request sets, and the key of a declared home, count for what is external and not loaded (law 11)")
    func with() async {
        // A feature with a declared home is listed with the key of that, which its load needn't read.
        do {
            let check = await Container().check(overriding: \.tenant) { $0.load(Ledger.self) }
            expect("\(check)", equals: "lives where \\.tenant is set\n  Ledger: \\.tenant")
            let container = Container()
            let child = container.child { $0.tenant = "acme" }
            _ = child[Ledger.self]
            expect(
                child.explain(Ledger.self).sentences[1],
                equals: "It lives in container 1, because its home is where \\.tenant is set.")
        }
        // A shared feature made with an external one that lives in a child is reported with the path.
        do {
            let check = await Container().check(overriding: \.tenant) { $0.load(Bank.self) }
            expect(check.failures.map(\.feature.path), equals: [["Bank", "Index", "\\.tenant"]])
        }
        // An external feature that each request sets isn't loaded, and what is made with it lives in the request.
        do {
            let check = await Container().check(overriding: \.tracer) { $0.load(Trace.self) }
            expect("\(check)", equals: "lives where \\.tracer is set\n  Trace: \\.tracer")
        }
    }

    struct Bank: ThrowingFeature {
        static var home: Home { .shared }
        static func load(in container: any FeatureContainer) throws -> Bank {
            _ = container[Index.self]
            return Bank()
        }
    }

    /// Its value for tests reads what the feature itself may not read.
    enum Links: Feature, External {
        static func load(in container: any FeatureContainer) -> String { "live" }
        static func testValue(in container: any FeatureContainer) -> String { "test \(container.visit)" }
    }
    enum Feed: ThrowingFeature, External {
        static var home: Home { .shared }
        static func load(in container: any FeatureContainer) throws -> String { "live" }
        static func testValue(in container: any FeatureContainer) throws -> String { "test \(container.visit)" }
    }
    struct Site: Feature {
        static func load(in container: any FeatureContainer) -> Site {
            _ = container[Links.self]
            return Site()
        }
    }
    struct Reader: ThrowingFeature {
        static var home: Home { .shared }
        static func load(in container: any FeatureContainer) throws -> Reader {
            _ = (try container[Feed.self], container[Links.self])
            return Reader()
        }
    }

    @Test("The inputs of a value for tests say nothing of the feature for which it stands in (law 19)")
    func testValues() async {
        let check = await Container().check(overriding: \.visit) {
            $0.load(Site.self)
            $0.load(Reader.self)
        }
        expect(
            "\(check)",
            equals: """
                lives in the root
                  Feed
                  Reader
                depends on features that weren't loaded
                  Site: Links
                external, loaded from its value for tests
                  Feed
                  Links
                """)
    }

    struct Checkout: Feature {
        static func load(in container: any FeatureContainer) -> Checkout {
            _ = container.billing
            return Checkout()
        }
    }

    @Test("What nothing supplies is missing, though it has a value for tests, or a child overrides it")
    func required() async {
        // A feature that nothing supplies is missing, though it has a value for tests, and its readers' homes aren't known.
        do {
            let check = await Container().check { $0.load(Checkout.self) }
            expect(check.missing.map(\.name), equals: ["\\.billing"])
            expect(
                "\(check)".hasPrefix("depends on features that weren't loaded\n  Checkout: \\.billing\n"), "\(check)")
        }
        // A required key that a child overrides is missing where nothing gives a value, and lives there otherwise.
        do {
            let container = Container()
            let without = await container.check(overriding: \.session) { $0.load(Greeting.self) }
            expect(without.missing.map(\.path), equals: [["Greeting", "\\.session"]])
            container.session = "s"
            let with = await container.check(overriding: \.session) { $0.load(Greeting.self) }
            expect("\(with)", equals: "lives where \\.session is set\n  Greeting: \\.session")
        }
    }

    struct Greeting: Feature {
        static func load(in container: any FeatureContainer) -> Greeting {
            _ = container.session
            return Greeting()
        }
    }

    struct Trace: Feature {
        static func load(in container: any FeatureContainer) -> Trace {
            _ = container.tracer
            return Trace()
        }
    }

    @Test("A decorated external feature isn't loaded, and lives where it would without the decoration")
    func decorated() async {
        let container = Container()
        container.decorate(Mail.self) { mail, _ in mail }
        container.decorate(Pool.self) { pool, _ in pool }
        let check = await container.check(overriding: \.visit) {
            $0.load(Signup.self)
            $0.load(Lists.self)
        }
        expect(check.shared.map(\.name).contains("Lists"), "\(check)")
        expect(check.shared.map(\.name).contains("Pool"), "\(check)")
        expect("\(check)".contains("depends on features that weren't loaded\n  Signup: Mail\n"), "\(check)")
        expect("\(check)".contains("external, without a declared home\n  Mail: Signup → Mail"), "\(check)")
    }
}

extension ContainerKeys {
    fileprivate var vault: FeatureKey<String> { .init(isExternal: true) { _ in "gold" } }
    fileprivate var safe: FeatureKey<String> { .init { $0.vault } }
    fileprivate var ledger: FeatureKey<String> { .init { "ledger of \($0.safe)" } }
    fileprivate var lobby: FeatureKey<String> { .init { _ in "lobby" } }
}

extension CheckTests {
    struct Courier: AsyncFeature, External {
        static func load(in container: any FeatureContainer) async throws -> Courier { Courier() }
    }

    struct Parcel: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Parcel {
            _ = try await container[Courier.self]
            return Parcel()
        }
    }

    @Test("A check goes on with what doesn't need an external feature without a stand-in, and lists by it what does")
    func behindUnknown() async {
        let check = await Container().check {
            $0.load(\.safe)
            $0.load(\.ledger)
            $0.load(Parcel.self)
            $0.load(\.lobby)
        }
        expect(
            check.description,
            equals: """
                lives in the root
                  \\.lobby
                depends on features that weren't loaded
                  Parcel: Courier
                external, without a placeholder, so features that need it weren't loaded
                  Courier: Parcel
                  \\.vault: \\.ledger, \\.safe
                """)
        expect(check.unknown.map(\.unloaded.count), equals: [1, 2])
        expect(!check.hasProblems)
    }
}
