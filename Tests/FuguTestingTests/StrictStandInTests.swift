import Foundation
@testable import Fugu
import FuguConfiguration
import FuguInspection
@testable import FuguTesting
import StrictnessCases
import Support
import Testing

private protocol Store: Sendable { var name: String { get } }
private struct Named: Store { let name: String }

extension ContainerKeys {
    fileprivate var store: FeatureKey<any Store> { .init(isExternal: true) { _ in Named(name: "real") } }
    fileprivate var cache: FeatureKey<any Store> {
        .init(isExternal: true, testValue: { _ in Named(name: "for tests") }) { _ in Named(name: "real") }
    }
    fileprivate var drawer: PropertyKey<Int> { .init(defaultValue: 0) }
    fileprivate var labeled: FeatureKey<any Store> { .init(isExternal: true) { Named(name: "real \($0.drawer)") } }
    fileprivate var shelf: MainActorFeatureKey<any Store> { .init(isExternal: true) { _ in Named(name: "real") } }
    fileprivate var shown: FeatureKey<any Store> {
        .init(isExternal: true, preview: { _ in Named(name: "preview") }) { _ in Named(name: "real") }
    }
}

private struct SharedShop: Feature {
    let name: String
    static func load(in container: any FeatureContainer) -> SharedShop { SharedShop(name: container.store.name) }
}
private struct Shop: Feature {
    let name: String
    static func load(in container: any FeatureContainer) -> Shop { Shop(name: container.store.name) }
}

/// Law 19: keys that are external without a stand-in.
struct StrictStandInTests {
    @Test("A read without a stand-in fails the test once, with the path and the fix, and gives the real one (law 19)")
    func refused() async {
        let found = await issues {
            try await runCase(.container) {
                for _ in 1...50 { expect(Container.current[Shop.self].name, equals: "real") }
                for _ in 1...3 {
                    expect(Container.current.child { $0.session = Session() }[Shop.self].name, equals: "real")
                }
            }
        }
        let lines = [
            #"Fugu: \.store reaches outside the process and wasn't set for this test."#,
            #"Path: Shop → \.store"#,
            "Fix: set it in the test's trait: .container { $0.store = … }",
            "(The test goes on with the real one, since this read can't throw. With a testValue, "
                + #"\.store gives that.)"#,
        ]
        expect(found.map(\.text), equals: [lines.joined(separator: "\n")])
    }

