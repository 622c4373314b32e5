import Foundation
import Fugu
import FuguConfiguration
import FuguInspection
import FuguScopes
import FuguTesting
import Support
import Testing

/// Values, families, rules, sources, reloads, observers, effects, closing, late reads and strictness together.
///
/// `FUGU_STEPS=10000000` makes as many steps, `FUGU_SEED=…` repeats a seed, and `FUGU_SEEDS=…` so many from there on.
@Suite("Everything together against a slow model") struct EverythingTests {}

extension EverythingTests {
    @Test("Random stories give what the laws say, whatever is mixed (laws 1 to 19)")
    func stories() async {
        let environment = ProcessInfo.processInfo.environment
        let (count, length) = (environment["FUGU_STEPS"].flatMap { Int($0) } ?? 10_000, 250)
        let first = environment["FUGU_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000_000)
        let given = environment["FUGU_SEEDS"].flatMap { Int($0) } ?? 1
        let stories = environment["FUGU_SEED"] == nil ? (count + length - 1) / length : given
        print("everything: \(stories) stories of \(length) steps, seeds from \(first) (repeat one with FUGU_SEED=…)")
        for seed in first..<first + UInt64(stories) {
            var random = SeededGenerator(seed: seed)
            let isStrict = random.below(3) == 0
            let story = EverythingStep.story(length, using: &random)
            guard await EverythingComparison.failure(isStrict: isStrict, story) != nil else { continue }
            let (few, failure) = await Self.fewest(story) { await EverythingComparison.failure(isStrict: isStrict, $0) }
            Issue.record("seed \(seed): \(failure)\n\(Self.program(isStrict, few))")
            return
        }
    }

    @Test("An observer is notified of what an update's reset uncovers, though sources came between (laws 6, 9 and 15)")
    func uncoveredBelowSources() async {
        let failure = await EverythingComparison.failure(
            isStrict: true,
            [
                .child(1, of: 0), .change(1, .p2, .set(1)), .child(2, of: 1), .observe(2, .p2), .change(2, .f, .set(3)),
                .apply(1, [.p0: 10, .p1: 10]),
                .update(1, [.f: .set(0), .p0: .reset, .p2: .reset], throws: false),
            ])
        expect(failure == nil)
    }

    @Test("A reset tells of the inherited value, although an equal one hid it before either changed (laws 6 and 9)")
    func equalValuesThatPart() async {
        for changed in [2, 1, 0] {
            let failure = await EverythingComparison.failure(
                isStrict: false,
                [
                    .change(0, .p0, .set(1)), .child(1, of: 0), .child(2, of: 1), .modify(1, .p0, by: 0),
                    .modify(2, .p0, by: 0), .change(changed, .p0, .set(5)), .observe(2, .p0), .observe(1, .p0),
                    .change(2, .p0, .reset), .change(1, .p0, .reset),
                ])
            expect(failure == nil)
        }
    }

    /// The story as a test that can be pasted.
    private static func program(_ isStrict: Bool, _ story: [EverythingStep]) -> String {
        """
        @Test("…") func story() async {
            let failure = await EverythingComparison.failure(isStrict: \(isStrict), [
                \(story.map(\.description).joined(separator: ",\n        ")),
            ])
            expect(failure == nil)
        }
        """
    }

    /// The fewest of the steps that still fail.
    private static func fewest(
        _ steps: [EverythingStep], _ failure: ([EverythingStep]) async -> String?
    ) async -> ([EverythingStep], String) {
        var steps = steps
        var length = steps.count / 2
        while length > 0 {
            var start = 0
            let before = steps.count
            while start < steps.count {
                var fewer = steps
                fewer.removeSubrange(start..<min(start + length, steps.count))
                if await failure(fewer) != nil { steps = fewer } else { start += length }
            }
            if length > 1 || steps.count == before { length /= 2 }
        }
        return (steps, await failure(steps) ?? "")
    }
}

/// What the features of a random story make, with the handle that was given to their load.
final class EverythingMade: Sendable {
    let value: Int
    let handle: (any FeatureContainer)?

