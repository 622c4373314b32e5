@testable import Fugu
import FuguInspection
import Support
import Testing

/// An instance of the graph's features: an identity, a value, and the handle, which shows where it lives.
final class Made: Sendable {
    let identity: Int
    let value: Int
    let handle: (any FeatureContainer)?
    /// The values that were read, for checks that know no order of events.
    let inputs: [Source: Int]

    init(identity: Int, value: Int, handle: (any FeatureContainer)? = nil, inputs: [Source: Int] = [:]) {
        self.identity = identity
        self.value = value
        self.handle = handle
        self.inputs = inputs
    }
}

/// A feature of the graph.
///
/// It throws what it reads and what refuses it, so it isn't a `FeatureKey`; the keys are the addresses of types, as for any
/// `ThrowingFeature`.
struct GraphFeature: Sendable {
    private enum First {}
    private enum Next<Before> {}

    let key: TypedKey
    private let home: Home
    private let reloads: Bool
    private let load: @Sendable (any FeatureContainer) throws -> Made

    init(
        _ index: Int, home: Home, reloads: Bool, load: @escaping @Sendable (any FeatureContainer) throws -> Made
    ) {
        func type(_ count: Int, after last: (some Any).Type) -> Any.Type { count == 0 ? last : next(count, last) }
        func next<Before>(_ count: Int, _: Before.Type) -> Any.Type { type(count - 1, after: Next<Before>.self) }
        key = TypedKey(Key.throwingFeature(type(index, after: First.self)), of: Made.self)
        (self.home, self.reloads, self.load) = (home, reloads, load)
    }

    func read(from container: any FeatureContainer) throws -> Made {
        try container._container.read(key.key, nil) {
            Request(key.raw, KeyTraits(home: home, reloads: reloads))
        } _: {
            Payload(try load($0))
        }.value(as: Made.self)
    }
    /// Reads where no feature has a home that could refuse.
    func given(by container: any FeatureContainer) -> Made {
        do { return try read(from: container) } catch { fatalError("\(error)") }
    }
    func set(_ made: Made, in container: any FeatureContainer) { container._container.set(key, Payload(made)) }
    func reset(in container: any FeatureContainer) { container._container.change(key, to: .nothing) }
    func loaded(in container: Container) -> Made? { container.present(key.key, nil)?.value(as: Made.self) }
    func replace(in container: any FeatureContainer, by load: @escaping @Sendable (Container) throws -> Made) {
        container._container.change(key, to: .loader(Replacement { Payload(try load($0)) }))
    }
}

/// A random graph as keys of a container, counting its loads.
final class Graph: Sendable {
    final class Tally: Sendable {
        private let loads = Locked<[Source: Int]>([:])
        private let identities = Counter()

        var all: [Source: Int] { loads.withLock { $0 } }
        func count(_ source: Source) -> Int {
            loads.withLock { loads in
                loads[source, default: 0] += 1
                return loads[source]!
            }
        }
        func takeIdentity() -> Int { identities.add() }
    }

    let tally = Tally()
    let properties: [PropertyKey<Int>]
    let features: [GraphFeature]
    /// Says which container answers: every container sets it to its own number.
    let name = PropertyKey(defaultValue: -1, id: UniqueID())

    init(_ shape: GraphShape) {
        let tally = tally
        let properties = (0..<shape.propertyCount).map { index in
            PropertyKey(
                defaultValue: ModelFamily.defaultValue(of: index, evaluation: tally.count(.property(index))),
                id: UniqueID())
        }
        var features: [GraphFeature] = []
        for (index, feature) in shape.features.enumerated() {
            let before = features
            let home: Home =
                switch feature.home {
                case .inferred: .inferred
                case .local: .local
                case .with(let keys) where keys.count == 1: .with({ _ in properties[keys[0]] })
                case .with(let keys): .with({ _ in properties[keys[0]] }, { _ in properties[keys[1]] })
                }
            features.append(
                GraphFeature(index, home: home, reloads: feature.reloads) { container in
                    _ = tally.count(.feature(index))
                    return try Self.make(feature.program, container, properties, before, tally)
                })
        }
        self.properties = properties
        self.features = features
    }

