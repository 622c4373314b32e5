import Fugu
import FuguConfiguration
import StrictnessCases
import Support
import Testing

@testable import FuguTesting

/// Law 29: the containers of the program in a test process, and failures that don't know their test.
// One at a time, since all change Container.shared.
@Suite(.serialized) struct Law29SharedTests {}

extension Law29SharedTests {
    private static func used(_ what: String, at line: Int? = nil, of key: String = "", in member: String = "") -> String
    {
        return
            "Fugu: \(what), in a test that has its own container. What the test sets isn't there.\n"
            + path(line, key, member)
            + "Fix: use Container.current. It's the test's container in a test, and Container.shared in the program."
    }

    private static func path(_ line: Int?, _ key: String, _ member: String) -> String {
        line.map { "Path: the test → \(key), in \(member) at FuguTestingTests/Law29SharedTests.swift:\($0)\n" } ?? ""
    }

    @Test("A test with a container fails where it reads, changes, or observes Container.shared (law 29)")
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
        let others: [@Sendable () throws -> Void] = [
            { Container.shared.invalidateScopes() },
            { Container.shared.onClose {} },
            { try Container.shared.apply(DictionarySource([:], name: "nothing")) },
        ]
        for change in others {
            let found = try await texts { try await runCase(.container) { try change() } }
            expect(found, equals: [Self.used("Container.shared was changed")])
        }
    }

    struct Loose: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Int { 1 }
    }

    /// Reads the program's container, as code does that wasn't written for tests.
    struct Legacy {
        @Injected({ $0.pressure }, in: Container.shared) var pressure
    }

    @Test("So does code that runs in a task of that test; an external feature is reported once, at its place (law 29)")
    func tasks() async throws {
        let legacy = Legacy()
        let line = #line + 10
        // Only debug builds remember where a wrapper stands.
        #if DEBUG
        let wrapper: Int? = line - 16
        #else
        let wrapper: Int? = nil
        #endif
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

    @Test("So does one that makes its container by hand, as far as the operation goes, and the advice fits (law 29)")
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

    @Test("A test without a trait is warned, once for each key, that what it changes there stays for others (law 29)")
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
        "It's warned, once for each place, that it reads there what its strict container gives another value (law 29)",
        arguments: [false, true])
    func besidesStrict(isGone: Bool) async throws {
        struct Other: Property { static var defaultValue: Int { 0 } }
        let line = #line + 2
        let found = try await texts {
            var container: Container? = try Container.strict {
                $0.pressure = 5
                $0[Number.self] = 1
                try $0.apply(DictionarySource(["law29.height": 2], name: "source"))
            }
            expect(Container.with(container!) { Container.current.pressure }, equals: 5)
            if isGone { container = nil }
            for _ in 1...2 {
                _ = (Container.current.pressure, Container.current.height, Container.current.width)
                _ = (Container.current[Other.self], Container.current[Doubled.self])
            }
            await Task.detached { _ = Container.current.pressure }.value
            try await runCase(.container) { _ = Container.current.pressure }
            container = nil
            expect(Container.current.pressure, equals: 1)
        }
        func text(_ key: String, _ path: String = "", _ missed: String? = nil) -> String {
            "Fugu: \(key) was read through Container.shared, while the container that the test has made at "
                + "FuguTestingTests/Law29SharedTests.swift:\(line) has another \(missed ?? key).\(path)\nFix: let the code read "
                + "from that container: run it in Container.with(container) { … }, or in the operation of "
                + "Container.strict { … } operation: { … }."
        }
        let path =
            "\nPath: the test → Doubled → Number, in besidesStrict(isGone:) at FuguTestingTests/Law29SharedTests.swift:\(line + 9)"
        let texts = [text(#"\.pressure"#), text(#"\.height"#), text("Doubled", path, "Number")]
        expect(found, equals: isGone ? [] : texts)
    }

    @Test("It's warned of that for a root, too, that it makes with Container() (law 29)")
    func besidesRoot() async throws {
        let found = await texts {
            let container = Container()
            container.pressure = 5
            for _ in 1...2 { expect(Container.current.pressure, equals: 1) }
            Container.with(container) { expect(Container.current.pressure, equals: 5) }
        }
        expect(found.count, equals: 1)
        expect(
            found.first?.contains(
                #"\.pressure was read through Container.shared, while the container that the test has made has another \.pressure."#
            ) == true)
    }

    @Test("Reads without a trait, what is set in a child, and a test's own container are reported nowhere (law 29)")
    func allowed() async throws {
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

    @Test("A live container sees what was set in Container.shared and leaves nothing there (law 29)")
    func ofShared() async throws {
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

    // MARK: Containers of other tests

    /// Kept by something global.
    private struct Kept: Feature {
        static let line = #line + 2
        let container = Container.current
        @Injected({ $0.pressure }) var pressure
        static func load(in container: any FeatureContainer) -> Kept {
            _ = container.pressure
            return Kept()
        }
    }

    @Test(
        "A test fails where it uses the container of another test, while that runs and afterward (law 29)",
        arguments: [ContainerTrait.container, .liveContainer], [true, false])
    func others(trait: ContainerTrait, isRunning: Bool) async throws {
        let (kept, name) = (Log<Kept>(), try #require(Test.current).readableName)
        let line = #line + 5
        let use: @Sendable () async throws -> Void = {
            try await runCase(.container) {
                for _ in 1...2 {
                    expect(kept.all[0].pressure, equals: 5)
                    expect(kept.all[0].container[Doubled.self].value, equals: 0)
                    kept.all[0].container.reset(\.label)
                    _ = kept.all[0].container.child()
                    // Noticed for sure only afterward, since it's fast.
                    if !isRunning { expect(kept.all[0].container[Number.self], equals: 0) }
                }
            }
            for index in 1...2 {
                try await runCase(.container) { expect(kept.all[index].pressure, equals: 8) }
            }
        }
        let found = try await texts {
            try await runCase(trait) {
                Container.current.pressure = 5
                Container.current[Number.self] = 0
                kept.add(Kept())
                Container.with {
                    $0.pressure = 8
                } operation: {
                    kept.add(Kept())
                    kept.add(Container.current[Kept.self])
                }
                expect(kept.all[0].container.child().pressure, equals: 5)
                if isRunning { try await use() }
            }
            if !isRunning { try await use() }
        }
        #if DEBUG
        let wrapper: Int? = Kept.line
        #else
        let wrapper: Int? = nil
        #endif
        func text(_ what: String, at line: Int? = nil, of key: String = "", in member: String = "") -> String {
            "Fugu: \(what), in another case of it.\n" + Self.path(line, key, member) + Self.makeAnew
        }
        let read = text(
            #"\.pressure was read through a container of the test \#(name)"#, at: wrapper, of: #"\.pressure"#,
            in: "@Injected")
        var uses = [
            read,
            text(
                "Doubled was read through a container of the test \(name)", at: line, of: "Doubled",
                in: "others(trait:isRunning:)"),
            text(#"\.label was changed through a container of the test \#(name)"#),
            text("a child of a container of the test \(name) was made"),
        ]
        if !isRunning { uses.append(text("Number was read through a container of the test \(name)")) }
        expect(found, equals: uses + [read, read])
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
        @Test("The tests of a suite may share the container that a trait has made for it (law 29)", arguments: 1...2)
        func first(number: Int) async { await use() }
        @Test("So may another test of it (law 29)")
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
        let changed = #"\.label was changed through a container of the test \#(first)"#
        let used = [
            changed, changed, changed, #"\.label was read through a container of the test \#(first)"#,
            "a child of a container of the test \(first) was made",
        ]
        expect(found, equals: used.map { "Fugu: \($0), in another test.\n" + Self.makeAnew })
    }

    @Test("A test is warned of a root that another one has made (law 29)")
    func globals() async throws { try await useGlobals() }

    @Test("It is warned once for each container, and fails if it has one of its own (law 29)")
    func globalsAgain() async throws { try await useGlobals() }

    @Test("The test itself may use its container when it has ended (law 29)")
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

    @Test("A root that the program makes in a test is strict, with a trait and without one (law 29)")
    func roots() async throws {
        let place = try #require(Test.current?.sourceLocation)
        let found = await issues {
            expect(Self.run(), equals: "placeholder")
            try await runCase(.container { $0[Mailer.self] = Mailer(name: "double") }) {
                expect(Self.run(), equals: "placeholder")
                await expect(Task { Self.run() }.value, equals: "placeholder")
            }
        }
        expect(found.count, equals: 3)
        let text =
            "Fugu: Mailer reaches outside the process and wasn't set for this test.\nPath: Account → Signup → Mailer\nFix: the program "
            + "made this container with Container(). Let it take one from the test, such as Container.current.child(), and set the "
            + "feature in the test's trait: .container { $0[Mailer.self] = … }. To use the real feature, run the program in "
            + "Container.live { … }."
        expect(found.allSatisfy { $0.text == text && $0.place == place }, "\(found)")
    }

    @Test("What it reports fails a test that has a container of its own, also off its task (law 29)")
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
            report()
        }
        let note = "\n(This happened on a thread or in a detached task of the test \(test.displayName ?? "").)"
        expect(found.map(\.text), equals: ["wrong", "wrong" + note, "wrong"])
        expect(found.allSatisfy { $0.place == test.sourceLocation })
    }

    @Test("A root gives values for tests, and one that is made live, or a copy of it, loads the real features (law 29)")
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

    @Test("A failure of an object of the test says which test it was, on a thread that doesn't know it (law 29)")
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

    private struct Depth: Property { static var defaultValue: Int { 0 } }
    private struct Twice: Feature {
        static func load(in container: any FeatureContainer) -> Int { 2 * container[Depth.self] }
    }
    private struct FourTimes: Feature {
        static func load(in container: any FeatureContainer) -> Int { 2 * container[Twice.self] }
    }
    private struct EightTimes: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Int { 2 * container[FourTimes.self] }
    }

    /// What a text says of something that doesn't know its test.
    private static func missed(_ what: String, _ test: String, _ path: String = "") -> String {
        "Fugu: \(what) through Container.shared on a thread or in a detached task that doesn't know its test, while \(test).\n"
            + "\(path)Fix: take the test's container along: write let container = Container.current before the task, and "
            + "Container.with(container) { … } in it."
    }

    @Test(
        "A detached task that doesn't know its test is warned once that a test has set what it reads, or what that's made from (law 29)"
    )
    func detachedReads() async throws {
        let (name, recorder) = (try #require(Test.current).readableName, Failure.Recorder { _, _ in })
        let line = #line + 4
        let read: @Sendable (Failure.Recorder, Bool) async -> Void = { recorder, isLast in
            await Task.detached {
                await Failure.$recorder.withValue(recorder) {
                    for _ in 1...2 {
                        _ = (Container.current.pressure, Container.current[Twice.self], Container.current[Mailer.self])
                    }
                    _ = Container.current.observable.tags
                    if isLast { _ = try? await Container.current[EightTimes.self] }
                }
            }.value
        }
        let log = Log<String>()
        let logging = Failure.Recorder { text, _ in log.add(text) }
        await read(logging, false)
        try await runCase(.container { $0[Mailer.self] = Mailer(name: "double") }, .container { $0.pressure = 5 }) {
            await Container.with {
                $0[Depth.self] = 2
            } operation: {
                await read(logging, true)
            }
        }
        try await runCase(.container { $0.tags = [] }) { await read(recorder, false) }
        await Container.strict {
            $0.label = "by hand"
        } operation: { () async in
            await Task.detached { Failure.$recorder.withValue(logging) { _ = Container.shared.label } }.value
        }
        func path(_ way: String, at line: Int) -> String {
            "Path: the test → \(way) → Depth, in detachedReads() at FuguTestingTests/Law29SharedTests.swift:\(line)\n"
        }
        let (of, depth) = ("was read", "the test \(name) has another Depth")
        expect(
            log.all.filter { !$0.contains("Mailer reaches outside") },
            equals: [
                Self.missed(#"\.pressure \#(of)"#, #"the test \#(name) has another \.pressure"#),
                Self.missed("Twice \(of)", depth, path("Twice", at: line + 1)),
                Self.missed("EightTimes \(of)", depth, path("EightTimes → FourTimes → Twice", at: line + 4)),
                Self.missed(#"\.label \#(of)"#, #"the test \#(name) has another \.label"#),
            ])
        expect(
            Messages.missesValue(
                ["Number"], through: .shared, ["a()", "b()", "b()"], at: SourcePlace(fileID: "M/F.swift", line: 1)),
            equals: Self.missed(
                "Number was read", "the tests a() and b() have another Number",
                "Path: the test → Number, in M/F.swift:1\n"))
    }

    /// Made when a test first uses it.
    private enum Session {
        static let container = Container.shared.child { $0.width = 5 }
    }

    @Test(
        "So is one that reads through a child or a copy of it, unless that has a value of its own, or a test has made it (law 29)"
    )
    func detachedReadsOfChildren() async throws {
        struct Area: Feature {
            static func load(in container: any FeatureContainer) -> Int { container.width * container[Depth.self] }
        }
        let line = #line + 40
        let name = try #require(Test.current).readableName
        let log = Log<String>()
        let logging = Failure.Recorder { text, _ in log.add(text) }
        let source = DictionarySource(["law29.level": 3], name: "source")
        let detached: @Sendable (@escaping @Sendable () throws -> Void) async throws -> Void = { body in
            try await Task.detached { try Failure.$recorder.withValue(logging) { try body() } }.value
        }
        let found = await texts { expect(Session.container.width, equals: 5) }
        let mine = Container.shared.child()
        expect(found, equals: [])
        let trait = ContainerTrait.container {
            $0.width = 6
            $0.level = 6
            $0.pressure = 6
            $0.label = "6"
            $0[Depth.self] = 6
        }
        try await runCase(trait) {
            try await detached {
                let child = Container.current.child {
                    $0.width = 5
                    $0[Twice.self] = 7
                }
                try child.apply(source)
                for container in [child, child.child(), Container(copying: child)] {
                    expect(container.width == 5 && container.level == 3)
                    expect(container[Twice.self] == 7 && container[FourTimes.self] == 14)
                }
                expect(mine.child().pressure, equals: 1)
            }
            expect(log.all, equals: [])
            try await detached {
                for _ in 1...2 {
                    Container.with {
                        $0.width = 5
                    } operation: {
                        _ = Container.current.pressure
                    }
                }
                _ = Container.current.child().child()[Area.self]
                _ = Container(copying: .current).observable.label
                expect(Session.container.width == 5 && Session.container.child()[Depth.self] == 0)
            }
        }
        func missed(_ key: String, _ missed: String, of container: String, at line: Int? = nil) -> String {
            let path = line.map {
                "\nPath: the test → \(key) → \(missed), in detachedReadsOfChildren() at "
                    + "FuguTestingTests/Law29SharedTests.swift:\($0)"
            }
            return
                "Fugu: \(key) was read through \(container) of Container.shared on a thread or in a detached task that doesn't "
                + "know its test, while the test \(name) has another \(missed).\(path ?? "")\n"
                + "Fix: take the test's container along: write let container = Container.current before the task, and "
                + "Container.with(container) { … } in it. Make the \(container.dropFirst(2)) there."
        }
        expect(
            log.all,
            equals: [
                missed(#"\.pressure"#, #"\.pressure"#, of: "a child"),
                missed("Area", #"\.width"#, of: "a child", at: line),
                missed(#"\.label"#, #"\.label"#, of: "a copy"),
                missed("Depth", "Depth", of: "a child"),
            ])
    }

    @Test("A failure of which neither the test nor the place is known says how the place is found (law 29)")
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
        expect(found.last?.place?.fileName, equals: "Law29SharedTests.swift")
        expect(found.last?.text.contains("place isn't known"), equals: false)
    }

    @Test("So is one that misses what a source or a scope's rule of the test gives, unless it sees the same (law 29)")
    func detachedReadsOfSources() async throws {
        struct Tide: Feature {
            static func load(in container: any FeatureContainer) -> String { "\(container.level) m" }
        }
        let name = try #require(Test.current).readableName
        let log = Log<String>()
        let logging = Failure.Recorder { text, _ in log.add(text) }
        let detached: @Sendable (@escaping @Sendable () throws -> Void) async throws -> Void = { body in
            try await Task.detached { try Failure.$recorder.withValue(logging) { try body() } }.value
        }
        let line = #line + 5
        let source = DictionarySource(
            ["law29.level": 3, "law29.height": 4, "law29.depth": "deep", "law29.breadth": 7], name: "source")
        let read: @Sendable () -> Void = {
            for _ in 1...2 {
                _ = (Container.current.height, Container.current[Tide.self], Container.current.depth)
                _ = (Container.current.width, Container.current.length)
            }
        }
        let trait = ContainerTrait.container {
            try $0.apply(source)
            $0.configureScopes("/a") {
                $0.width = 5
                $0.length = 6
            }
        }
        try await runCase(trait) { try await detached(read) }
        try await runCase(trait) {
            let scope = Container.current.scope("/a")
            try await detached(read)
            expect(scope.width, equals: 5)
        }
        func text(_ key: String, _ missed: String? = nil, _ path: String = "") -> String {
            Self.missed("\(key) was read", "the test \(name) has another \(missed ?? key)", path)
        }
        let path =
            "Path: the test → Tide → \\.level, in detachedReadsOfSources() at FuguTestingTests/Law29SharedTests.swift:\(line)\n"
        expect(
            log.all,
            equals: [text(#"\.height"#), text("Tide", #"\.level"#, path), text(#"\.width"#), text(#"\.length"#)])
        // This is how a program starts.
        struct Start: Property { static var defaultValue: String { "default" } }
        try await detached {
            Container.shared[Start.self] = "set"
            try Container.shared.apply(source)
        }
        log.removeAll()
        try await runCase(.liveContainer) {
            expect(Container.current.breadth, equals: 7)
            try await detached { _ = (Container.current[Start.self], Container.current.breadth) }
        }
        expect(log.all, equals: [])
    }

    @Test("So is one that changes the shared container, once for each key, while a test has one of its own (law 29)")
    func detachedChanges() async throws {
        struct Level: Property { static var defaultValue: Int { 0 } }
        let log = Log<String>()
        let logging = Failure.Recorder { text, _ in log.add(text) }
        try await runCase(.container) {
            await Task.detached {
                Failure.$recorder.withValue(logging) {
                    for level in 1...2 { Container.shared[Level.self] = level }
                    Container.shared.reset(Level.self)
                }
            }.value
        }
        let whose = "tests run that have containers of their own. They don't see the change; tests without one do"
        expect(log.all, equals: [Self.missed("Level was changed", whose)])
        let message = Messages.changesSharedOffTest(.changed, nil)
        expect(message.hasPrefix("Fugu: Container.shared was changed on a thread or in"))
    }

    private struct Argument: Property { static var defaultValue: Int { 0 } }
    private struct Condition: Property { static var defaultValue: Int { 0 } }

    /// Sets a key before any test runs.
    private static func set<K: Property>(_ key: K.Type) -> Int where K.Value == Int {
        Container.shared[key] = 1
        return Container.shared[key]
    }

    @Test(
        "What an argument or a condition of a test does is reported when the test first uses a container (law 29)",
        .enabled(if: set(Condition.self) == 1), arguments: [set(Argument.self)])
    func beforeTest(argument: Int) async throws {
        let name = try #require(Test.current).readableName
        let found = await texts { expect(Container.shared[Argument.self], equals: argument) }
        let ends =
            "(This happened in an argument or a condition of the test \(name), before it has a container. Pass what that "
            + "needs, or use it in the test itself.)"
        expect(found.allSatisfy { $0.hasSuffix(ends) }, "\(found)")
        for name in ["Argument", "Condition"] {
            expect(found.contains { $0.hasPrefix("Fugu: \(name) was changed through Container.shared, in a test") })
        }
        expect(found.count, equals: 2)
    }

    @Test("Messages name the tests that a thread may belong to (law 29)")
    func messages() {
        expect(Messages.ofUnknown("text", []), equals: "text")
        expect(
            Messages.ofUnknown("text", ["a()"]),
            equals: "text\n(Which test this belongs to isn't known. Of those with a container, a() was running; it may "
                + "also belong to one without, or to one that has ended.)")
        let several = Messages.ofUnknown("text", ["a()", "b()", "a()"])
        expect(several.contains(" Of those with a container, a() and b() were running;"))
    }

    @Test("A case is among those that run until it ends (law 29)")
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
    fileprivate var level: PropertyKey<Int> { .init("law29.level", defaultValue: 0) }
    fileprivate var height: PropertyKey<Int> { .init("law29.height", defaultValue: 0) }
    fileprivate var depth: PropertyKey<Int> { .init("law29.depth", defaultValue: 0) }
    fileprivate var breadth: PropertyKey<Int> { .init("law29.breadth", defaultValue: 0) }
    fileprivate var width: PropertyKey<Int> { .init(defaultValue: 0) }
    fileprivate var length: PropertyKey<Int> { .init(defaultValue: 0) }
    fileprivate var tags: FeatureKey<[String]> { .init { _ in [] } }
    fileprivate var sender: FeatureKey<Mailer> { .init(Mailer.self) }
    fileprivate var typeless: FeatureKey<Int> { .init(placeholder: { 0 }) { _ in 1 } }
    fileprivate var label: FeatureKey<String> { .init { _ in "label" } }
    fileprivate var gauge: FeatureKey<String> { .init(testValue: { _ in "for tests" }) { _ in "live" } }
}