    init(_ value: Int, _ handle: (any FeatureContainer)? = nil) {
        self.value = value
        self.handle = handle
    }
}

private typealias Instance = EverythingMade

extension ContainerKeys {
    fileprivate var p0: PropertyKey<Int> { .init("everything.p0", defaultValue: 1) }
    fileprivate var p1: PropertyKey<Int> { .init("everything.p1", defaultValue: Container.current.p0 + 1) }
    fileprivate var p2: PropertyKey<Int> { .init("everything.p2", defaultValue: 3) }
    fileprivate var q: PropertyKey<Int> { .init(defaultValue: 7) }
    fileprivate var f: FeatureKey<EverythingMade> {
        .init(reloadsWhenInputsChange: true) { Instance($0.p0 * 10 + $0.q, $0) }
    }
    fileprivate var g: FeatureKey<EverythingMade> {
        .init(reloadsWhenInputsChange: true) { Instance($0.f.value * 3 + $0.p1, $0) }
    }
    fileprivate var n: FeatureKey<EverythingMade> { .init { Instance($0.p0, $0) } }
    fileprivate var l: FeatureKey<[Int]> { .init { [$0.p0] } }
}

private struct T: ThrowingFeature, External {
    static var reloadsWhenInputsChange: Bool { true }
    static func load(in container: any FeatureContainer) throws -> EverythingMade {
        Instance(container.p0 * 100, container)
    }
}

/// A source whose table counts from the next reload on.
private final class Tables: PropertySource {
    let name = "tables"
    let table: Locked<EverythingModel.Table>

    init(_ table: EverythingModel.Table) { self.table = Locked(table) }

    func load() throws(PropertyError) -> PropertySnapshot {
        var values: [String: PropertyValue] = [:]
        for (key, number) in table.withLock({ $0 }) {
            values[key.name] = number.map { .integer(Int128($0)) } ?? .string("no number")
        }
        return try PropertySnapshot(values, source: name)
    }
}

/// A family and the model of it, side by side.
final class EverythingComparison {
    typealias Key = EverythingModel.Key

    private struct Observed {
        let name: Int
        let key: Key
        let token: ObservationToken
        let heard: Log<Int>
        /// What it should have heard, without repetitions, beginning with what was there.
        var expected: [Int]
    }

    private let model: EverythingModel
    private var containers: [Int: Container]
    private var sources: [Int: [Tables]] = [:]
    private var observers: [Int: Observed] = [:]
    private var observerCount = 0
    private var lastEffect: Int
    private let closers = Counter()
    private let refusals = Counter()
    private(set) var failure: String?

    /// What is wrong with a story, if something is.
    static func failure(isStrict: Bool, _ story: [EverythingStep]) async -> String? {
        let comparison = EverythingComparison(isStrict: isStrict)
        for step in story where comparison.failure == nil {
            await comparison.perform(step)
            comparison.settle()
        }
        return comparison.failure
    }

    private init(isStrict: Bool) {
        model = EverythingModel(isStrict: isStrict)
        let root = Container.program()
        // As `Container.strict` does, which would make a failure of each refusal.
        if isStrict { root.makeStrict(Strictness { [refusals] _ in refusals.add() }) }
        root.handleReports { _ in }
        containers = [0: root]
        // Sources answer for the names that were read.
        _ = (root.p0, root.p1, root.p2, root.q)
        // An effect: the root's q follows its p2.
        lastEffect = root.p2
        let last = Locked(lastEffect)
        root.observe(\.p2) { [weak root] number in
            let isNew = last.withLock { last in
                defer { last = number }
                return last != number
            }
            if isNew { root?.q = number + 100 }
        }
    }

    deinit { for observed in observers.values { observed.token.cancel() } }

    private func expect(_ isRight: Bool, _ message: @autoclosure () -> String) {
        if !isRight, failure == nil { failure = message() }
    }

    // MARK: After each step

    /// The model does what effects do, and compares what was heard.
    private func settle() {
        note()
        let now = model.sight(.p2, from: model.members[0]!)!.value
        if now != lastEffect {
            lastEffect = now
            model.members[0]!.held[.q] = .value(now + 100)
            note()
        }
        for (number, observed) in observers { compare(observed, number) }
    }

    private func note() {
        for (number, observed) in observers {
            guard let value = model.sight(observed.key, from: model.members[observed.name]!)?.value else { continue }
            if observed.expected.last != value { observers[number]!.expected.append(value) }
        }
    }