    private static func make(
        _ program: Program, _ container: any FeatureContainer, _ properties: [PropertyKey<Int>],
        _ features: [GraphFeature], _ tally: Tally
    ) throws -> Made {
        var inputs: [Source: Int] = [:]
        let value = try program.run { source in
            switch source {
            case .property(let index):
                let value = container[properties[index]]
                inputs[source] = inputs[source] ?? value
                return value
            case .feature(let index):
                let made = try features[index].read(from: container)
                inputs[source] = inputs[source] ?? made.identity
                return made.value
            }
        }
        return Made(identity: tally.takeIdentity(), value: value, handle: container, inputs: inputs)
    }

    func replace(_ index: Int, in container: some FeatureContainer, by program: Program) {
        let (properties, before, tally) = (properties, Array(features[..<index]), tally)
        features[index].replace(in: container) {
            _ = tally.count(.feature(index))
            return try Self.make(program, $0, properties, before, tally)
        }
    }
}

@Suite("A family against a model made from the laws") struct FamilyModelTests {}

extension FamilyModelTests {
    @Test("Every read of random families gives what the laws say: value, instance, home, loads (laws 3, 10 to 13)")
    func agreesWithTheModel() {
        for seed in seeds(40, for: "family model") {
            var random = SeededGenerator(seed: seed)
            let shape = GraphShape(using: &random, withKeyHomes: true)
            let looksEverywhere = Bool.random(using: &random)
            let steps = Step.list(250, for: shape, using: &random)
            guard Comparison.failure(shape, steps, looksEverywhere) != nil else { continue }
            let (few, failure) = Step.fewest(steps) { Comparison.failure(shape, $0, looksEverywhere) }
            let story = shape.description + few.map(\.description)
            Issue.record("seed \(seed): \(failure)\n\(story.joined(separator: "\n"))")
            return
        }
    }
}

/// One step of a random story.
///
/// A step whose container is not there is skipped, so that a story can be shortened.
private enum Step: Sendable, CustomStringConvertible {
    case child(Int, of: Int)
    case drop(Int)
    case change(Int, [Write])
    case update(Int, [Write])
    case modify(Int, property: Int, by: Int)
    case resetAll(Int)
    case read(Int, Source)

    struct Write: Sendable, CustomStringConvertible {
        let source: Source
        let change: ModelFamily.Change
        var description: String { "\(source) \(change)" }
    }

    var description: String {
        let text =
            switch self {
            case .child(let name, let parent): "child \(name) of \(parent)"
            case .drop(let name): "drop \(name)"
            case .change(let name, let writes): "\(name): \(writes)"
            case .update(let name, let writes): "\(name): update \(writes)"
            case .modify(let name, let property, let addend): "\(name): modify property(\(property)) by \(addend)"
            case .resetAll(let name): "\(name): resetAll"
            case .read(let name, let source): "\(name): read \(source)"
            }
        return text.shortened
    }

    static func list(_ count: Int, for shape: GraphShape, using random: inout SeededGenerator) -> [Step] {
        var depths = [0: 0]
        var sets = 0
        return (0..<count).map { _ in
            let name = depths.keys.sorted().randomElement(using: &random)!
            func source() -> Source { shape.source(using: &random) }
            func write() -> Write {
                let source = source()
                sets += 1
                return Write(source: source, change: shape.change(of: source, number: sets, using: &random))
            }
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<6 where depths[name]! < 5 && depths.count < 14:
                depths[depths.count] = depths[name]! + 1
                return .child(depths.count - 1, of: name)
            case 6..<7 where name > 0: return .drop(name)
            case 8..<24: return .change(name, [write()])
            case 24..<28:
                let writes = (0..<Int.random(in: 1...4, using: &random)).map { _ in write() }
                return .update(
                    name, Dictionary(writes.map { ($0.source, $0) }) { $1 }.values.sorted { "\($0)" < "\($1)" })
            case 28..<31:
                let property = Int.random(in: 0..<shape.propertyCount, using: &random)
                return .modify(name, property: property, by: .random(in: 0...1, using: &random))
            case 31..<32: return .resetAll(name)
            default: return .read(name, source())
            }
        }
    }

    /// The fewest of the steps that still fail.
    static func fewest(_ steps: [Step], _ failure: ([Step]) -> String?) -> ([Step], String) {
        var steps = steps
        var length = steps.count / 2
        while length > 0 {
            var start = 0
            while start < steps.count {
                var fewer = steps
                fewer.removeSubrange(start..<min(start + length, steps.count))
                if failure(fewer) != nil { steps = fewer } else { start += length }
            }
            length /= 2
        }
        return (steps, failure(steps) ?? "")
    }
}

