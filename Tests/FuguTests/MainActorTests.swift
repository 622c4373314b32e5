import Dispatch
import Foundation
import Fugu
import FuguInspection
import Observation
import Support
import Testing

@MainActor final class Law9Model: MainActorFeature {
    var count = 0
    let title: String
    init(title: String) { self.title = title }

    static func load(in container: any FeatureContainer) -> Law9Model {
        MainActor.preconditionIsolated()
        return Law9Model(title: container[Law9Title.self])
    }
}
struct Law9Title: Property { static var defaultValue: String { "untitled" } }

@MainActor final class Law9Live: MainActorFeature {
    let title: String
    init(title: String) { self.title = title }

    static func load(in container: any FeatureContainer) -> Law9Live {
        MainActor.preconditionIsolated()
        return Law9Live(title: container[Law9Title.self])
    }
    static var reloadsWhenInputsChange: Bool { true }
}

@MainActor enum Law9Local: MainActorFeature {
    static func load(in container: any FeatureContainer) -> Law9Model { Law9Model(title: "local") }
    static var home: Home { .local }
}

@MainActor enum Law9Theme: MainActorFeature {
    static var scale = 2
    static func load(in container: any FeatureContainer) -> Int { scale * 10 }
}

@MainActor final class Law9Document: AsyncFeature {
    struct Missing: Error {}
    static var isMissing = false
    let model: Law9Model
    init(model: Law9Model) { self.model = model }

    @MainActor static func load(in container: any FeatureContainer) async throws -> Law9Document {
        MainActor.preconditionIsolated()
        if isMissing { throw Missing() }
        return Law9Document(model: container[Law9Model.self])
    }
}

/// On Linux, the main actor has no thread of its own, but its queue.
private let mainQueueMark: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
}()

private func isFree(_ isolation: (any Actor)?) -> Bool {
    isolation == nil && !Thread.isMainThread && DispatchQueue.getSpecific(key: mainQueueMark) == nil
}

private enum Law9Free: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> String {
        (isFree(#isolation) ? "free " : "held ") + container[Law9Title.self]
    }
    static var reloadsWhenInputsChange: Bool { true }
}

private actor Law9Asker {
    func ask(_ container: Container) async throws -> String { try await container[Law9Free.self] }
}

@MainActor protocol Law9Voice: Sendable { func say() -> String }

@MainActor private final class Law9Speaker: Law9Voice {
    let name: String
    init(_ name: String) { self.name = name }
    func say() -> String { "I'm \(name)" }
}

extension ContainerKeys {
    fileprivate var law9Live: MainActorFeatureKey<Law9Live> { .init(Law9Live.self) }
    fileprivate var law9Other: MainActorFeatureKey<Law9Live> {
        .init(reloadsWhenInputsChange: true, home: .local) {
            MainActor.preconditionIsolated()
            return Law9Live(title: "other " + $0[Law9Title.self])
        }
    }
    fileprivate var law9Voice: MainActorFeatureKey<any Law9Voice> { .init { Law9Speaker($0[Law9Title.self]) } }
}

struct Law9Size: Sendable { let width: Int }
extension Law9Size: @MainActor Equatable {
    @MainActor static func == (left: Law9Size, right: Law9Size) -> Bool { left.width == right.width }
}

/// Law 8: actors welcome.
@MainActor struct MainActorTests {}

extension MainActorTests {
    @Test(
        "A type that belongs to the main actor is a main-actor feature, and its instance may be of another type (law 8)"
    )
    func feature() {
        // A type that belongs to the main actor is a main-actor feature.
        do {
            let container = Container()
            container[Law9Title.self] = "notes"
            let model = container[Law9Model.self]
            model.count += 1
            expect(model.title, equals: "notes")
            expect(container[Law9Model.self], is: model)
            expect(container.child()[Law9Model.self].count, equals: 1)
            let other = Law9Model(title: "other")
            container[Law9Model.self] = other
            expect(container[Law9Model.self], is: other)
            expect(container.ifLoaded(Law9Model.self), is: other)
            container.reset(Law9Model.self)
            expect(container[Law9Model.self] !== other)
            container.replace(Law9Model.self) { _ in other }
            expect(container[Law9Model.self], is: other)
            container.update { handle in handle[Law9Model.self] = model }
            expect(container[Law9Model.self], is: model)
        }
        // The instance of a main-actor feature can be of another type.
        do {
            let container = Container()
            expect(container[Law9Theme.self], equals: 20)
            container[Law9Theme.self] = 5
            container[Law9Theme.self] += 1
            expect(container[Law9Theme.self], equals: 6)
            container.reset(Law9Theme.self)
            expect(container[Law9Theme.self], equals: 20)
        }
    }