    private func compare(_ observed: Observed, _ number: Int) {
        let heard = observed.heard.all
        let member = model.members[observed.name]!
        let who = "observer \(number) of .\(observed.key) in \(observed.name)"
        // A closed container loads no features by itself, so that some of it is told late.
        if member.isClosed, !observed.key.isProperty { return }
        if observed.key.isProperty {
            let told = ([observed.expected[0]] + heard).withoutRepetitions
            expect(told == observed.expected, "\(who) heard \(heard), not \(observed.expected)")
        } else if let last = heard.last {
            let now = model.sight(observed.key, from: member)!.value
            expect(last == now, "\(who) heard \(heard), it is \(now)")
        }
    }

    private func lookEverywhere() {
        for name in containers.keys.sorted() {
            for key in Key.allCases { look(name, key) }
        }
    }

    private func look(_ name: Int, _ key: Key) {
        guard failure == nil, let container = containers[name], let member = model.members[name] else { return }
        // Whether the parent's is there is more than the model knows.
        if key == .t, member.isClosed { return }
        let before = refusals.value
        let (seen, expected) = (value(key, container), model.sight(key, from: member)?.value)
        // They don't reload: they're right after a reset.
        if key == .n || key == .l { return }
        expect(
            refusals.value == before + (expected == nil ? 1 : 0), "\(name) reads .\(key): \(refusals.value - before)")
        expect(seen == expected, "\(name) reads \(seen.text) for .\(key), not \(expected.text)")
    }

    private func value(_ key: Key, _ container: Container) -> Int? {
        switch key {
        case .p0: container.p0
        case .p1: container.p1
        case .p2: container.p2
        case .q: container.q
        case .f: container.f.value
        case .g: container.g.value
        case .t: try? container[T.self].value
        case .n: container.n.value
        case .l: container.l.reduce(0, +)
        }
    }

    /// What a reset of a feature that doesn't reload leaves is made from what's there now, where all of it lives below the reset.
    private func lookAnew(_ key: Key, after name: Int, wasHeld: Bool) {
        let reset = model.members[name]!
        // What's loaded above stays, and may be older than a change there.
        let isLoadedAbove = containers[name]!.graph.entries.contains { entry in
            entry.depth < reset.depth && entry.state == .loaded && entry.name.contains("\\.\(key)")
        }
        if isLoadedAbove { return }
        for (number, container) in containers.sorted(by: { $0.key < $1.key }) where wasHeld || number == name {
            let member = model.members[number]!
            let homes = [Key.p0, .p1].map { model.sight($0, from: member)!.home }
            let below = member.ancestry.prefix { $0 !== reset }
            guard below.allSatisfy({ $0.held[key] == nil }),
                (homes + [member]).allSatisfy({ !$0.isClosed && $0.ancestry.contains { $0 === reset } })
            else { continue }
            let (seen, expected) = (value(key, container), model.sight(key, from: member)!.value)
            expect(
                seen == expected, "\(number) reads \(seen.text) for .\(key) after a reset in \(name), not \(expected)")
        }
    }

    /// A read through the handle that an instance kept answers from where the instance lives.
    private func lookLate(_ name: Int, _ key: Key, _ late: Key) {
        guard let container = containers[name], let member = model.members[name], !member.isClosed,
            let home = model.sight(key, from: member)?.home, !home.isClosed,
            let handle = (key == .f ? container.f : container.g).handle
        else { return }
        let seen =
            switch late {
            case .p0: handle.p0
            case .p1: handle.p1
            case .p2: handle.p2
            default: handle.q
            }
        let expected = model.sight(late, from: home)!.value
        // What was made from a computed default is kept if that's set to its value, and still remembers what the default read, so that
        // a container below that overrides this has its own.
        let mayRememberMore = member.ancestry.contains {
            $0.held[.p1] != nil || !$0.rules.isEmpty || !$0.sources.isEmpty
        }
        if mayRememberMore, member.ancestry.contains(where: { model.sight(late, from: $0)!.value == seen }) { return }
        expect(seen == expected, "what \(name) has as .\(key) reads \(seen) late for .\(late), not \(expected)")
    }
}

// MARK: Steps

extension EverythingComparison {
    private func perform(_ step: EverythingStep) async {
        switch step {
        case .child(let name, let parent): addChild(name, parent, nil)
        case .scope(let name, let parent, let path): addChild(name, parent, path)
        case .drop(let name): drop(name)
        case .read(let name, let key): look(name, key)
        case .readAll: lookEverywhere()
        case .readLate(let name, let key, let late): lookLate(name, key, late)
        case .observe(let name, let key): observe(name, key)
        case .cancel(let number): observers.removeValue(forKey: number)?.token.cancel()
        case .close(let name): await close(name)
        case .rule, .apply, .rewrite, .reload: configure(step)
        default: change(step)
        }
    }

