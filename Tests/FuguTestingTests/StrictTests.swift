import Fugu
import FuguConfiguration
import FuguScopes
import FuguTesting
import StrictnessCases
import Support
import Testing

extension ContainerKeys {
    fileprivate var payments: FeatureKey<Double> { .required(placeholder: 0) }
}

/// A strict container loads nothing that reaches outside (law 19).
struct StrictTests {
    @Test(
        "Every failure of a strict container has its text and the test's own place (law 19)",
        arguments: StrictnessCase.all)
    func failures(test: StrictnessCase) async throws {
        let place = try #require(Test.current?.sourceLocation)
        let answer = Log<String>()
        let found = await issues {
            try await runCase(.container) { answer.add(try await test.run(.current)) }
        }
        expect(answer.all, equals: [test.answer])
        expect(found.map(\.text), equals: test.failures)
        expect(found.allSatisfy { $0.place == place }, "\(found)")
    }

    @Test("A strict container made by hand fails in the same way (law 19)", arguments: StrictnessCase.all)
    func failuresByHand(test: StrictnessCase) async throws {
        let place = try #require(Test.current?.sourceLocation)
        let answer = Log<String>()
        let found = await issues { answer.add(try await test.run(.strict())) }
        expect(answer.all, equals: [StrictnessCase.byHand(test.answer)])
        expect(found.map(\.text), equals: test.failuresByHand)
        expect(found.allSatisfy { $0.place == place }, "\(found)")
    }

    @Test("All readers share a feature's placeholder, and ifLoaded, which loads nothing, gives none (law 19)")
    func sharedPlaceholder() async {
        // All readers of a feature share its placeholder.
        do {
            let found = await issues {
                let container = Container.strict()
                expect(container[Kept.self], is: container.child()[Kept.self])
            }
            expect(found.count, equals: 1)
        }
        // What isn't set isn't there for ifLoaded, which loads nothing, also after a read was refused.
        do {
            let found = await issues {
                let container = Container.strict()
                expect(container.ifLoaded(Mailer.self) == nil && container.ifLoaded(\.clock) == nil)
                _ = container[Mailer.self]
                expect(container.ifLoaded(Mailer.self) == nil)
            }
            expect(found.count, equals: 1)
        }
    }

    @Test(
        "The values of a feature that a strict container refuses end, after the failure (law 19)",
        .timeLimit(.minutes(5)))
    func refusedValues() async {
        let found = await issues {
            let container = Container.strict()
            for await _ in container.values(of: Kept.self) { Issue.record("a placeholder is no value") }
            container[Kept.self] = Kept()
            for await kept in container.values(of: Kept.self) {
                expect(kept, is: container[Kept.self])
                break
            }
        }
        expect(found.count, equals: 1)
    }

    final class Kept: Feature, External, Sendable {
        static func load(in container: any FeatureContainer) -> Kept { Kept() }
        static var placeholder: Kept { Kept() }
    }

    @Test("A decorated external feature is refused, and the decoration wraps its placeholder or isn't called (law 19)")
    func decorated() async {
        let found = await issues {
            let container = Container.strict()
            let wrapped = Log<String>()
            container.decorate(Mailer.self) { mailer, _ in
                wrapped.add("plain")
                return mailer
            }
            container.decorate(Network.Socket.self) { socket, _ in
                wrapped.add("throwing")
                return socket
            }
            container.decorate(Database.self) { database, _ in
                wrapped.add("async")
                return database
            }
            _ = (container[Mailer.self], container[Mailer.self])
            #expect(throws: LoadError.self) { try container[Network.Socket.self] }
            await #expect(throws: LoadError.self) { try await container[Database.self] }
            expect(wrapped.all, equals: ["plain"])
        }
        expect(found.count, equals: 3, "\(found)")
        expect(found.first?.text.contains("$0[Mailer.self] = …") == true, "\(found)")
        expect(found.allSatisfy { !$0.text.contains(" → Mailer → ") }, "\(found)")
    }

    struct Banner: Feature {
        static var home: Home { .shared }
        let text: String
        static func load(in container: any FeatureContainer) -> Banner { Banner(text: "banner \(container.port)") }
    }
    struct Index: ThrowingFeature {
        static var home: Home { .shared }
        static func load(in container: any FeatureContainer) throws -> String { "index \(container.port)" }
    }

