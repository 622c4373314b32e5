import Fugu
import FuguInspection
import FuguTesting
import StrictnessCases
import Support
import Testing

/// Law 19: what a feature declares for tests.
struct StrictTestValueTests {
    /// Counts what a process really loads.
    static let live = Counter()

    /// A store that remembers, so that sharing it shows.
    final class Store: Sendable {
        private let log = Log<String>()
        var all: [String] { log.all }
        func add(_ text: String) { log.add(text) }
    }

    enum Links: Feature, External {
        static func load(in container: any FeatureContainer) -> Store { loaded(Store()) }
        static func testValue(in container: any FeatureContainer) -> Store {
            let store = Store()
            store.add("made for \(container[Number.self])")
            return store
        }
    }
    enum Parsed: ThrowingFeature, External {
        static func load(in container: any FeatureContainer) throws -> String { loaded("live") }
        static func testValue(in container: any FeatureContainer) throws -> String {
            "parsed \(container[Number.self])"
        }
    }
    enum Pool: AsyncFeature, External {
        static func load(in container: any FeatureContainer) async throws -> String { loaded("live") }
        static func testValue(in container: any FeatureContainer) async throws -> String {
            await Task.yield()
            return "pool of \(try await container[Server.self])"
        }
    }
    /// Isn't declared external, which its value for tests says.
    enum Server: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> String { loaded("live") }
        static func testValue(in container: any FeatureContainer) -> String { "server \(container[Number.self])" }
    }
    enum Screen: MainActorFeature {
        static func load(in container: any FeatureContainer) -> String { loaded("live") }
        static func testValue(in container: any FeatureContainer) -> String { "screen \(container[Number.self])" }
    }
    /// Made from one of them.
    struct Page: Feature {
        let links: Store
        static func load(in container: any FeatureContainer) -> Page { Page(links: container[Links.self]) }
    }

    /// Declares a variable, as other libraries have it.
    enum Habit: Feature {
        static func load(in container: any FeatureContainer) -> String { "live" }
        static var testValue: String { "for tests" }
    }
    enum ThrowingHabit: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> String { "live" }
        static let testValue = 1
    }
    enum AsyncHabit: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> String { "live" }
        static var testValue: String { "for tests" }
    }
    enum ScreenHabit: MainActorFeature {
        static func load(in container: any FeatureContainer) -> String { "live" }
        static var testValue: String { "for tests" }
    }
    /// Declare functions that lack the parameter, or `static`.
    enum Bare: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> String { "live" }
        static func testValue() throws -> String { "for tests" }
    }
    struct Unbound: Feature {
        var name = "live"
        static func load(in container: any FeatureContainer) -> Unbound { Unbound() }
        func testValue(in container: any FeatureContainer) -> Unbound { Unbound(name: "for tests") }
    }
    /// Uses its variable.
    enum Both: Feature {
        static func load(in container: any FeatureContainer) -> String { "live" }
        static let testValue = "for tests"
        static func testValue(in container: any FeatureContainer) -> String { testValue }
    }

    static func loaded<Value>(_ value: Value) -> Value {
        live.add()
        return value
    }

    private static func firstLines(_ found: [SeenIssue]) -> [String] {
        found.map { String($0.text.prefix { $0 != "\n" }) }
    }

    @Test(
        "A value for tests is given in place of the feature, of every kind, and is an instance like any other (laws 3, 10, 19)"
    )
    func kinds() async throws {
        // A value for tests is given in place of the feature, of every kind, and fails nothing.
        do {
            let found = await issues {
                try await runCase(.container { $0[Number.self] = 3 }) {
                    let container = Container.current
                    expect(container[Links.self].all, equals: ["made for 3"])
                    expect(try container[Parsed.self], equals: "parsed 3")
                    await expect(try container[Pool.self], equals: "pool of server 3")
                    await expect(container[Screen.self], equals: "screen 3")
                    expect(container.feed + container.bills, equals: "feed 3, bills")
                    await expect(MainActor.run { container.panel }, equals: "panel 3")
                    expect(container[Page.self].links, is: container[Links.self])
                }
                expect(Container.strict()[Links.self].all, equals: ["made for 0"])
            }
            expect(found.map(\.text), equals: [])
            expect(Self.live.value, equals: 0)
        }
        // It's an instance like any other: kept in its test, made anew where an input is overridden.
        do {
            let found = await issues {
                for _ in 1...2 {
                    try await runCase(.container) {
                        let container = Container.current
                        container[Links.self].add("once")
                        expect(container[Links.self].all, equals: ["made for 0", "once"])
                        let child = container.child { $0[Number.self] = 2 }
                        expect(child[Links.self].all, equals: ["made for 2"])
                        expect(container.child()[Links.self], is: container[Links.self])
                    }
                }
            }
            expect(found.map(\.text), equals: [])
        }
    }

    @Test(
        "A strict container reports a variable or function that was meant as the value for tests, once for each feature (law 19)"
    )
    func unused() async throws {
        @Sendable func readAll(in container: Container) async throws {
            expect(
                container[Habit.self] + container[Both.self],
                equals: "live" + (container === Container.current ? "for tests" : "live"))
            try await expect(container[ThrowingHabit.self] + container[AsyncHabit.self], equals: "livelive")
            await expect(container[ScreenHabit.self], equals: "live")
            expect(try container[Bare.self] + container[Unbound.self].name, equals: "livelive")
        }
        let found = await issues {
            try await readAll(in: .program())
            try await runCase(.container) {
                try await readAll(in: .current)
                Container.current.reset(Habit.self)
                expect(Container.current[Habit.self], equals: "live")
            }
        }
        expect(
            Self.firstLines(found),
            equals: ["Habit", "ThrowingHabit", "AsyncHabit", "ScreenHabit", "Bare", "Unbound"].map {
                "Fugu: \($0) was loaded for real, since its testValue isn't used."
            })
        expect(
            found.first?.text.contains("Fix: declare it as static func testValue(in container: any FeatureContainer).")
                == true)
        // It was read by nothing else.
        expect(found.first?.text.contains("Path:") == false)
    }

    @Test("A strict container reports a load that makes what is external as a type, unless it reads that (law 19)")
    func madeExternal() async throws {
        struct Mail: Feature, External {
            static func load(in container: any FeatureContainer) -> Mail { Mail() }
            static var placeholder: Mail { Mail() }
        }
        let (mail, wrapped) = (FeatureKey { _ in Mail() }, FeatureKey<any Sendable> { $0[Mail.self] })
        let found = try await texts {
            _ = Container.program()[mail]
            try await runCase(.container { $0[Mail.self] = Mail() }) {
                _ = (Container.current[mail], Container.current[wrapped])
                Container.current.replace({ _ in mail }) { _ in Mail() }
                _ = Container.current[mail]
            }
        }
        expect(found.count, equals: 1)
        expect(
            found.first?.hasPrefix("Fugu: the load of FeatureKey<Mail> (FuguTestingTests/StrictTestValueTests.swift:"),
            equals: true)
        expect(
            found.first?.contains(") has made a real Mail, which is external.\nFix: declare the key as"), equals: true)
    }

    @Test("What a test sets, replaces, or decorates counts as always (laws 4, 19)")
    func setting() async throws {
        let found = await issues {
            let container = Container.strict { $0.set(Parsed.self, to: "set") }
            expect(try container[Parsed.self], equals: "set")
            container.replace(\.bills) { "replaced with \($0[Number.self])" }
            expect(container.bills, equals: "replaced with 0")
            container.decorate(\.feed) { feed, _ in "around \(feed)" }
            expect(container.feed, equals: "around feed 0, ")
        }
        expect(found.map(\.text), equals: [])
    }

    @Test(
        "A live container gives the feature itself, and a strict one that a trait makes inside of it doesn't (law 19)")
    func live() async throws {
        let container = Container.program()
        expect(container.printing, equals: "live")
        let found = await issues {
            let outer = Log<Container>()
            let live: ContainerTrait = .liveContainer { container in
                container[Number.self] = 5
                expect(container.printing, equals: "live")
                outer.add(container)
            }
            try await runCase(live, .container) {
                expect(Container.current.printing + Container.current.feed, equals: "printing 5feed 5, ")
                expect(outer.all[0].ifLoaded(\.feed) == nil)
            }
            try await runCase(.liveContainer) {
                expect(Container.current.printing, equals: "live")
            }
        }
        expect(found.map(\.text), equals: [])
    }

    @Test("Container.shared keeps none, as other tests would get it, and fails the test with what to write (law 19)")
    func shared() async {
        let found = await issues {
            let first = Container.shared[Links.self]
            expect(Container.shared[Links.self] !== first)
            #expect(throws: (any Error).self) { try Container.shared[Parsed.self] }
        }
        let advice =
            "Fix: give the test its own container: @Test(.container). To use the real feature, write @Test(.liveContainer)."
        expect(found.count, equals: 3)
        expect(found.allSatisfy { $0.text.contains(advice) }, "\(found)")
        expect(
            Self.firstLines(found)[0],
            equals: "Fugu: Links has a value for tests, which only a container of the test's own gives.")
    }

    @Test("Graphs and explanations call it a value for tests (law 19)")
    func graphs() async throws {
        let container = Container.strict()
        _ = container[Page.self]
        _ = await container[Screen.self]
        container.replace(\.feed) { _ in "replaced" }
        _ = container.feed
        func state(_ name: String) -> ContainerGraph.Entry.State? {
            container.graph.entries.first { $0.name == name }?.state
        }
        expect(state("Links"), equals: .testValue)
        expect(state("Screen"), equals: .testValue)
        expect(state("Page"), equals: .loaded)
        expect(state(#"\.feed"#), equals: .loaded)
        let links = container.graph.entries.first { $0.name == "Links" }
        expect(links?.isExternal == true && links?.inputs.count == 1)
        let text = "\(container.explain(Links.self))"
        expect(text.hasPrefix("Links is its value for tests.\nIt lives in the root, "), "\(text)")
        expect(text.contains("It was loaded from Number.\nLoaded from it: Page."), "\(text)")
    }

    @Test("A check loads values for tests and lists them, apart from what a test would really load (law 19)")
    func check() async {
        let check = await Container().check { list in
            list.load(Page.self)
            list.load(Pool.self)
            list.load(\.bills)
        }
        expect(
            "\(check)",
            equals: """
                depends on features that weren't loaded
                  Page: Links
                external, loaded from its value for tests
                  Links
                  Pool
                  Server
                  \\.bills
                missing
                  \\.bills
                """)
        expect(Self.live.value, equals: 0)
    }

    @Test("A value of another type than the feature's stops the program with the line to write (law 19)")
    func wrongType() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            enum Wrong: Feature {
                static func load(in container: any FeatureContainer) -> Int { 1 }
                static func testValue(in container: any FeatureContainer) -> String { "2" }
            }
            _ = Container.strict()[Wrong.self]
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        expect(
            text.contains("Fugu: Wrong is a feature of type Int, but its value for tests is of type String."), "\(text)"
        )
        expect(text.contains("declare static func testValue(in container: any FeatureContainer) -> Int."), "\(text)")
    }
}

