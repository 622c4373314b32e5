import Fugu
import FuguInspection
import Support
import Testing

extension ContainerKeys {
    fileprivate var visit: PropertyKey<Int> { .init(defaultValue: 0) }
    fileprivate var tenant: PropertyKey<String> { .init(defaultValue: "none") }
    fileprivate var session: PropertyKey<String> { .required() }
    fileprivate var tracer: FeatureKey<Int> {
        .init(placeholder: { 0 }) { _ in
            Issue.record("reached outside"); return 1
        }
    }
}

@Suite("Checks behind external features (law 15, Inspecting)") struct CheckExternalsTests {
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
                  Schema: Tables → Schema
                """)
        // Where nothing sets the key, the home is the root.
        let without = await Container().check(overriding: \.visit) { $0.load(Finder.self) }
        expect("\(without)", equals: "lives in the root\n  Finder\n  Index\n  Lists\n  Pool")
    }

    struct Ledger: Feature {
        static var home: Home { .with(\.tenant) }
        static func load(in container: any FeatureContainer) -> Ledger { Ledger() }
    }

    @Test("A feature with a declared home is listed with the key of that, which its load needn't read")
    func with() async {
        let check = await Container().check(overriding: \.tenant) { $0.load(Ledger.self) }
        expect("\(check)", equals: "lives where \\.tenant is set\n  Ledger: \\.tenant")
        let container = Container()
        let child = container.child { $0.tenant = "acme" }
        _ = child[Ledger.self]
        expect(
            child.explain(Ledger.self).sentences[1],
            equals: "It lives in container 1, because its home is where \\.tenant is set.")
    }

    struct Bank: ThrowingFeature {
        static var home: Home { .shared }
        static func load(in container: any FeatureContainer) throws -> Bank {
            _ = container[Index.self]
            return Bank()
        }
    }

    @Test("A shared feature made with an external one that lives in a child is reported with the path (law 15)")
    func impossible() async {
        let check = await Container().check(overriding: \.tenant) { $0.load(Bank.self) }
        expect(check.failures.map(\.feature.path), equals: [["Bank", "Index", "\\.tenant"]])
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

    @Test("The inputs of a value for tests say nothing of the feature for which it stands in (law 29)")
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

    struct Billing: Feature, Required {
        static func testValue(in container: any FeatureContainer) -> Billing { Billing() }
    }
    struct Checkout: Feature {
        static func load(in container: any FeatureContainer) -> Checkout {
            _ = container[Billing.self]
            return Checkout()
        }
    }

    @Test(
        "A feature that nothing supplies is missing, though it has a value for tests, and its readers' homes aren't known"
    )
    func required() async {
        let check = await Container().check { $0.load(Checkout.self) }
        expect(check.missing.map(\.name), equals: ["Billing"])
        expect("\(check)".hasPrefix("depends on features that weren't loaded\n  Checkout: Billing\n"), "\(check)")
    }

    struct Greeting: Feature {
        static func load(in container: any FeatureContainer) -> Greeting {
            _ = container.session
            return Greeting()
        }
    }

    @Test("A required key that a child overrides is missing where nothing gives a value, and lives there otherwise")
    func requiredOverride() async {
        let container = Container()
        let without = await container.check(overriding: \.session) { $0.load(Greeting.self) }
        expect(without.missing.map(\.path), equals: [["Greeting", "\\.session"]])
        container.session = "s"
        let with = await container.check(overriding: \.session) { $0.load(Greeting.self) }
        expect("\(with)", equals: "lives where \\.session is set\n  Greeting: \\.session")
    }

    struct Trace: Feature {
        static func load(in container: any FeatureContainer) -> Trace {
            _ = container.tracer
            return Trace()
        }
    }

    @Test("An external feature that each request sets isn't loaded, and what is made with it lives in the request")
    func overridden() async {
        let check = await Container().check(overriding: \.tracer) { $0.load(Trace.self) }
        expect("\(check)", equals: "lives where \\.tracer is set\n  Trace: \\.tracer")
    }

    @Test("A decorated external feature lives with what is within, whose home isn't known or is the declared one")
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
        expect("\(check)".contains("depends on features that weren't loaded\n  Mail: "), "\(check)")
        expect("\(check)".contains("\n  Signup: Mail → "), "\(check)")
    }
}