extension GraphShape {
    fileprivate var description: [String] {
        features.enumerated().map { index, feature in
            "feature \(index): \(feature.program.steps)\(feature.home == .inferred ? "" : " \(feature.home)")\(feature.reloads ? " reloads" : "")"
                .shortened
        }
    }

    fileprivate func source(using random: inout SeededGenerator) -> Source {
        Int.random(in: 0..<4, using: &random) == 0
            ? .property(.random(in: 0..<propertyCount, using: &random))
            : .feature(.random(in: 0..<features.count, using: &random))
    }

    fileprivate func change(of source: Source, number: Int, using random: inout SeededGenerator) -> ModelFamily.Change {
        switch (source, Int.random(in: 0..<6, using: &random)) {
        case (_, 0...2): .reset
        case (.property, _): .set(.random(in: 0..<4, using: &random))
        case (.feature(let index), 3): .replace(program(before: index, using: &random))
        // Instances set by code have negative numbers.
        case (.feature, _): .setFeature(.init(value: .random(in: 0..<100, using: &random), identity: -number))
        }
    }
}

extension String {
    fileprivate var shortened: String {
        ["FuguTests.", "Program.Step.", "ModelFamily.", "Source.", "Change.", "Sight"]
            .reduce(self) { $0.replacing($1, with: "") }
    }
}

/// A container family and the model, side by side.
private struct Comparison {
    private var failure: String?
    private let shape: GraphShape
    private let graph: Graph
    private let model: ModelFamily
    private var containers: [Int: Container]

    /// Whether everything is looked at after each step, which also makes every link there can be.
    static func failure(_ shape: GraphShape, _ steps: [Step], _ looksEverywhere: Bool) -> String? {
        var comparison = Comparison(shape)
        for step in steps where comparison.failure == nil {
            comparison.perform(step)
            if comparison.failure == nil, looksEverywhere { comparison.lookEverywhere() }
            if comparison.failure == nil, comparison.graph.tally.all != comparison.model.loads {
                comparison.failure =
                    "loads are \(comparison.graph.tally.all), the model's \(comparison.model.loads)".shortened
            }
        }
        return comparison.failure
    }

    private init(_ shape: GraphShape) {
        self.shape = shape
        graph = Graph(shape)
        model = ModelFamily(shape)
        let root = Container().unreported
        root[graph.name] = 0
        containers = [0: root]
    }

    private func member(_ name: Int) -> ModelFamily.Member? { model.members.first { $0.name == name } }

    private mutating func perform(_ step: Step) {
        switch step {
        case .child(let name, let parent):
            guard let parent = member(parent) else { return }
            model.members.append(ModelFamily.Member(name: name, parent: parent))
            containers[name] = containers[parent.name]!.child { $0[graph.name] = name }
        case .drop(let name):
            guard let member = member(name), !model.members.contains(where: { $0.parent === member }) else { return }
            model.members.removeAll { $0 === member }
            containers[name] = nil
        case .change(let name, let writes):
            guard let member = member(name) else { return }
            for write in writes {
                compare(write, in: containers[name]!)
                perform(write, in: containers[name]!)
            }
            for write in writes { model.perform(write.change, on: write.source, in: member) }
        case .update(let name, let writes):
            guard let member = member(name) else { return }
            for write in writes { compare(write, in: containers[name]!) }
            containers[name]!.update { handle in for write in writes { perform(write, in: handle) } }
            model.perform(writes.map { ($0.change, $0.source) }, in: member)
        case .modify(let name, let index, let addend):
            if let member = member(name) { modify(member, index, addend) }
        case .resetAll(let name):
            guard let member = member(name) else { return }
            containers[name]!.resetAll()
            containers[name]![graph.name] = name
            model.perform(Set(member.held.keys).union(member.loaded.keys).map { (.reset, $0) }, in: member)
        case .read(let name, let source):
            if let member = member(name) { read(source, by: member) }
        }
    }

