import Foundation
import Fugu
import Observation
import Support
import Testing

@MainActor final class Law9Model {
    var count = 0
    let title: String
    init(title: String) { self.title = title }
}
extension Law9Model: @MainActor Feature {
    static func load(in container: any FeatureContainer) -> Law9Model { Law9Model(title: container[Law9Title.self]) }
}
struct Law9Title: Property { static var defaultValue: String { "untitled" } }

@MainActor struct Law9Theme: @MainActor Property {
    static var scale = 2
    static var defaultValue: Int { scale * 10 }
}

@MainActor final class Law9Document: @MainActor ThrowingFeature {
    struct Missing: Error {}
    static var isMissing = false
    let model: Law9Model
    init(model: Law9Model) { self.model = model }
    static func load(in container: any FeatureContainer) throws -> Law9Document {
        if isMissing { throw Missing() }
        return Law9Document(model: container[Law9Model.self])
    }
}

@MainActor enum Law9Broken: @MainActor ThrowingFeature {
    struct Broken: Error {}
    static var loads = 0
    static func load(in container: any FeatureContainer) throws -> Int {
        loads += 1
        throw Broken()
    }
}

struct Law9Size: Sendable { let width: Int }
extension Law9Size: @MainActor Equatable {
    @MainActor static func == (left: Law9Size, right: Law9Size) -> Bool { left.width == right.width }
}

@Suite("Law 9: actors welcome") @MainActor struct Law09ActorTests {
    @Test("A main-actor type is a feature by an isolated conformance (law 9)")
    func feature() {
        let container = Container()
        container[Law9Title.self] = "notes"
        let model = container[Law9Model.self]
        model.count += 1
        #expect(model.title == "notes")
        #expect(container[Law9Model.self] === model && container.child()[Law9Model.self].count == 1)
        let other = Law9Model(title: "other")
        container[Law9Model.self] = other
        #expect(container[Law9Model.self] === other && container.ifLoaded(Law9Model.self) === other)
        container.reset(Law9Model.self)
        #expect(container[Law9Model.self] !== other)
        container.replace(Law9Model.self) { _ in other }
        #expect(container[Law9Model.self] === other)
    }

    @Test("A sequence of a main-actor feature that fails to load yields nothing and reports nothing (laws 9 and 12)")
    func failingValues() {
        let container = Container()
        let reports = container.logReports()
        withExtendedLifetime(container.values(of: Law9Broken.self)) {}
        #expect(Law9Broken.loads == 1 && reports.all.isEmpty)
    }

    @Test("A main-actor type is a property by an isolated conformance (law 9)")
    func property() {
        let container = Container()
        #expect(container[Law9Theme.self] == 20)
        container[Law9Theme.self] = 5
        container.modify(Law9Theme.self) { $0 += 1 }
        #expect(container[Law9Theme.self] == 6)
        container.update { handle in handle[Law9Theme.self] = 7 }
        #expect(container[Law9Theme.self] == 7)
        container.reset(Law9Theme.self)
        #expect(container[Law9Theme.self] == 20)
    }

    @Test("A main-actor type is a throwing feature by an isolated conformance (law 9)")
    func throwing() throws {
        let container = Container()
        Law9Document.isMissing = true
        #expect(throws: Law9Document.Missing.self) { try container[Law9Document.self] }
        Law9Document.isMissing = false
        #expect(try container[Law9Document.self].model === container[Law9Model.self])
        container.set(Law9Document.self, to: Law9Document(model: Law9Model(title: "set")))
        #expect(try container[Law9Document.self].model.title == "set")
    }

    @Test("Main-actor types are observed and iterated (law 9)")
    func observation() async throws {
        let container = Container()
        let heard = Log<String>()
        let token = container.observe(Law9Model.self) { heard.add($0.title) }
        container[Law9Model.self] = Law9Model(title: "one")
        container.observe(Law9Theme.self) { heard.add("\($0)") }
        container[Law9Theme.self] = 1
        #expect(heard.all == ["one", "1"])
        token.cancel()
        var titles: [String] = []
        for await model in container.values(of: Law9Model.self) {
            titles.append(model.title)
            if titles.count == 3 { break }
            container[Law9Model.self] = Law9Model(title: "\(titles.count)")
        }
        #expect(titles == ["one", "1", "2"])
        let observable = container.observable
        let changes = Counter()
        withObservationTracking {
            _ = (observable[Law9Model.self], observable[Law9Theme.self])
        } onChange: {
            changes.add()
        }
        container[Law9Theme.self] = 3
        #expect(changes.value == 1)
    }

    @Test("An equality that belongs to the main actor is asked there and nowhere else (law 9)")
    func isolatedEquality() async {
        let container = Container()
        let key = PropertyKey(defaultValue: Law9Size(width: 1))
        let heard = Counter()
        container.observe(key) { _ in heard.add() }
        container[key] = Law9Size(width: 2)
        container[key] = Law9Size(width: 2)
        #expect(heard.value == 1)
        await Task.detached { container[key] = Law9Size(width: 2) }.value
        #expect(heard.value == 2)
    }

    private func typeChecks(_ body: String) throws -> (isRight: Bool, output: String)? {
        try Compiler.check(
            """
            import Fugu
            @MainActor final class Model { var count = 0 }
            extension Model: @MainActor Feature {
                static func load(in container: any FeatureContainer) -> Model { Model() }
            }
            \(body)
            """)
    }

    @Test("The compiler refuses to load a main-actor feature off the main actor (law 9)")
    nonisolated func compiler() async throws {
        let right = try await typeChecks(
            "@MainActor func use(_ container: Container) -> Model { container[Model.self] }")
        let wrong = try await typeChecks(
            "nonisolated func use(_ container: Container) -> Model { container[Model.self] }")
        let free = try await typeChecks(
            """
            nonisolated func drop(_ container: Container, _ model: Model) {
                container.replace(Model.self) { _ in model }
                container.reset(Model.self)
            }
            """)
        guard let right, let wrong, let free else { return print("skipped: no compiler or no module Fugu was found") }
        #expect(right.isRight, "\(right.output)")
        #expect(free.isRight, "what loads nothing may be called anywhere: \(free.output)")
        #expect(!wrong.isRight && wrong.output.contains("main actor-isolated conformance"), "\(wrong.output)")
    }
}