    @Test(
        "A main-actor feature lives where its inputs live, is warmed up on the main actor, and is explained (laws 8, 10, and 11)"
    )
    func homes() async throws {
        // A main-actor feature lives where its inputs live, and says otherwise like others.
        do {
            let root = Container()
            let child = root.child { $0[Law9Title.self] = "child" }
            expect(child[Law9Model.self].title, equals: "child")
            expect(root[Law9Model.self].title, equals: "untitled")
            expect(root.child()[Law9Model.self], is: root[Law9Model.self])
            expect(root.child()[Law9Local.self] !== root[Law9Local.self])
        }
        // A warm-up loads main-actor features on the main actor.
        do {
            let container = Container()
            try await container.warmUp {
                $0.load(Law9Model.self)
                $0.load(\.law9Live)
            }
            expect(container.ifLoaded(Law9Model.self) != nil)
            expect(container.ifLoaded(\.law9Live) != nil)
        }
        // A main-actor feature is explained like others.
        do {
            let container = Container()
            _ = container.law9Live
            expect("\(container.explain(Law9Live.self))".contains("Law9Live"))
        }
    }

    @Test("An async feature loads on the main actor only if its load says so, whoever asks or reloads it (law 8)")
    func async() async throws {
        // An async feature loads on the main actor if its load says so, whoever asks.
        do {
            let container = Container()
            Law9Document.isMissing = true
            await #expect(throws: Law9Document.Missing.self) { try await container[Law9Document.self] }
            Law9Document.isMissing = false
            let document = try await Task.detached { try await container[Law9Document.self] }.value
            expect(document.model, is: container[Law9Model.self])
            container.set(Law9Document.self, to: Law9Document(model: Law9Model(title: "set")))
            try await expect(container[Law9Document.self].model.title, equals: "set")
        }
        // An async load that belongs to no actor runs on none, though the main actor asks or reloads it.
        do {
            let container = Container()
            try await expect(container[Law9Free.self], equals: "free untitled")
            let heard = Log<String>()
            container.observe(Law9Free.self) { heard.add($0) }
            container[Law9Title.self] = "new"
            await expect(heard.first(1), equals: ["free new"])
            try await expect(Law9Asker().ask(container.child { $0[Law9Title.self] = "child" }), equals: "free child")
        }
    }