    /// Lets the container compare a value with the one that it inherits, as if something had been made from it.
    ///
    /// Otherwise, nothing compares them, and what is made from the value afterward loads again once the value is reset.
    private func compare(_ write: Step.Write, in container: Container) {
        guard case (.property(let index), .set(let value)) = (write.source, write.change),
            container.ifLoaded({ _ in graph.properties[index] }) == value
        else { return }
        let key = Key(raw: graph.properties[index].raw)
        container.node.family.lock.withLock { container.node.storage.cell($0, key).mark(CellFlags.input) }
    }

    private func perform(_ write: Step.Write, in container: some FeatureContainer) {
        switch (write.source, write.change) {
        case (.property(let index), .set(let value)): container[graph.properties[index]] = value
        case (.property(let index), _): container.reset { _ in graph.properties[index] }
        case (.feature(let index), .setFeature(let sight)):
            graph.features[index].set(Made(identity: sight.identity, value: sight.value), in: container)
        case (.feature(let index), .replace(let program)): graph.replace(index, in: container, by: program)
        case (.feature(let index), _): graph.features[index].reset(in: container)
        }
    }

    private mutating func modify(_ member: ModelFamily.Member, _ index: Int, _ addend: Int) {
        let result = containers[member.name]!.modify({ _ in graph.properties[index] }) { value in
            value += addend
            return value
        }
        guard let expected = (try? model.read(.property(index), by: member)).map({ $0.sight.value + addend }) else {
            return
        }
        model.perform(.set(expected), on: .property(index), in: member)
        if result != expected { failure = "modify made \(result), the model \(expected)" }
    }

    private mutating func read(_ source: Source, by member: ModelFamily.Member) {
        let container = containers[member.name]!
        let expected = try? model.read(source, by: member)
        switch source {
        case .property(let index):
            let value = container[graph.properties[index]]
            if value != expected?.sight.value {
                failure = "\(member.name) reads \(value) for \(source), the model \(expected!.sight.value)"
            }
        case .feature(let index):
            switch (Result { try graph.features[index].read(from: container) }, expected) {
            case (.success(let made), let expected?): check(made, source, member, expected)
            case (.success(let made), nil):
                failure = "\(member.name) is given \(made.identity) for \(source), not refused"
            case (.failure(let error as LoadError), nil) where error.code == .inputOverridden: break
            case (.failure(let error), _): failure = "\(member.name) cannot read \(source): \(error)"
            }
        }
    }

    private mutating func check(
        _ made: Made, _ source: Source, _ member: ModelFamily.Member, _ expected: ModelFamily.Present
    ) {
        let sight = ModelFamily.Sight(value: made.value, identity: made.identity)
        if sight != expected.sight {
            failure = "\(member.name) has \(sight) for \(source), the model \(expected.sight) of \(expected.owner.name)"
        } else if let home = made.handle?[graph.name], home != expected.owner.name {
            failure = "\(source) of \(member.name) lives in \(home), in the model in \(expected.owner.name)"
        }
    }

    private mutating func lookEverywhere() {
        for member in model.members {
            let container = containers[member.name]!
            for index in shape.features.indices where failure == nil {
                let source = Source.feature(index)
                switch (graph.features[index].loaded(in: container), model.present(source, for: member)) {
                case (nil, nil): break
                case (let made?, let expected?): check(made, source, member, expected)
                case (let made, let expected):
                    failure =
                        "\(member.name) has \(made.map { "\($0.identity)" } ?? "nothing") loaded for \(source), "
                        + "the model \(expected.map { "\($0.sight) of \($0.owner.name)" } ?? "nothing")"
                }
            }
            for index in 0..<shape.propertyCount where failure == nil {
                let value = container.ifLoaded { _ in graph.properties[index] }
                let expected = model.present(.property(index), for: member)?.sight.value
                if value != expected {
                    failure = "\(member.name) has \(value as Int?) for property \(index), the model \(expected as Int?)"
                }
            }
        }
    }
}

/// Several threads work on one family at once.
///
/// Each owns a branch: nobody else writes there, so what it set there it reads there; everything else it can only judge
/// by what must hold however the threads interleave.
private final class Crowd: Sendable {
    let shape: GraphShape
    let graph: Graph
    let root = Container().unreported
    /// The number in `name` of each container that a thread has made and kept.
    let kept = Log<(container: Container, name: Int)>()
    let failures = Log<String>()

