import Fugu
import FuguConfiguration
import FuguScopes
@testable import FuguTesting
import StrictnessCases
import Support
import Testing

// One at a time, since all change Container.shared.
@Suite("The containers of the program in a test process, and failures that don't know their test (law 19)", .serialized)
struct StrictSharedTests {}

extension StrictSharedTests {
    private static func used(_ what: String, at line: Int? = nil, of key: String = "", in member: String = "") -> String
    {
        return
            "Fugu: \(what), in a test that has its own container. What the test sets isn't there.\n"
            + path(line, key, member)
            + "Fix: use Container.current. It's the test's container in a test, and Container.shared in the program."
    }

    private static func path(_ line: Int?, _ key: String, _ member: String) -> String {
        line.map { "Path: the test → \(key), in \(member) at FuguTestingTests/StrictSharedTests.swift:\($0)\n" } ?? ""
    }

    @Test("A test with a container fails where it reads, changes, or observes Container.shared (law 19)")
    func uses() async throws {
        let line = #line + 5
        let found = try await texts {
            try await runCase(.container) {
                let shared = Container.shared
                for _ in 1...2 {
                    _ = shared[Doubled.self]
                    _ = try? await shared[Loose.self]
                    _ = shared[Number.self]
                    _ = shared.observable.pressure
                    _ = shared.ifLoaded(\.label)
                    shared.pressure = 2
                    shared.replace(\.label) { _ in "replaced" }
                    shared.update { $0.pressure = 3 }
                    shared.modify(\.pressure) { $0 += 1 }
                    shared.reset(\.pressure)
                    shared.reset(\.label)
                    shared.observe(\.pressure) { _ in }.cancel()
                    for await _ in shared.values(of: \.pressure) { break }
                    _ = shared.child()
                    _ = Container(copying: shared)
                }
            }
        }
        let (type, other) = ("was read through Container.shared", "was changed through Container.shared")
        expect(
            found,
            equals: [
                Self.used("Doubled \(type)", at: line, of: "Doubled", in: "uses()"),
                Self.used("Loose \(type)", at: line + 1, of: "Loose", in: "uses()"),
                Self.used("Number \(type)"), Self.used(#"\.pressure was observed through Container.shared"#),
                Self.used(#"\.pressure \#(type)"#), Self.used(#"\.label \#(type)"#),
                Self.used(#"\.pressure \#(other)"#), Self.used(#"\.label \#(other)"#),
                Self.used("Container.shared was changed"),
                Self.used("a child of Container.shared was made"), Self.used("Container.shared was copied"),
            ])
        let others: [(String, @Sendable () throws -> Void)] = [
            ("Container.shared was changed", { Container.shared.invalidateScopes() }),
            ("a teardown closure was registered with Container.shared", { Container.shared.onClose {} }),
            (
                "Container.shared was changed",
                { try Container.shared.apply(DictionarySource([:], name: "nothing")) }
            ),
        ]
        for (what, change) in others {
            let found = try await texts { try await runCase(.container) { try change() } }
            expect(found, equals: [Self.used(what)])
        }
    }

    struct Loose: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Int { 1 }
    }

    /// Reads the program's container, as code does that wasn't written for tests.
    struct Legacy {
        @Injected({ $0.pressure }, in: Container.shared) var pressure
    }

    @Test("So does code that runs in a task of that test; an external feature is reported once, at its place (law 19)")
    func tasks() async throws {
        let legacy = Legacy()
        let line = #line + 5
        let wrapper = line - 11
        let found = try await texts {
            try await runCase(.container) {
                await Task {
                    _ = Container.shared[Mailer.self]
                    _ = legacy.pressure
                    _ = Container.with(.shared) { Container.current[Number.self] }
                    _ = Container.shared.child()[Signup.self]
                }.value
            }
        }
        expect(
            found,
            equals: [
                Self.used("Mailer was read through Container.shared", at: line, of: "Mailer", in: "tasks()"),
                Self.used(
                    #"\.pressure was read through Container.shared"#, at: wrapper, of: #"\.pressure"#, in: "@Injected"
                ),
                Self.used("Number was read through Container.shared"),
                Self.used("a child of Container.shared was made"),
            ])
    }

    @Test("So does one that makes its container by hand, as far as the operation goes, and the advice fits (law 19)")
    func usesByHand() async throws {
        struct Level: Property { static var defaultValue: Int { 0 } }
        let child = Container.shared.child()
        let line = #line + 5
        let found = await texts {
            for _ in 1...2 {
                Container.strict { _ in
                } operation: {
                    for _ in 1...2 { _ = Container.shared[Doubled.self] }
                    _ = child[Mailer.self]
                }
            }
            await Container.strict { _ in
            } operation: { () async in
                await Task { Container.shared[Level.self] = 2 }.value
                Container.with(.shared) { Container.current.reset(Level.self) }
            }
            _ = Container.shared[Doubled.self]
        }
        let read = Self.used("Doubled was read through Container.shared", at: line, of: "Doubled", in: "usesByHand()")
        expect(
            found,
            equals: [read, read, Self.used("Level was changed through Container.shared")])
        let refused = await texts {
            Container.strict { _ in
            } operation: {
                _ = child[Mailer.self]
            }
        }
        expect(
            refused.first?.hasSuffix(
                "Fix: read it from Container.current instead of Container.shared, which the test doesn't configure, and set it "
                    + "where the test makes its container: Container.strict { $0[Mailer.self] = … } operation: { … }"),
            equals: true, "\(refused)")
    }

    @Test("A test without a trait is warned, once for each key, that what it changes there stays for others (law 19)")
    func changes() async throws {
        func text(_ what: String) -> String {
            "Fugu: \(what), in a test that has no container of its own. Tests that run later see the change, too.\nFix: do it in a "
                + "container of the test: @Test(.container { … })."
        }
        /// Set for the first time.
        struct Level: Property { static var defaultValue: Int { 0 } }
        let shared = Container.shared
        let found = await texts {
            for pressure in [2, 3] { shared.pressure = pressure }
            shared.reset(\.pressure)
            shared.replace(\.label) { _ in "replaced" }
            shared.decorate(\.label) { label, _ in label + ", decorated" }
            shared.reset(\.label)
            shared.contribute(to: \.tags) { _ in "tag" }
            shared.reset(\.tags)
            shared[Level.self] = 1
            shared.update { _ in }
        }
        expect(
            found,
            equals: [#"\.pressure"#, #"\.label"#, #"\.tags"#, "Level"].map {
                text("\($0) was changed through Container.shared")
            } + [text("Container.shared was changed")])
        let message = Messages.changesShared(.changed, "Number", .xctest)
        expect(message.hasSuffix(": Container.strict { … } operation: { … }."))
        expect(Messages.changesShared(.closed, nil, .nobody).hasPrefix("Fugu: Container.shared was closed, in a test"))
    }

    @Test(
        "Reads without a trait are reported nowhere, and what a live container sets does not reach Container.shared (law 19)"
    )
    func allowed() async throws {
        // Reads without a trait, what is set in a child, and a test's own container are reported nowhere.
        do {
            let found = await issues {
                expect(Container.shared.child { $0.pressure = 2 }.pressure, equals: 2)
                expect(Container.current[Doubled.self].value, equals: 0)
                // That's how the program starts, unless tests run meanwhile.
                await Task.detached {
                    Failure.$recorder.withValue(Failure.Recorder { _, _ in }) {
                        Container.shared.pressure = 2
                        Container.shared.reset(\.pressure)
                    }
                }.value
                try await runCase(.container) {
                    Container.current.pressure = 5
                    expect(Container.current.child().pressure, equals: 5)
                }
                try await runCase(.liveContainer) { expect(Container.current.pressure, equals: 1) }
            }
            expect(found.map(\.text), equals: [])
        }
        // A live container sees what was set in Container.shared and leaves nothing there.
        do {
            struct Start: Property { static var defaultValue: String { "default" } }
            await Task.detached {
                Failure.$recorder.withValue(Failure.Recorder { _, _ in }) {
                    Container.shared[Start.self] = "set at the start"
                }
            }.value
            let made = Container.with(.shared) {
                Container.live {
                    expect(Container.current[Start.self], equals: "set at the start")
                    return Container.current[Account.self].signup.mailer.name
                }
            }
            expect(made, equals: "live")
            expect(Container.shared.ifLoaded(Account.self) == nil)
        }
    }

    // MARK: Containers of other tests

    /// Kept by something global.
    private struct Kept: Feature {
        let container = Container.current
        static func load(in container: any FeatureContainer) -> Kept { Kept() }
    }

    @Test(
        "A test fails where it loads, changes, or makes something in the container of another test (law 19)",
        arguments: [ContainerTrait.container, .liveContainer], [true, false])
    func others(trait: ContainerTrait, isRunning: Bool) async throws {
        let (kept, name) = (Log<Kept>(), try #require(Test.current).readableName)
        let line = #line + 4
        let use: @Sendable () async throws -> Void = {
            try await runCase(.container) {
                for _ in 1...2 {
                    expect(kept.all[0].container[Doubled.self].value, equals: 0)
                    kept.all[0].container.reset(\.label)
                    _ = kept.all[0].container.child()
                    // What's there is read as fast as elsewhere.
                    expect(kept.all[0].container[Number.self], equals: 0)
                }
            }
        }
        let found = try await texts {
            try await runCase(trait) {
                Container.current[Number.self] = 0
                kept.add(Kept())
                expect(kept.all[0].container.child()[Number.self], equals: 0)
                if isRunning { try await use() }
            }
            if !isRunning { try await use() }
        }
        func text(_ what: String, at line: Int? = nil, of key: String = "", in member: String = "") -> String {
            "Fugu: \(what), in another case of it.\n" + Self.path(line, key, member) + Self.makeAnew
        }
        let uses = [
            text(
                "Doubled was read through a container of the test \(name)", at: line, of: "Doubled",
                in: "others(trait:isRunning:)"),
            text(#"\.label was changed through a container of the test \#(name)"#),
            text("a child of a container of the test \(name) was made"),
        ]
        expect(found, equals: uses)
    }

    private static let makeAnew =
        "Fix: make anew in each test what keeps that container, or an @Injected made in it, such as a global or a static property; or "
        + "let it read from Container.current. A container that tests share is made in Container.with(.shared) { … }."

    /// Makes a container for a suite.
    private struct Shared: SuiteTrait, TestScoping {
        func provideScope(
            for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
        ) async throws { try await Container.with(Container()) { try await function() } }
    }

    @Suite(Shared()) struct OneForAll {
        @Test("The tests of a suite may share the container that a trait has made for it (law 19)", arguments: 1...2)
        func first(number: Int) async { await use() }
        @Test("So may another test of it (law 19)")
        func second() async { await use() }

        private func use() async {
            let found = await issues { Container.current.child { $0.label = "own" }.pressure = 2 }
            expect(found.map(\.text), equals: [])
        }
    }

    /// Each is made in the test that uses it first.
    private enum Globals {
        static let root = Container()
        static let child = Container.shared.child()
        static let copy = Container(copying: Container())
        static let live = Container.live { Container() }
        static let liveCopy = Container.live { Container.current }
        static let shared = Container.with(.shared) { Container() }
        static let scope = Container.shared.scope("/globals")
        static let users = Log<String>()

        /// Lives in the shared container.
        struct Cache: Feature {
            let container: Container
            static var home: Home { .shared }
            static func load(in container: any FeatureContainer) -> Cache { Cache(container: Container()) }
        }
    }

    /// Uses all global containers, of which the second test that does is warned.
    private func useGlobals() async throws {
        let name = try #require(Test.current).readableName
        let found = try await texts {
            for container in [
                Globals.live, Globals.liveCopy, Globals.shared, Container.shared[Globals.Cache.self].container,
                Globals.scope, Globals.root, Globals.child, Globals.copy,
            ] {
                container.label = name
                expect(container.label, equals: name)
                expect(container.child().label, equals: name)
            }
            try await runCase(.container) {
                for container in [Globals.live, Globals.shared, Globals.root] {
                    for _ in 1...2 { expect(container.label, equals: name) }
                    _ = container.child()
                }
            }
        }
        let first = Globals.users.all.first
        Globals.users.add(name)
        guard let first else { return expect(found, equals: []) }
        let text = "Fugu: a child of a container of the test \(first) was made, in another test.\n" + Self.makeAnew
        expect(found, equals: [text, text, text])
    }

    @Test("A test is warned of a root that another one has made (law 19)")
    func globals() async throws { try await useGlobals() }

    @Test("It is warned once for each container, and fails if it has one of its own (law 19)")
    func globalsAgain() async throws { try await useGlobals() }

    @Test("The test itself may use its container when it has ended (law 19)")
    func endedOwn() async throws {
        let found = await issues {
            let (gate, task) = (Gate(), Log<Task<Int, Never>>())
            try await runCase(.container { $0.pressure = 5 }) {
                let container = Container.current
                task.add(
                    Task {
                        await gate.opened()
                        return container.pressure
                    })
            }
            gate.open()
            expect(await task.all[0].value, equals: 5)
        }
        expect(found.map(\.text), equals: [])
    }

    // MARK: Roots that the program makes

    /// A program that makes its own container.
    private static func run() -> String { Container()[Account.self].signup.mailer.name }

    @Test("A root that the program makes in a test is strict, with a trait and without one (law 19)")
    func roots() async throws {
        let place = try #require(Test.current?.sourceLocation)
        let found = await issues {
            expect(Self.run(), equals: "placeholder")
            try await runCase(.container { $0[Mailer.self] = Mailer(name: "double") }) {
                expect(Self.run(), equals: "placeholder")
                await expect(Task { Self.run() }.value, equals: "placeholder")
            }
        }
        expect(found.count, equals: 2)
        let text =
            "Fugu: Mailer reaches outside the process and wasn't set for this test.\nPath: Account → Signup → Mailer\nFix: the program "
            + "made this container with Container(). Let it take one from the test, such as Container.current.child(), and set the "
            + "feature in the test's trait: .container { $0[Mailer.self] = … }. To use the real feature, run the program in "
            + "Container.live { … }."
        expect(found.allSatisfy { $0.text == text && $0.place == place }, "\(found)")
    }

    @Test("What it reports fails a test that has a container of its own, also off its task (law 19)")
    func reports() async throws {
        let test = try #require(Test.current)
        @Sendable func report(in container: Container = Container()) { container.child().report("wrong") }
        let found = await issues {
            let recorder = Failure.recorder
            let root = Container.strict { _ in
            } operation: {
                Container()
            }
            report(in: root)
            await Task.detached { Failure.$recorder.withValue(recorder) { report(in: root) } }.value
            root.handleReports { _ in }
            report(in: root)
            try await runCase(.container) { report() }
        }
        let note = "\n(This happened on a thread or in a detached task of the test \(test.displayName ?? "").)"
        expect(found.map(\.text), equals: ["wrong", "wrong" + note, "wrong"])
        expect(found.allSatisfy { $0.place == test.sourceLocation })
    }

    @Test("What a root reports that is made while the shared container is bound is printed, and fails no test (law 19)")
    func printed() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let root = Container.strict { _ in
            } operation: {
                Container.with(.shared) { Container() }
            }
            root.child().report("wrong")
        }
        expectMessage(of: result, "wrong")
    }

    @Test("A root gives values for tests, and one that is made live, or a copy of it, loads the real features (law 19)")
    func liveRoots() async throws {
        let found = await issues {
            let root = Container()
            expect(root.gauge, equals: "for tests")
            expect(root.isStrict)
            try await runCase(.liveContainer) { expect(Self.run(), equals: "live") }
            let live = Container.live {
                expect(Self.run(), equals: "live")
                return Container()
            }
            expect(live.gauge, equals: "live")
            expect(Container(copying: live).gauge, equals: "live")
            expect(live.child().isStrict, equals: false)
        }
        expect(found.map(\.text), equals: [])
    }

    // MARK: Failures that don't know their test

    @Test("A failure of an object of the test says which test it was, on a thread that doesn't know it (law 19)")
    func named() async throws {
        let test = try #require(Test.current)
        let found = await issues {
            let (container, recorder) = (Container.strict(), Failure.recorder)
            await Task.detached { Failure.$recorder.withValue(recorder) { _ = container[Mailer.self] } }.value
        }
        expect(found.count, equals: 1)
        expect(found.first?.place, equals: test.sourceLocation)
        let note = "\n(This happened on a thread or in a detached task of the test \(test.displayName ?? "").)"
        expect(found.first?.text.hasSuffix(note), equals: true)
    }

    @Test("A failure of which neither the test nor the place is known says how the place is found (law 19)")
    func withoutPlace() async throws {
        let found = await issues {
            let recorder = Failure.recorder
            await Task.detached {
                Failure.$recorder.withValue(recorder) {
                    _ = Container.shared.sender
                    _ = Container.shared.typeless
                }
            }.value
        }
        let begin = "\n(The place isn't known, because this was read by member. "
        expect(
            found.first?.text.contains(begin + "A read by type, container[Mailer.self], has a place.)"), equals: true,
            "\(found)")
        expect(found.first?.place?.fileID, equals: "unknown/unknown-place")
        expect(found.last?.place?.fileName, equals: "StrictSharedTests.swift")
        expect(found.last?.text.contains("place isn't known"), equals: false)
    }

    @Test("Messages name the tests that a thread, an argument, or a condition belongs to (law 19)")
    func messages() {
        expect(Messages.ofUnknown("text", []), equals: "text")
        expect(
            Messages.ofUnknown("text", ["a()"]),
            equals: "text\n(Which test this belongs to isn't known. Of those with a container, a() was running; it may "
                + "also belong to one without, or to one that has ended.)")
        let several = Messages.ofUnknown("text", ["a()", "b()", "a()"])
        expect(several.contains(" Of those with a container, a() and b() were running;"))
        expect(
            Messages.beforeTest("text", "a()"),
            equals:
                "text\n(This happened in an argument or a condition of the test a(), before it has a container. Pass "
                + "what that needs, or use it in the test itself.)")
    }

    @Test("A case is among those that run until it ends (law 19)")
    func running() async throws {
        let isRunning = Log<Bool>()
        let (number, other) = (Log<Int>(), Gate())
        try await runCase(.container) {
            number.add(TestCase.current!.number)
            isRunning.add(TestCase.running.contains { $0 === TestCase.current })
            other.open()
        }
        isRunning.add(TestCase.running.contains { $0.number == number.all[0] })
        expect(isRunning.all, equals: [true, false])
    }
}

extension ContainerKeys {
    fileprivate var pressure: PropertyKey<Int> { .init(defaultValue: 1) }
    fileprivate var tags: FeatureKey<[String]> { .init { _ in [] } }
    fileprivate var sender: FeatureKey<Mailer> { .init(Mailer.self) }
    fileprivate var typeless: FeatureKey<Int> { .init(placeholder: { 0 }) { _ in 1 } }
    fileprivate var label: FeatureKey<String> { .init { _ in "label" } }
    fileprivate var gauge: FeatureKey<String> { .init(testValue: { _ in "for tests" }) { _ in "live" } }
}

/// Law 19: what a process that links FuguTesting does, as far as one process can show it; the rest is in StrictPackage.
struct StrictProcessTests {
    @Test("Instances loaded before a container became strict can be dropped; set ones stay (law 19)")
    func dropping() {
        let container = Container.program()
        let child = container.child { $0[Number.self] = 2 }
        container[Number.self] = 1
        expect(container[Account.self].signup.mailer.name, equals: "live")
        expect(container[Doubled.self].value, equals: 2)
        container.makeStrict(Strictness { _ in })
        expect(container[Account.self].signup.mailer.name, equals: "live")
        container.dropLoadedFeatures()
        expect(container.ifLoaded(Account.self) == nil)
        expect(container.ifLoaded(Mailer.self) == nil)
        expect(container[Account.self].signup.mailer.name, equals: "placeholder")
        expect(container[Doubled.self].value, equals: 2)
        expect(child[Doubled.self].value, equals: 4)
    }

    @Test("What stops the process names the test, or those that are running where it isn't known (law 19)")
    func traps() async throws {
        let name = try #require(Test.current?.displayName)
        let inTest = "why\n(This happened in the test \(name).)"
        expect(Runner().naming("why"), equals: inTest)
        try await runCase(.container) {
            expect(Runner().naming("why"), equals: inTest)
            let detached = await Task.detached { Runner().naming("why") }.value
            // Of many names, it has the first ones.
            expect(detached.hasPrefix("why\n(Which test this belongs to isn't known. Of those with "), "\(detached)")
        }
    }

    @Test("Advice can be pasted in every case (law 19)")
    func advice() async throws {
        let line = "$0[Mailer.self] = …"
        expect(Messages.adviceForShared(line, .xctest).contains("Container.strict { \(line) } operation: { … }"))
        expect(Messages.adviceForShared(line, .xctest).contains("Container.live { … }"))
        expect(Messages.adviceForShared(line, .unknownTest).contains("@Test(.container { \(line) })"))
        expect(Messages.adviceForShared(line, .nobody).contains("Container.live { … }"))
        let test = try #require(Test.current)
        expect(Messages.adviceForShared(line, .test(test)).contains("@Test(.container { \(line) })"))
        let testCase = TestCase(of: test)
        expect(Messages.adviceForShared(line, .testCase(testCase)).hasSuffix(".container { \(line) }"))
        expect(Messages.adviceForTrait(line).hasSuffix(".container { \(line) }"))
        expect(
            Messages.adviceForRoot(nil).contains(
                ".child(), and give the test a container in the test's trait: .container. To"))
        expect(Messages.adviceByHand(line).hasSuffix("Container.strict { \(line) }"))
    }
}