extension ContainerKeys {
    fileprivate var feed: FeatureKey<String> {
        .init(testValue: { "feed \($0[Number.self]), " }) { _ in StrictTestValueTests.loaded("live") }
    }
    fileprivate var bills: FeatureKey<String> { .required { _ in "bills" } }
    fileprivate var panel: MainActorFeatureKey<String> {
        .init(testValue: { "panel \($0[Number.self])" }) { _ in StrictTestValueTests.loaded("live") }
    }
    fileprivate var printing: FeatureKey<String> { .init(testValue: { "printing \($0[Number.self])" }) { _ in "live" } }
}

/// Law 19: what a type declares for tests in a way that isn't used.
struct StrictLeftoverTests {
    /// Lack `External`.
    struct Radio: Feature {
        var name = "real"
        static func load(in container: any FeatureContainer) -> Radio { Radio() }
        static var placeholder: Radio { Radio(name: "placeholder") }
    }
    enum Paper: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> String { "real" }
        static let preview = "preview"
    }
    enum Depot: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> String { "real" }
        static var placeholder: String { "placeholder" }
        static var preview: String { "preview" }
    }
    struct Press: Feature {
        let text: String
        static func load(in container: any FeatureContainer) -> Press {
            Press(text: container[Radio.self].name + container[Icons.self])
        }
    }

    /// Mean something else.
    enum Icons: Feature {
        static func load(in container: any FeatureContainer) -> String { "real" }
        static let placeholder = 7
        static let preview = 8
    }
    enum Named: Feature {
        static func load(in container: any FeatureContainer) -> String { "real" }
        static func placeholder(_ number: Int) -> String { "\(number)" }
        static func testValue(in container: any FeatureContainer) -> String { "for tests" }
        static let preview = "preview"
    }

    /// Are external, and declare variables as other libraries have them.
    struct Mail: Feature, External {
        var name = "real"
        static func load(in container: any FeatureContainer) -> Mail { Mail() }
        static var placeholder: Mail { Mail(name: "placeholder") }
        static let testValue = Mail(name: "for tests")
    }
    enum Ledger: ThrowingFeature, External {
        static func load(in container: any FeatureContainer) throws -> String { "real" }
        static let testValue = "for tests"
    }
    enum Bank: AsyncFeature, External {
        static func load(in container: any FeatureContainer) async throws -> String { "real" }
        func testValue(in container: any FeatureContainer) -> Int { 1 }
    }
    struct Stamp: Feature, External {
        static func load(in container: any FeatureContainer) -> Stamp { Stamp() }
        static var placeholder: Stamp { Stamp() }
    }

    @Test("A strict container reports the load of a type with a placeholder or a preview but without External (law 19)")
    func withoutExternal() async throws {
        @Sendable func readAll(in container: Container) async throws {
            expect(container[Press.self].text, equals: "realreal")
            try await expect(container[Paper.self] + container[Depot.self], equals: "realreal")
            expect(container[Named.self], equals: container === Container.current ? "for tests" : "real")
        }
        let found = await issues {
            try await readAll(in: .program())
            try await runCase(.container) {
                try await readAll(in: .current)
                Container.current.update {
                    $0.reset(Radio.self)
                    $0.reset(Press.self)
                }
                _ = Container.current[Press.self]
            }
        }
        expect(
            found.map { String($0.text.prefix { $0 != "\n" }) },
            equals: [("Radio", "placeholder"), ("Paper", "preview"), ("Depot", "placeholder")].map {
                "Fugu: \($0) was loaded for real, since it isn't External, so its static \($1) isn't used."
            })
        let rest = "\nPath: Press → Radio\nFix: conform StrictLeftoverTests.Radio to External, "
        expect(found.first?.text.contains(rest) == true, "\(found)")
    }

    @Test("A refusal names the testValue of an external type, which isn't used (law 19)")
    func variable() async throws {
        let found = await issues {
            try await runCase(.container) {
                let container = Container.current
                expect(container[Mail.self].name, equals: "placeholder")
                #expect(throws: LoadError.self) { try container[Ledger.self] }
                await #expect(throws: LoadError.self) { try await container[Bank.self] }
                _ = container[Stamp.self]
            }
        }
        let line =
            "\n(Its testValue isn't used: declare it as static func testValue(in container: any FeatureContainer).)"
        expect(found.map { $0.text.hasSuffix(line) }, equals: [true, true, true, false], "\(found)")
    }
}