    init(_ shape: GraphShape) {
        self.shape = shape
        graph = Graph(shape)
        root[graph.name] = 0
    }

    func run(thread: Int, steps: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed &+ UInt64(thread))
        var branch: [(container: Container, name: Int)] = []
        // The last property is this thread's alone below the root.
        let mine = graph.properties[shape.propertyCount - 1]
        for step in 0..<steps {
            let name = (thread + 1) * 1_000_000 + step
            let parent = branch.randomElement(using: &random) ?? (root, 0)
            switch Int.random(in: 0..<20, using: &random) {
            case 0...1 where branch.count < 12:
                let child = parent.container.child { $0[graph.name] = name }
                branch.append((child, name))
                kept.add((child, name))
            case 2:
                guard let member = branch.randomElement(using: &random) else { continue }
                member.container[mine] = name
                if member.container[mine] != name { failures.add("thread \(thread) does not read what it set") }
            case 3...7: change(Bool.random(using: &random) ? root : parent.container, step, &random)
            case 8:
                let child = parent.container.child { change($0, step, &random) }
                _ = graph.features.last!.given(by: child)
            default: read(parent.container, parent.name, &random)
            }
        }
    }

    private func change(_ container: Container, _ step: Int, _ random: inout SeededGenerator) {
        let source = shape.source(using: &random)
        switch (source, shape.change(of: source, number: step + 1, using: &random)) {
        case (.property(let index), .set(let value)) where index < shape.propertyCount - 1:
            container[graph.properties[index]] = value
        case (.property(let index), _) where index < shape.propertyCount - 1:
            container.reset { _ in graph.properties[index] }
        case (.feature(let index), .setFeature(let sight)):
            graph.features[index].set(Made(identity: sight.identity, value: sight.value), in: container)
        case (.feature(let index), .replace(let program)): graph.replace(index, in: container, by: program)
        case (.feature(let index), _): graph.features[index].reset(in: container)
        default: break
        }
    }

    private func read(_ container: Container, _ name: Int, _ random: inout SeededGenerator) {
        guard case .feature(let index) = shape.source(using: &random) else { return }
        let made = graph.features[index].given(by: container)
        // Whatever it is, it lives in the container or an ancestor, and names are never given twice.
        guard let home = made.handle?[graph.name] else { return }
        if home != 0, home / 1_000_000 != name / 1_000_000 {
            failures.add("\(name) was given an instance that lives in \(home)")
        }
    }

    /// After all threads have ended: reading twice gives the same, reading loads nothing that is there, and what reloads
    /// was made from what is there now.
    func checkAtRest() {
        let all = [(container: root, name: 0)] + kept.all
        for (container, name) in all { for index in shape.features.indices { settle(container, name, index) } }
        let loads = graph.tally.all
        for (container, name) in all { for index in shape.features.indices { settle(container, name, index) } }
        if graph.tally.all != loads { failures.add("at rest, reads load again") }
    }

    private func settle(_ container: Container, _ name: Int, _ index: Int) {
        let key = graph.features[index]
        let made = key.given(by: container)
        if key.given(by: container) !== made { failures.add("\(name) reads two instances in a row") }
        guard let home = made.handle, shape.features[index].reloads else { return }
        for (source, identity) in made.inputs {
            let now =
                switch source {
                case .property(let index): home[graph.properties[index]]
                case .feature(let index): graph.features[index].given(by: home).identity
                }
            if now != identity {
                failures.add("\(source) of what reloads in \(name) was \(identity), is \(now)".shortened)
            }
        }
    }
}

@Suite("A family that many threads use") struct FamilyCrowdTests {}

extension FamilyCrowdTests {
    @Test("However threads interleave, homes, sharing and reloads are right in the end (laws 3, 10 to 12)")
    func manyThreads() {
        for seed in seeds(6, for: "family crowd") {
            var random = SeededGenerator(seed: seed)
            let crowd = Crowd(GraphShape(using: &random))
            onThreads(4) { thread in crowd.run(thread: thread, steps: 400, seed: seed) }
            crowd.checkAtRest()
            expect(
                crowd.failures.all.isEmpty,
                "seed \(seed): \(crowd.failures.all.prefix(5)) in \(crowd.shape.description)")
        }
    }
}
