import Foundation
import Fugu
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
    fileprivate var shelf: MainActorFeatureKey<any Store> { .init(isExternal: true) { _ in Named(name: "real") } }
    fileprivate var shown: FeatureKey<any Store> {
        .init(isExternal: true, preview: { _ in Named(name: "preview") }) { _ in Named(name: "real") }
    }
}

private struct Shop: Feature {
    let name: String
    static func load(in container: any FeatureContainer) -> Shop { Shop(name: container.store.name) }
}

/// Law 29: keys that are external without a stand-in.
struct StrictStandInTests {
    @Test("A read without a stand-in fails the test and stops the process, with the path and the fix (law 29)")
    func refused() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            await printingFailures { _ = Container.strict()[Shop.self] }
        }
        let lines = [
            #"Fugu: \.store reaches outside the process and wasn't set for this test."#,
            #"Path: Shop → \.store"#,
            "Fix: set it where the test makes its container: Container.strict { $0.store = … }",
            "(The process stops, because this read can't throw and has nothing to give. With a testValue, "
                + #"\.store gives that.)"#,
        ]
        let text = lines.joined(separator: "\n")
        expectMessage(of: result, "Failed: \(text)\n", "Fatal error: \(text)")
    }

    @Test("One of the main actor stops the process, too (law 29)")
    func ofMainActor() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            await printingFailures { _ = await Container.strict()[ContainerKeys().shelf] }
        }
        let text = #"Fugu: \.shelf reaches outside"#
        expectMessage(of: result, "Failed: \(text)", "Fatal error: \(text)")
    }

    @Test("Once it's set, replaced, or given a value for tests, the test gets that, and nothing fails (law 29)")
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

    @Test("An observation fails the test, and sees no value (law 29)", .timeLimit(.minutes(5)))
    func observed() async {
        let found = await issues {
            let container = Container.strict()
            for await _ in container.values(of: \.store) { Issue.record("there is no value") }
            container.store = Named(name: "set")
            for await store in container.values(of: \.store) {
                expect(store.name, equals: "set")
                break
            }
        }
        expect(found.count, equals: 1)
        expect(found.first?.text.hasPrefix(#"Fugu: \.store reaches outside"#) == true, "\(found)")
    }

    @Test("A warm-up fails the test, and throws (law 29)")
    func warmUp() async {
        let thrown = Log<String>()
        let found = await issues {
            do { try await Container.strict().warmUp { $0.load(\.store) } } catch let error as WarmUpError {
                for failure in error.failures { thrown.add(failure.path.joined(separator: " → ")) }
            }
        }
        expect(found.count, equals: 1)
        expect(thrown.all, equals: [#"\.store"#])
    }

    @Test("A check lists it, without loading it (law 29)")
    func check() async {
        let container = Container.program()
        let check = await container.check { $0.load(\.store) }
        expect(check.unknown.map(\.name), equals: [#"\.store"#])
        expect(check.shared.map(\.name), equals: [])
        _ = container.store
        expect(container.graph.entries.first { $0.name == #"\.store"# }?.isExternal == true)
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

/// Law 29: keys that something has to give a value.
struct StrictRequiredTests {
    @Test("A required key needs no name: it has what code sets, and in each child what that sets (laws 1, 14, 15)")
    func withoutName() {
        let container = Container.program()
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

    @Test("A missing value fails the test and stops the process, with the path and the fix (law 29)")
    func missingInTest() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            await printingFailures { _ = Container.strict()[Pool.self] }
        }
        let text =
            """
            Fugu: \\.databaseURL has to be supplied and wasn't set for this test.
            Path: Pool → \\.databaseURL
            Fix: set it where the test makes its container: Container.strict { $0.databaseURL = … }
            (The process stops, because this read can't throw and has nothing to give. With a testValue, \
            \\.databaseURL gives that.)
            """
        expectMessage(of: result, "Failed: \(text)\n", "Fatal error: \(text)")
        let unnamed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            await printingFailures { _ = Container.strict()[Cart.self] }
        }
        expectMessage(of: unnamed, #"Failed: Fugu: \.session has to be supplied"#, #"Path: Cart → \.session"#)
    }

    @Test("A value for tests is what each test's container gives where nothing else does (law 29)")
    func valueForTests() async throws {
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
                try child.apply(DictionarySource(["law29.user": "ada"], name: "law29"))
                expect(child.databaseUser, equals: "ada")
            }
            try await runCase(.container { $0.account = Session(user: "set") }) {
                expect(Container.current[Page.self].text, equals: "set of tester")
            }
        }
        expect(found.map(\.text), equals: [])
    }

    @Test("Container.shared gives it to no test as its own, and a live container gives none (law 29)")
    func elsewhere() async throws {
        let found = await issues { expect(Container.shared.account.user, equals: "tester") }
        expect(found.count, equals: 1)
        expect(
            found.first?.text.hasPrefix(
                #"Fugu: \.account has a value for tests, which only a container of the test's own gives."#) == true)
        try await runCase(.liveContainer) {
            #expect(throws: PropertyError.self) { try Container.current.require(\.databaseUser) }
        }
    }

    @Test("An observation of a missing value fails the test, and sees none (law 29)", .timeLimit(.minutes(5)))
    func observed() async {
        let found = await issues {
            for await _ in Container.strict().values(of: \.session) { Issue.record("there is no value") }
        }
        expect(found.count, equals: 1)
    }

    @Test("An Xcode preview gives the value for tests")
    func preview() async {
        await #expect(processExitsWith: .success) {
            setenv("XCODE_RUNNING_FOR_PREVIEWS", "1", 1)
            precondition(Container.program()[Page.self].text == "tester of tester")
        }
    }
}