    private func addChild(_ name: Int, _ parent: Int, _ path: String?) {
        guard let container = containers[parent], model.members[name] == nil else { return }
        guard let path else {
            model.add(name, to: parent)
            containers[name] = container.child()
            return
        }
        let scope = container.scope(path)
        // The same path gives the same scope while someone holds it.
        if containers.values.contains(where: { $0 === scope }) { return }
        model.addScope(name, to: parent, path: path)
        containers[name] = scope
    }

    private func drop(_ name: Int) {
        guard name != 0, containers[name] != nil, !model.hasChildren(name) else { return }
        for (number, observed) in observers where observed.name == name { observers[number] = nil }
        model.remove(name)
        sources[name] = nil
        containers[name] = nil
    }

    private func close(_ name: Int) async {
        guard let container = containers[name] else { return }
        let wasClosed = model.members[name]!.isClosed
        let before = closers.value
        if !wasClosed { container.onClose { [closers] in closers.add() } }
        do { try await container.close() } catch { expect(false, "closing \(name) threw \(error)") }
        model.close(name)
        expect(wasClosed || closers.value == before + 1, "closing \(name) ran \(closers.value - before) closers")
    }

    private func observe(_ name: Int, _ key: Key) {
        guard let container = containers[name], let member = model.members[name] else { return }
        let heard = Log<Int>()
        let token =
            switch key {
            case .p0: container.observe(\.p0) { heard.add($0) }
            case .p1: container.observe(\.p1) { heard.add($0) }
            case .p2: container.observe(\.p2) { heard.add($0) }
            case .q: container.observe(\.q) { heard.add($0) }
            default: container.observe(\.f) { heard.add($0.value) }
            }
        let present = model.sight(key == .g || key == .t ? .f : key, from: member)!.value
        observers[observerCount] = Observed(
            name: name, key: key.isProperty ? key : .f, token: token, heard: heard, expected: [present])
        observerCount += 1
    }

    private func configure(_ step: EverythingStep) {
        switch step {
        case .rule(let name, let pattern, let key, let value):
            guard let container = containers[name], !model.members[name]!.isClosed else { return }
            container.configureScopes(pattern) { Self.set(key, value, $0) }
            model.members[name]!.rules.append(.init(pattern: pattern, key: key, value: value))
        case .apply(let name, let table):
            guard let container = containers[name], !model.members[name]!.isClosed else { return }
            let source = Tables(table)
            // Those that were rewritten are not read again now.
            do { try container.apply(source) } catch { return expect(false, "applying to \(name) threw \(error)") }
            sources[name, default: []].append(source)
            model.members[name]!.sources.append(table)
        case .rewrite(let name, let number, let table):
            guard let all = sources[name], number < all.count else { return }
            all[number].table.withLock { $0 = table }
        case .reload(let name):
            guard let container = containers[name], !model.members[name]!.isClosed, let all = sources[name] else {
                return
            }
            let isRight = model.reload(name, all.map { $0.table.withLock { $0 } })
            let isLetIn: Bool
            do {
                try container.reload()
                isLetIn = true
            } catch { isLetIn = false }
            expect(isLetIn == isRight, "a reload of \(name) was \(isLetIn ? "" : "not ")let in")
        default: break
        }
    }

    private static func set(_ key: Key, _ value: Int, _ container: any PropertyContainer) {
        switch key {
        case .p0: container.p0 = value
        case .p1: container.p1 = value
        case .p2: container.p2 = value
        default: container.q = value
        }
    }