    @Test("So does one of the main actor, and one in a child that loads it again fails the test no more (law 19)")
    func ofMainActor() async {
        let found = await issues {
            try await runCase(.container) {
                expect(await Container.current[ContainerKeys().shelf].name, equals: "real")
                for number in 1...3 {
                    let child = Container.current.child { $0.drawer = number }
                    expect(child.labeled.name, equals: "real \(number)")
                }
            }
        }
        expect(found.filter { $0.text.contains("reaches outside the process and") }.count, equals: 2, "\(found)")
        expect(found.first?.text.hasPrefix(#"Fugu: \.shelf reaches outside"#) == true)
    }

    @Test("Container.shared keeps nothing of it, so that each test that reads it there fails (law 19)")
    func ofShared() async {
        for _ in 1...2 {
            let found = await issues { expect(Container.shared[SharedShop.self].name, equals: "real") }
            expect(found.count == 1 && Container.shared.ifLoaded(SharedShop.self) == nil)
            expect(Container.shared.ifLoaded(\.store) == nil)
        }
    }

    @Test("A loop of reads of a throwing feature fails the test once, and each read throws (law 19)")
    func throwing() async {
        let thrown = Counter()
        let found = await issues {
            try await runCase(.container) {
                for _ in 1...50 {
                    do { _ = try Container.current[Remote.self] } catch { thrown.add() }
                }
            }
        }
        expect(found.count == 1 && thrown.value == 50, "\(found)")
    }

    struct Remote: ThrowingFeature, External {
        static func load(in container: any FeatureContainer) throws -> Remote { Remote() }
    }

    @Test("Once it's set, replaced, or given a value for tests, the test gets that, and nothing fails (law 19)")
    func given() async throws {
        let found = await issues {
            try await runCase(.container { $0.store = Named(name: "double") }) {
                expect(Container.current[Shop.self].name, equals: "double")
                let child = Container.current.child()
                child.replace(\.store) { _ in Named(name: "replaced") }
                expect(child[Shop.self].name, equals: "replaced")
                expect(Container.current.cache.name, equals: "for tests")
            }
            try await runCase(.liveContainer) { expect(Container.current[Shop.self].name, equals: "real") }
        }
        expect(found.map(\.text), equals: [])
        expect(Container.program()[Shop.self].name, equals: "real")
        expect(Container.program().cache.name, equals: "real")
    }

    @Test(
        "An observation and a warm-up fail the test and go on; a check lists it, without loading it (law 19)",
        .timeLimit(.minutes(5)))
    func observed() async {
        // An observation fails the test, and sees the real one.
        do {
            let found = await issues {
                let container = Container.strict()
                for await store in container.values(of: \.store) {
                    expect(store.name, equals: "real")
                    break
                }
                container.store = Named(name: "set")
                for await store in container.values(of: \.store) {
                    expect(store.name, equals: "set")
                    break
                }
            }
            expect(found.count, equals: 1)
            expect(found.first?.text.hasPrefix(#"Fugu: \.store reaches outside"#) == true, "\(found)")
        }
        // A warm-up fails the test, and goes on.
        do {
            let found = await issues { try await Container.strict().warmUp { $0.load(\.store) } }
            expect(found.count == 1 && found[0].text.hasPrefix(#"Fugu: \.store reaches outside"#), "\(found)")
        }
        // A check lists it, without loading it.
        do {
            let container = Container.program()
            let check = await container.check { $0.load(\.store) }
            expect(check.unknown.map(\.name), equals: [#"\.store"#])
            expect(check.shared.map(\.name), equals: [])
            _ = container.store
            expect(container.graph.entries.first { $0.name == #"\.store"# }?.isExternal == true)
        }
    }

    @Test("An Xcode preview gives its preview, and without one stops the process with a message")
    func preview() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            setenv("XCODE_RUNNING_FOR_PREVIEWS", "1", 1)
            precondition(Container.program().shown.name == "preview")
            _ = Container.program().store
        }
        expectMessage(
            of: result, #"Fugu: \.store reaches outside the process and has no preview"#, "Fix: give the key a preview")
    }
}

private struct Session: Sendable, Equatable { var user = "guest" }

extension ContainerKeys {
    fileprivate var session: PropertyKey<Session> { .required() }
    fileprivate var account: PropertyKey<Session> { .required { Session(user: "tester") } }
    fileprivate var databaseURL: PropertyKey<String> { .required("law29.url") }
    fileprivate var databaseUser: PropertyKey<String> { .required("law29.user", testValue: { "tester" }) }
    fileprivate func seat(_ number: Int) -> PropertyKey<Int> { .required(id: number, testValue: { number }) }
}

private struct Page: Feature {
    let text: String
    static func load(in container: any FeatureContainer) -> Page {
        Page(text: "\(container.account.user) of \(container.databaseUser)")
    }
}
private struct Pool: Feature {
    let url: String
    static func load(in container: any FeatureContainer) -> Pool { Pool(url: container.databaseURL) }
}
private struct Cart: Feature {
    let user: String
    static func load(in container: any FeatureContainer) -> Cart { Cart(user: container.session.user) }
}

/// Law 19: keys that something has to give a value.
struct StrictRequiredTests {
    @Test("A required key needs no name: it has what code sets, and in each child what that sets (laws 1, 10, 11)")
    func withoutName() {
        let container = Container.program().unreported
        let (ada, grace) = (Session(user: "ada"), Session(user: "grace"))
        container.session = ada
        let child = container.child { $0.session = grace }
        expect([container.session, child.session, child.child().session], equals: [ada, grace, grace])
        expect([container[Cart.self].user, child[Cart.self].user], equals: ["ada", "grace"])
        container.modify(\.session) { $0.user += "!" }
        expect(container.session.user, equals: "ada!")
        container[ContainerKeys().seat(1)] = 7
        expect(container.child()[ContainerKeys().seat(1)], equals: 7)
    }

    @Test("In a program, a read of a missing value stops it with the path and what to do, whatever tests have")
    func missingInProgram() async {
        let unnamed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = Container.program()[Cart.self]
        }
        expectMessage(
            of: unnamed, #"Fugu: \.session is required, and nothing gives a value for it."#, #"Path: Cart → \.session"#,
            "Fix: set it in this container, or in one above, before it's read.")
        let named = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = Container.program().databaseUser
        }
        expectMessage(
            of: named, "Fugu: law29.user is required, and nothing gives a value for it.",
            "Fix: set it, or apply a source that has it.")
    }

    @Test("A missing value fails the test, with the path and the fix, and gives the empty value of its type (law 19)")
    func missingInTest() async {
        let found = await issues {
            try await runCase(.container) {
                for _ in 1...50 { expect(Container.current[Pool.self].url, equals: "") }
            }
        }
        let text =
            """
            Fugu: \\.databaseURL has to be supplied and wasn't set for this test.
            Path: Pool → \\.databaseURL
            Fix: set it in the test's trait: .container { $0.databaseURL = … }
            """
        expect(found.map(\.text), equals: [text])
    }

    @Test("Without an empty value, it stops the process, because there's nothing to give (law 19)")
    func missingWithoutEmpty() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            await printingFailures { _ = Container.strict()[Cart.self] }
        }
        let text =
            "(The process stops, because this read can't throw, and its type has no empty value. With a testValue, "
        expectMessage(
            of: result, #"Failed: Fugu: \.session has to be supplied"#, #"Path: Cart → \.session"#,
            text + #"\.session gives that.)"#)
    }

    @Test("A value for tests, and else the empty value of its type, is what each test's container gives (law 19)")
    func valueForTests() async throws {
        // A value for tests is what each test's container gives where nothing else does.
        do {
            let found = await issues {
                try await runCase(.container) {
                    let container = Container.current
                    container.declare(\.databaseUser)
                    try container.validate()
                    expect(container[Page.self].text, equals: "tester of tester")
                    expect(try container.require(\.databaseUser), equals: "tester")
                    expect([1, 2].map { container[ContainerKeys().seat($0)] }, equals: [1, 2])
                    let child = container.child { $0.account.user += "!" }
                    expect(child[Page.self].text, equals: "tester! of tester")
                    let other = container.child()
                    try other.apply(DictionarySource(["law29.user": "ada"], name: "law29"))
                    expect(other.databaseUser, equals: "ada")
                }
                try await runCase(.container { $0.account = Session(user: "set") }) {
                    expect(Container.current[Page.self].text, equals: "set of tester")
                }
            }
            expect(found.map(\.text), equals: [])
        }
        // Types of many kinds have an empty value, and others have none.
        do {
            expect(
                emptyValue(of: Int.self) == 0 && emptyValue(of: Double.self) == 0 && emptyValue(of: Bool.self) == false)
            expect(
                emptyValue(of: String.self) == "" && emptyValue(of: [Int].self) == []
                    && emptyValue(of: Data.self) == Data()
            )
            expect(emptyValue(of: Set<Int>.self) == [] && emptyValue(of: [String: Int].self) == [:])
            expect(emptyValue(of: Int?.self) == .some(nil) && emptyValue(of: Duration.self) == .zero)
            expect(emptyValue(of: Session.self) == nil && emptyValue(of: URL.self) == nil)
        }
    }

    @Test(
        "Container.shared gives a value for tests to no test as its own, and an observation sees no missing value (law 19)",
        .timeLimit(.minutes(5)))
    func elsewhere() async throws {
        // Container.shared gives it to no test as its own, and a live container gives none.
        do {
            let found = await issues { expect(Container.shared.account.user, equals: "tester") }
            expect(found.count, equals: 1)
            expect(
                found.first?.text.hasPrefix(
                    #"Fugu: \.account has a value for tests, which only a container of the test's own gives."#) == true)
            try await runCase(.liveContainer) {
                #expect(throws: PropertyError.self) { try Container.current.require(\.databaseUser) }
            }
        }
        // An observation of a missing value fails the test, and sees none.
        do {
            let found = await issues {
                for await _ in Container.strict().values(of: \.session) { Issue.record("there is no value") }
            }
            expect(found.count, equals: 1)
        }
    }

    @Test("An Xcode preview gives the value for tests")
    func preview() async {
        await #expect(processExitsWith: .success) {
            setenv("XCODE_RUNNING_FOR_PREVIEWS", "1", 1)
            precondition(Container.program()[Page.self].text == "tester of tester")
        }
    }
}