    @Test("A check runs the loads that belong to no actor on none, though the main actor asks (law 8)")
    func checked() async {
        struct NotFree: Error {}
        struct Sound: AsyncFeature {
            static func load(in container: any FeatureContainer) async throws -> Sound {
                guard isFree(#isolation) else { throw NotFree() }
                return Sound()
            }
        }
        expect(!isFree(#isolation))
        let check = await Container().check(loading: { $0.load(Sound.self) })
        expect(!check.hasProblems, "\(check)")
    }

    @Test("Main-actor features are observed, iterated, and tracked (laws 8 and 9)")
    func observation() async throws {
        let container = Container()
        let heard = Log<String>()
        let token = container.observe(Law9Model.self) { model in
            expect(Container.current, is: container)
            heard.add(model.title)
        }
        container[Law9Model.self] = Law9Model(title: "one")
        expect(heard.all, equals: ["one"])
        token.cancel()
        var titles: [String] = []
        for await model in container.values(of: Law9Model.self) {
            titles.append(model.title)
            if titles.count == 3 { break }
            container[Law9Model.self] = Law9Model(title: "\(titles.count)")
        }
        expect(titles, equals: ["one", "1", "2"])
        expect(heard.all, equals: ["one"])
        let observable = container.observable
        let changes = Counter()
        withObservationTracking {
            _ = (observable[Law9Model.self], observable[Law9Theme.self])
        } onChange: {
            changes.add()
        }
        container[Law9Theme.self] = 3
        expect(changes.value, equals: 1)
    }

    @Test(
        "A sequence of a main-actor feature loads on the main actor, whoever reads it and whenever (laws 8 and 9)"
    )
    func sequences() async {
        let container = Container()
        let values = await Task.detached { container.values(of: Law9Live.self) }.value
        var first = values.makeAsyncIterator()
        await expect(first.next()?.title, equals: "untitled")
        container.reset(Law9Live.self)
        let title = await Task.detached {
            for await live in values { return live.title }
            return ""
        }.value
        expect(title, equals: "untitled")
    }

    @Test(
        "A reload waits for the main actor, and loads nothing in a container that has closed meanwhile (laws 8, 12, and 18)"
    )
    func reload() async throws {
        // A reload waits for the main actor, whichever thread changes the input.
        do {
            let container = Container()
            let heard = Log<String>()
            let first = container[Law9Live.self]
            container.observe(Law9Live.self) { heard.add($0.title) }
            onAnotherThread { for title in ["one", "two"] { container[Law9Title.self] = title } }
            // The main actor runs this test, so the reload hasn't begun.
            expect(container.ifLoaded(Law9Live.self) == nil)
            expect(heard.all.isEmpty)
            await expect(heard.first(1), equals: ["two"])
            expect(container[Law9Live.self] !== first)
            expect(container[Law9Live.self].title, equals: "two")
        }
        // A reload that waits for the main actor loads nothing in a container that has closed.
        do {
            let container = Container()
            let reports = container.logReports()
            _ = container[Law9Live.self]
            container.observe(Law9Live.self) { _ in }
            onAnotherThread { container[Law9Title.self] = "one" }
            try await container.close()
            await Task { @MainActor in }.value
            expect(container.ifLoaded(Law9Live.self) == nil)
            expect(reports.all.isEmpty)
        }
    }

    @Test("The key of a main-actor type is the type, and another key makes a second instance (laws 8, 11, and 12)")
    func named() async {
        // The key of a main-actor type is the type.
        do {
            let container = Container()
            let heard = Log<String>()
            container.observe(\.law9Live) { heard.add($0.title) }
            expect(container.law9Live.title, equals: "untitled")
            expect(container.law9Live, is: container[Law9Live.self])
            container.law9Live = Law9Live(title: "set")
            expect(container[Law9Live.self].title, equals: "set")
            container.replace(\.law9Live) { Law9Live(title: "replaced " + $0[Law9Title.self]) }
            expect(container.ifLoaded(\.law9Live) == nil)
            expect(container[Law9Live.self].title, equals: "replaced untitled")
            container[MainActorFeatureKey(Law9Live.self)] = Law9Live(title: "again")
            container.update { $0.reset(\.law9Live) }
            expect(container.law9Live.title, equals: "untitled")
            expect(container.explain(\.law9Live), equals: container.explain(Law9Live.self))
            for await live in container.values(of: \.law9Live) {
                expect(live, is: container.law9Live)
                break
            }
            expect(heard.all, equals: ["untitled", "set", "replaced untitled", "again", "untitled"])
        }
        // A key makes a second instance of a main-actor type, which lives and reloads as it says.
        do {
            let container = Container()
            let first = container.law9Other
            expect(first.title, equals: "other untitled")
            expect(first !== container.law9Live)
            expect(container.child().law9Other !== first)
            let heard = Log<String>()
            container.observe(\.law9Other) { heard.add($0.title) }
            onAnotherThread { container[Law9Title.self] = "new" }
            expect(container.ifLoaded(\.law9Other) == nil)
            await expect(heard.first(1), equals: ["other new"])
            let title = await Task.detached {
                for await live in container.child().values(of: \.law9Other) { return live.title }
                return ""
            }.value
            expect(title, equals: "other new")
        }
    }

    @Test("A protocol of the main actor has a key, which is set, replaced, and decorated (law 8)")
    func voice() async throws {
        let container = Container()
        expect(container.law9Voice.say(), equals: "I'm untitled")
        container.decorate(\.law9Voice) { voice, container in Law9Speaker(voice.say() + container[Law9Title.self]) }
        expect(container.law9Voice.say(), equals: "I'm I'm untitleduntitled")
        container.law9Voice = Law9Speaker("set")
        expect(container.ifLoaded(\.law9Voice)?.say(), equals: "I'm set")
        container.decorate(\.law9Voice) { voice, _ in Law9Speaker(voice.say()) }
        expect(container.law9Voice.say(), equals: "I'm I'm set")
        let child = container.child()
        child.replace(\.law9Voice) { Law9Speaker("replaced " + $0[Law9Title.self]) }
        expect(child.law9Voice.say(), equals: "I'm replaced untitled")
        child.reset(\.law9Voice)
        container.reset(\.law9Voice)
        try await child.warmUp { $0.load(\.law9Voice) }
        expect(container.ifLoaded(\.law9Voice)?.say(), equals: "I'm untitled")
        expect("\(container.explain(\.law9Voice))".contains("law9Voice"))
        expect(container.law9Voice.say(), equals: "I'm untitled")
    }

    @Test("An equality that belongs to the main actor is asked there and nowhere else (law 8)")
    func isolatedEquality() async {
        let container = Container()
        let key = PropertyKey(defaultValue: Law9Size(width: 1))
        let heard = Counter()
        container.observe({ _ in key }) { _ in heard.add() }
        container[key] = Law9Size(width: 2)
        container[key] = Law9Size(width: 2)
        expect(heard.value, equals: 1)
        await Task.detached { container[key] = Law9Size(width: 2) }.value
        expect(heard.value, equals: 2)
    }

    private nonisolated static let screen = """
        import Fugu
        @MainActor final class Model: MainActorFeature {
            var count = 0
            static func load(in container: any FeatureContainer) -> Model { Model() }
        }
        extension ContainerKeys { var model: MainActorFeatureKey<Model> { .init(Model.self) } }

        """

    @Test(
        "The compiler refuses to load, read, replace, or set a main-actor feature off the main actor, or in a plain load (law 8)"
    )
    func compiler() throws {
        // The compiler refuses to load, read, replace, or set a main-actor feature off the main actor.
        do {
            let statements = [
                "_ = Model.load(in: container)", "_ = container[Model.self]", "_ = container.model",
                "container[Model.self] = model", "container.model = model",
                "container.replace(Model.self) { _ in model }",
                "container.replace(\\.model) { _ in model }", "container.decorate(Model.self) { model, _ in model }",
                "container.decorate(\\.model) { model, _ in model }",
                "_ = container[MainActorFeatureKey(Model.self)]",
            ]
            // One line for each.
            let uses = ["@MainActor", "nonisolated"].map { isolation in
                Self.screen
                    + statements.enumerated().map { number, statement in
                        "\(isolation) func use\(number)(_ container: Container, _ model: Model) { \(statement) }\n"
                    }.joined()
            }
            guard let right = try Compiler.check(uses[0]), let wrong = try Compiler.check(uses[1]) else {
                return print("skipped: no compiler or no module Fugu was found")
            }
            expect(right.isRight, "\(right.output)")
            let errors = wrong.output.split(separator: "\n").filter { $0.contains("main actor-isolated") }
            let first = Self.screen.count { $0 == "\n" } + 1
            for (number, statement) in statements.enumerated() {
                expect(errors.contains { $0.contains(".swift:\(first + number):") }, "\(statement): \(wrong.output)")
            }
        }
        // A plain load can't read a main-actor feature.
        do {
            let source =
                Self.screen + """
                    struct Plain: Feature {
                        static func load(in container: any FeatureContainer) -> Plain { _ = container.model; return Plain() }
                    }
                    """
            guard let plain = try Compiler.check(source) else { return print("skipped: no compiler was found") }
            expect(!plain.isRight && plain.output.contains("main actor-isolated"), "\(plain.output)")
        }
    }

    @Test("Where the main actor is the default, types and members of every other kind are nonisolated (law 8)")
    nonisolated func defaultIsolation() throws {
        let source = """
            import Fugu
            struct Name: Property { static var defaultValue: String { "guest" } }
            struct Greeter: Feature {
                let text: String
                static func load(in container: any FeatureContainer) -> Greeter { Greeter(text: container[Name.self]) }
                func greet() -> String { text }
            }
            struct Parsed: ThrowingFeature {
                static func load(in container: any FeatureContainer) throws -> Parsed { Parsed() }
            }
            struct Database: AsyncFeature {
                static func load(in container: any FeatureContainer) async throws -> Database { Database() }
            }
            final class Screen: MainActorFeature {
                var count = 0
                static func load(in container: any FeatureContainer) -> Screen { Screen() }
                static var reloadsWhenInputsChange: Bool { true }
            }
            extension ContainerKeys {
                var greeter: FeatureKey<Greeter> { .init(Greeter.self) }
                var screen: MainActorFeatureKey<Screen> { .init(Screen.self) }
                var other: MainActorFeatureKey<Screen> { .init { _ in Screen() } }
                var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
                var farewell: FeatureKey<String> { .init { "Goodbye, \\($0[Name.self])" } }
            }
            struct Doorman {
                @Injected(\\.greeter) var greeter
                @Injected(\\.timeout) var timeout
            }
            nonisolated func use(_ container: Container) async throws -> String {
                container.observe(\\.greeter) { print($0.text) }
                container.observe(\\.timeout) { print($0) }
                _ = (try container[Parsed.self], try await container[Database.self], container.timeout, container.farewell)
                return container.greeter.greet() + container[Name.self]
            }
            func show(_ container: Container) { container.screen.count += container.other.count }
            """
        let wrong = source + "\nnonisolated func wrong(_ container: Container) { _ = container.screen }"
        guard let right = try Compiler.check(source, Compiler.mainActorModule),
            let refused = try Compiler.check(wrong, Compiler.mainActorModule)
        else { return print("skipped: no compiler or no module Fugu was found") }
        expect(right.isRight && !right.output.contains("warning:"), "\(right.output)")
        expect(!refused.isRight && refused.output.contains("main actor-isolated"), "\(refused.output)")
    }
}

/// Law 8: features of the main actor, read from elsewhere.
struct MainActorAwaitTests {
    private static let source = """
        import Fugu
        final class Screen: MainActorFeature {
            var title = "screen"
            static func load(in container: any FeatureContainer) -> Screen { Screen() }
        }
        extension ContainerKeys {
            nonisolated var screen: MainActorFeatureKey<Screen> { .init(Screen.self) }
            nonisolated var speech: MainActorFeatureKey<String> { .init { _ in "speech" } }
        }
        nonisolated func read(_ container: Container) async -> (Screen, String) {
            await (container.screen, container.speech)
        }
        nonisolated func readByType(_ container: Container) async -> Screen { await container[Screen.self] }
        actor Robot {
            func read(_ container: Container) async -> Screen { await container.screen }
        }
        @MainActor func use(_ container: Container, _ handle: any FeatureContainer) {
            container.screen = Screen()
            container.screen.title += "!"
            handle.speech += handle.speech
            let key = \\ContainerKeys.screen
            _ = container[dynamicMember: key]
        }

        """

    @Test("Code of no actor or of another one awaits a member as it awaits the type (law 8)", arguments: [false, true])
    func byMember(_ isMainActorModule: Bool) throws {
        let flags = isMainActorModule ? Compiler.mainActorModule : []
        guard let found = try Compiler.check(Self.source, flags) else { return print("skipped: no compiler was found") }
        expect(found.isRight, found.output)
    }

    @Test("A member of the main actor, as a module declares it whose default isolation that is, is used there (law 8)")
    func isolatedMember() throws {
        let source = """
            import Fugu
            @MainActor final class Screen { var title = "screen" }
            extension ContainerKeys {
                @MainActor var screen: MainActorFeatureKey<Screen> { .init { _ in Screen() } }
            }
            @MainActor func use(_ container: Container) -> String {
                container.screen.title += "!"
                return container.screen.title
            }
            """
        guard let found = try Compiler.check(source) else { return print("skipped: no compiler was found") }
        expect(found.isRight, found.output)
    }
}

/// Belongs to the main actor, and remembers where it was made.
private final class Stage: MainActorFeature {
    let title: String
    init(title: String) {
        MainActor.assertIsolated()
        self.title = title
    }
    static func load(in container: any FeatureContainer) -> Stage { Stage(title: "stage of \(container.play)") }
}

extension ContainerKeys {
    fileprivate var play: PropertyKey<String> { .init(defaultValue: "Hamlet") }
    fileprivate var stage: MainActorFeatureKey<Stage> { .init(Stage.self) }
    fileprivate var prompter: MainActorFeatureKey<String> { .init { "prompter of \($0.play)" } }
}

extension MainActorAwaitTests {
    @Test("An awaited read by member loads on the main actor, once, with its inputs (laws 3, 8, 11)")
    nonisolated func elsewhere() async {
        let container = Container.program()
        let stage = await container.stage
        await expect(container.stage, is: stage)
        await expect(container[Stage.self], is: stage)
        let child = container.child { $0.play = "Faust" }
        await expect(child.stage.title, equals: "stage of Faust")
        await expect([container.prompter, child.prompter], equals: ["prompter of Hamlet", "prompter of Faust"])
        let handle: any FeatureContainer = child
        await expect(handle.prompter, equals: "prompter of Faust")
    }
}