    @Test(
        "A child that overrides what a declared home was made from fails the test, once for each feature (laws 11, 19)")
    func overriddenHome() async {
        let found = await issues {
            let container = Container.strict()
            for port in [1, 2] {
                let child = container.child { $0.port = port }
                expect(child[Banner.self].text, equals: "banner \(port)")
                #expect(throws: LoadError.self) { try child[Index.self] }
            }
        }
        expect(found.count, equals: 2, "\(found)")
        expect(found.first?.text.contains("Banner has the home .shared, but was read in a child") == true, "\(found)")
        expect(found.last?.text.contains(#"Path: Index → \.port"#) == true, "\(found)")
    }

    @Test("Failures met on a new thread or in a detached task are recorded when the case ends (law 19)")
    func offTask() async throws {
        let place = try #require(Test.current?.sourceLocation)
        let during = Log<Int>()
        let seen = Log<String>()
        let recorder = Failure.Recorder { text, found in
            expect(found, equals: place)
            seen.add(StrictnessCase.withoutPlace(text))
        }
        try await Failure.$recorder.withValue(recorder) {
            try await runCase(.container) {
                let (container, sender) = (Container.current, Sender())
                try container.apply(DictionarySource(["strictness.port": "http"], name: "server"))
                _ = container[Mailer.self]
                during.add(seen.count)
                await onThreads(2) { _ in _ = container[Mailer.self] }
                await Task.detached { _ = (container[Account.self], sender.count(), container.port) }.value
                during.add(seen.count)
            }
        }
        expect(during.all, equals: [1, 1])
        let own = StrictnessCase.refusal(of: "Mailer", line: "$0[Mailer.self] = …")
        let other = StrictnessCase.refusal(
            of: "Mailer", through: "Account → Signup → Mailer", line: "$0[Mailer.self] = …")
        let endpoint =
            "Fugu: Sender.count was called, but it isn't implemented.\n"
            + "Fix: give the double a closure for it."
        let wrong = "server: strictness.port: expected Int, found string \"http\""
        expect(seen.all, equals: [own, own, other, endpoint, wrong])
    }

    @Test("A failure that comes after the end of its case says so (law 19)")
    func late() async throws {
        let (ended, read) = (Gate(), Gate())
        let name = try #require(Test.current?.displayName)
        let found = await issues {
            try await runCase(.container) {
                Task {
                    await ended.opened()
                    _ = Container.current[Mailer.self]
                    read.open()
                }
            }
            ended.open()
            await read.opened()
        }
        expect(found.count, equals: 1)
        expect(found.first?.text.contains("after the test \(name) ended"), equals: true)
    }

    @Test("A source of the variables or the arguments of the process warns the test that applies it, once (law 19)")
    func sourcesOfProcess() async throws {
        let place = try #require(Test.current?.sourceLocation)
        let found = await issues {
            try await runCase(.container) {
                for container in [Container.current, Container.current.child()] {
                    try container.apply(EnvironmentSource(prefix: "FUGU").ignoringEmptyTexts().scoped(to: "part"))
                    try container.apply(ArgumentsSource())
                    try container.apply(EnvironmentSource(environment: ["STRICTNESS_PORT": "1"]))
                    try container.apply(ArgumentsSource(["--port", "80"]))
                }
            }
            try await runCase(.liveContainer) { try Container.current.apply(ArgumentsSource()) }
        }
        let variables = EnvironmentSource.current
        let others = await issues {
            try await runCase(.container) {
                let most = variables.filter { $0.key != "PATH" }.merging(["STRICTNESS_PORT": "1"]) { $1 }
                try Container.current.apply(EnvironmentSource(environment: most))
            }
            try await runCase(.container) {
                try Container.current.apply(EnvironmentSource(environment: variables.filter { $0.key == "PATH" }))
                try Container.current.apply(EnvironmentSource(environment: variables.mapValues { $0 + "!" }))
                try Container.current.apply(EnvironmentSource(environment: [:]))
            }
        }
        expect(
            others.map { $0.text.prefix(while: { $0 != "\n" }) },
            equals: [
                "Fugu: the test applies an EnvironmentSource with the variables of this process, so it depends on the machine."
            ])
        expect(found.allSatisfy { $0.place == place })
        expect(
            found.map(\.text),
            equals: [
                "Fugu: the test applies an EnvironmentSource with the variables of this process, so it depends on the machine.\n"
                    + #"Fix: pass those that it needs: EnvironmentSource(prefix: "FUGU", environment: ["FUGU_PORT": "80"]). If the "#
                    + "program applies it, give that function a parameter to pass on: "
                    + "environment: [String: String] = EnvironmentSource.current.",
                "Fugu: the test applies an ArgumentsSource with the arguments of this process, so it depends on how it's run.\n"
                    + #"Fix: pass those that it needs: ArgumentsSource(["--port", "80"]). If the program applies it, give that function "#
                    + "a parameter to pass on: arguments: [String] = CommandLine.arguments.",
            ])
    }

    @Test("A required feature that a test doesn't set fails it with the fix (law 19)")
    func required() async {
        let found = await issues {
            try await runCase(.container) { expect(Container.current.payments, equals: 0) }
        }
        let refusal = "Fugu: \\.payments has to be supplied and wasn't set for this test.\n"
        expect(found.count, equals: 1)
        expect(found.first?.text.hasPrefix(refusal), equals: true)
    }

    @Test("Container.shared is strict in a process that links FuguTesting (law 19)")
    func shared() async throws {
        let place = try #require(Test.current?.sourceLocation)
        let found = await issues {
            expect(Container.shared[Mailer.self].name, equals: "placeholder")
            let child = Container.shared.child()
            try await runCase(.container) { expect(child[Mailer.self].name, equals: "placeholder") }
        }
        let refusal =
            "Fugu: Mailer reaches outside the process and wasn't set for this test.\nPath: the test → Mailer\n"
        try #require(found.count == 2)
        expect(found.allSatisfy { $0.text.hasPrefix(refusal) })
        expect(
            found[0].text.hasSuffix(
                "@Test(.container { $0[Mailer.self] = … }). To use the real feature, write @Test(.liveContainer)."))
        expect(
            found[1].text.hasSuffix(
                "doesn't configure, and set it in the test's trait: .container { $0[Mailer.self] = … }"))
        expect(found[0].place == place && found[1].place == place)
    }

    @Test(
        "Container.shared doesn't keep instances made from a placeholder, so that each test fails for itself (law 19)")
    func notKept() async {
        for _ in 1...2 {
            let found = await issues {
                _ = Container.shared[Account.self]
                _ = Container.shared.child()[Account.self]
            }
            expect(found.count, equals: 1)
        }
        let onThreads = await issues {
            await withTaskGroup { group in
                for _ in 1...100 { group.addTask { _ = Container.shared[Account.self] } }
            }
        }
        expect(onThreads.count, equals: 1)
        let inTasks = await issues {
            await withTaskGroup { group in
                for _ in 1...100 { group.addTask { _ = try? await Container.shared[Archive.self] } }
            }
        }
        expect(inTasks.count, equals: 1)
        expect(Container.shared.ifLoaded(Archive.self) == nil)
        expect(Container.shared.ifLoaded(Account.self) == nil)
        expect(Container.shared.ifLoaded(Signup.self) == nil)
    }

    /// Made in a separate task, from an instance that is made from an external feature.
    struct Archive: AsyncFeature {
        let account: Account
        static func load(in container: any FeatureContainer) async -> Archive {
            Archive(account: container[Account.self])
        }
    }

    @Test("A failure says where the feature was read (law 19)")
    func placeOfRead() async throws {
        let line = #line + 5
        let texts = try await texts {
            try await runCase(.container) {
                let container = Container.current
                container[Number.self] = 1
                _ = container[Mailer.self]
                _ = try? container[Network.Socket.self]
                _ = try? await container.child()[Database.self]
                _ = container.observable[Mailer.self]
                // An accessor of this library's own is no place to send anybody.
                _ = container.randomness
            }
        }
        expect(texts.count, equals: 5)
        expect(texts.last?.contains("\nFix: set"), equals: true)
        for (offset, text) in texts.prefix(4).enumerated() {
            expect(text.contains(" at FuguTestingTests/StrictTests.swift:\(line + offset)\n"), "\(text)")
        }
    }

    @Test("The error of a throwing or async feature that a test doesn't set says so by its code (law 19)")
    func codes() async {
        let found = await issues {
            let container = Container.strict()
            let error = #expect(throws: LoadError.self) { try container[Network.Socket.self] }
            let other = await #expect(throws: LoadError.self) { try await container[Database.self] }
            expect(error?.code, equals: .notSet)
            expect(other?.code, equals: .notSet)
        }
        expect(found.count, equals: 2)
    }

    @Test("Children and copies made before a container became strict are strict, too (law 19)")
    func existingChildren() {
        let root = Container()
        let child = root.child().child()
        let refused = Log<String>()
        root.makeStrict(Strictness { refused.add($0.error.path.joined(separator: " ")) })
        expect(child[Signup.self].mailer.name, equals: "placeholder")
        expect(refused.all, equals: ["Signup Mailer"])
    }
}

// Laws 6 and 19: a strict container never loads an external feature that was not set: inside an update, where a key that it
// resets or replaces gives what's published, or afterward.
struct StrictUpdateTests {
    /// Counts its real loads.
    private enum RealLoads {
        static let counter = Counter()
    }
    struct Real: Feature, External {
        let text: String
        static func load(in container: any FeatureContainer) -> Real {
            RealLoads.counter.add()
            return Real(text: "real")
        }
        static var placeholder: Real { Real(text: "placeholder") }
    }
    struct RealThrowing: ThrowingFeature, External {
        static func load(in container: any FeatureContainer) throws -> Int {
            RealLoads.counter.add()
            return 1
        }
    }
    struct Through: Feature {
        let text: String
        static func load(in container: any FeatureContainer) -> Through { Through(text: container[Real.self].text) }
    }

    /// The kind of update, and the origin of the container.
    enum Place: CaseIterable {
        case made, child, scope, copy, closed, shared

        func container() async throws -> Container {
            switch self {
            case .made: return .strict { $0[Real.self] = Real(text: "set") }
            case .child: return Container.strict { $0[Real.self] = Real(text: "set") }.child()
            case .scope: return Container.strict { $0[Real.self] = Real(text: "set") }.scope("/a")
            case .copy: return Container(copying: .strict { $0[Real.self] = Real(text: "set") })
            case .closed:
                let container = Container.strict { $0[Real.self] = Real(text: "set") }
                try await container.close()
                return container
            case .shared: return .shared
            }
        }
    }

    @Test(
        "An external feature that an update resets is there until the end, and refused afterward (laws 6, 19)",
        arguments: Place.allCases)
    func reset(_ place: Place) async throws {
        let text = Log<String>()
        let all = await issues {
            let container = try await place.container()
            container.update { changes in
                changes[Real.self] = Real(text: "pending")
                changes.reset(Real.self)
                text.add(changes[Real.self].text)
            }
            text.add(container[Real.self].text)
        }
        // Only a warning.
        let found = all.filter { !$0.text.hasPrefix("Fugu: Container.shared was changed") }
        let wasSet = place != .shared && place != .closed
        // The reset uncovers the value that an ancestor set.
        let isUncovered = place == .child || place == .scope
        expect(text.all, equals: [wasSet ? "set" : "placeholder", isUncovered ? "set" : "placeholder"])
        expect(found.isEmpty, equals: isUncovered)
        expect(found.allSatisfy { $0.text.contains("Real reaches outside the process") })
        expect(RealLoads.counter.value, equals: 0)
    }

    @Test(
        "In an update, a throwing feature, one behind a key, and one that another needs are refused, with the way (laws 6 and 19)"
    )
    func otherKinds() async throws {
        // So is a throwing one, which throws, and one behind a key.
        do {
            let found = await issues {
                let container = Container.strict {
                    $0.set(RealThrowing.self, to: 5)
                    $0.printer = "set"
                }
                container.update { changes in
                    changes.reset(RealThrowing.self)
                    changes.reset(\.printer)
                    expect(try? changes[RealThrowing.self], equals: 5)
                    expect(changes.printer, equals: "set")
                }
                #expect(throws: (any Error).self) { try container[RealThrowing.self] }
                expect(container.printer, equals: "no printer")
            }
            expect(found.count, equals: 2)
            expect(RealLoads.counter.value, equals: 0)
        }
        // One that a feature needs which is loaded there is refused, with the way to it.
        do {
            let found = await issues {
                let container = Container.strict { $0[Real.self] = Real(text: "set") }
                container.update { changes in
                    changes.reset(Real.self)
                    expect(changes[Through.self].text, equals: "set")
                }
                container.reset(Through.self)
                container.update { changes in
                    changes.reset(Through.self)
                    expect(changes[Through.self].text, equals: "placeholder")
                }
            }.filter { !$0.text.contains("keeps the old value") }
            expect(found.count == 1 && found.first?.text.contains("Through → Real") == true, "\(found)")
            expect(RealLoads.counter.value, equals: 0)
        }
    }

    @Test("A double that replaces it in the update is loaded afterward, and once (laws 6 and 19)")
    func replaced() async {
        let doubles = Counter()
        let found = await issues {
            let container = Container.strict()
            container.update { changes in
                changes.replace(Real.self) { _ in
                    doubles.add()
                    return Real(text: "double")
                }
            }
            expect(container[Real.self].text, equals: "double")
            expect(container[Real.self].text, equals: "double")
        }
        expect(found.isEmpty)
        expect(doubles.value, equals: 1)
    }
}