    private func change(_ step: EverythingStep) {
        switch step {
        case .change(let name, let key, let change):
            guard let container = containers[name] else { return }
            changeOne(name, key, change, container)
        case .update(let name, let changes, let fails):
            guard let container = containers[name] else { return }
            try? container.update { handle throws(CancellationError) in
                for (key, change) in changes { Self.perform(change, key, handle) }
                if fails { throw CancellationError() }
            }
            if !fails { for (key, change) in changes { note(change, key, name) } }
        case .modify(let name, let key, let addend):
            guard let container = containers[name] else { return }
            switch key {
            case .p0: container.modify(\.p0) { $0 += addend }
            case .p1: container.modify(\.p1) { $0 += addend }
            case .p2: container.modify(\.p2) { $0 += addend }
            default: container.modify(\.q) { $0 += addend }
            }
            let member = model.members[name]!
            member.held[key] = .value(model.sight(key, from: member)!.value + addend)
        case .resetAll(let name):
            containers[name]?.resetAll()
            model.members[name]?.held = [:]
        default: break
        }
    }

    private func changeOne(_ name: Int, _ key: Key, _ change: EverythingStep.Change, _ container: Container) {
        let member = model.members[name]!
        var (before, change) = ((EverythingMade, EverythingMade)?.none, change)
        if key.isProperty {
            let sight = model.sight(key, from: member)!
            // 10: setting a key again to an equal value changes nothing.
            let isSame: Bool
            if case .setEqual = change {
                change = .set(sight.value)
                isSame = model.isSet(key, in: member)
            } else if case .reset = change {
                // A default that was read is evaluated again.
                isSame = member.held[key] == nil && sight.home !== member
            } else {
                isSame = false
            }
            if isSame, !member.isClosed { before = (container.f, container.g) }
        } else if [.n, .l].contains(key), member.isClosed {
            return
        }
        let wasHeld = member.held[key] != nil
        Self.perform(change, key, container)
        note(change, key, name)
        if let before {
            expect(
                container.f === before.0 && container.g === before.1,
                "\(name) has other instances after \(change) of .\(key), which changed nothing")
        }
        if case .reset = change, [.n, .l].contains(key) { lookAnew(key, after: name, wasHeld: wasHeld) }
    }

    private func note(_ change: EverythingStep.Change, _ key: Key, _ name: Int) {
        let member = model.members[name]!
        switch change {
        case .set(let value): member.held[key] = .value(value)
        case .load(let number): member.held[key] = .loader(number)
        case .reset: member.held[key] = nil
        case .layer(let number):
            let (base, layers) =
                switch member.ancestry.lazy.compactMap({ $0.held[key] }).first {
                case .value(let value): (Int?.some(value), [Int]())
                case .layered(let base, let layers): (base, layers)
                default: (nil, [])
                }
            member.held[key] = .layered(base, layers + [number])
        case .setEqual: break
        }
    }

    private static func perform(_ change: EverythingStep.Change, _ key: Key, _ container: any FeatureContainer) {
        switch (change, key) {
        case (.set(let value), .f): container.f = Instance(value)
        case (.set(let value), .g): container.g = Instance(value)
        case (.set(let value), .n): container.n = Instance(value)
        case (.set(let value), .l): container.l = [value]
        case (.set(let value), .t): container.set(T.self, to: Instance(value))
        case (.set(let value), _): set(key, value, container)
        case (.load(let number), .f): container.replace(\.f) { Instance($0.p1 + number, $0) }
        case (.load(let number), _): container.replace(\.g) { Instance($0.p1 + number, $0) }
        case (.reset, .p0): container.reset(\.p0)
        case (.reset, .p1): container.reset(\.p1)
        case (.reset, .p2): container.reset(\.p2)
        case (.reset, .q): container.reset(\.q)
        case (.reset, .f): container.reset(\.f)
        case (.reset, .g): container.reset(\.g)
        case (.reset, .t): container.reset(T.self)
        case (.reset, .n): container.reset(\.n)
        case (.reset, .l): container.reset(\.l)
        case (.layer(let number), .n): container._container.decorate(\.n) { Instance($0.value + number, $1) }
        case (.layer(let number), _):
            container._container.contribute(to: \.l) { $0.p1 * 100 + number }
        case (.setEqual, _): break
        }
    }
}

extension [Int] {
    fileprivate var withoutRepetitions: [Int] {
        reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }
}

extension Int? {
    fileprivate var text: String { map { "\($0)" } ?? "an error" }
}
