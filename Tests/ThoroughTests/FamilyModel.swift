import Foundation
import Fugu
import Support

/// A graph of properties and features, as both sides of the randomised test see it: the container, which runs it
/// as user code, and the model.
enum Source: Hashable, Sendable {
    case property(Int)
    case feature(Int)
}

/// The behavior of a loader: each of its reads may decide the next one.
struct Program: Sendable {
    enum Step: Sendable {
        case read(Source)
        case branch(on: Source, even: [Source], odd: [Source])
    }
    let steps: [Step]
    let salt: Int

    func run(reading read: (Source) throws -> Int) rethrows -> Int {
        var value = salt
        func take(_ source: Source) throws -> Int {
            let number = try read(source)
            value = (value &* 31 &+ number) & 0xFFFF_FFFF
            return number
        }
        for step in steps {
            switch step {
            case .read(let source): _ = try take(source)
            case .branch(let source, let even, let odd):
                for next in try take(source).isMultiple(of: 2) ? even : odd { _ = try take(next) }
            }
        }
        return value
    }
}

struct FeatureShape: Sendable {
    let program: Program
    let home: Home
    let reloads: Bool

    enum Home: Equatable, Sendable {
        case inferred, local
        /// Where one of some properties is set.
        case with([Int])
    }
}

/// The shape of a random graph.
///
/// A feature reads only what stands before it.
struct GraphShape: Sendable {
    let propertyCount: Int
    var features: [FeatureShape] = []

    init(using random: inout SeededGenerator, withKeyHomes: Bool = false) {
        propertyCount = Int.random(in: 3...6, using: &random)
        for index in 0..<Int.random(in: 4...9, using: &random) {
            let kind = Int.random(in: 0..<10, using: &random)
            let home: FeatureShape.Home =
                if kind == 0 {
                    .local
                } else if withKeyHomes, Int.random(in: 0..<3, using: &random) == 0 {
                    .with(
                        (0..<Int.random(in: 1...2, using: &random)).map { _ in
                            .random(in: 0..<propertyCount, using: &random)
                        })
                } else {
                    .inferred
                }
            features.append(
                FeatureShape(
                    program: program(before: index, using: &random), home: home, reloads: (1...4).contains(kind)))
        }
    }

    func program(before index: Int, using random: inout SeededGenerator) -> Program {
        func source() -> Source {
            if index > 0, Int.random(in: 0..<5, using: &random) < 3 {
                return .feature(.random(in: 0..<index, using: &random))
            }
            return .property(.random(in: 0..<propertyCount, using: &random))
        }
        func sources() -> [Source] { (0..<Int.random(in: 0...2, using: &random)).map { _ in source() } }
        let steps: [Program.Step] = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            Int.random(in: 0..<3, using: &random) == 0
                ? .branch(on: source(), even: sources(), odd: sources()) : .read(source())
        }
        return Program(steps: steps, salt: Int.random(in: 0..<1000, using: &random))
    }
}

/// A family, recomputed from the words of the laws alone: slow, single-threaded, without any index or cache.
final class ModelFamily {
    /// A reader's view: the same as before, or changed.
    struct Sight: Equatable, Sendable {
        let value: Int
        /// An instance's number, or the number of the change that gave a property its value.
        let identity: Int
    }

    /// A loaded instance: its home and its inputs.
    struct Loaded {
        let sight: Sight
        /// The reads of `load(in:)` itself, each with the depth of the member that had the value.
        var inputs: [Source: (sight: Sight, depth: Int)] = [:]
        /// The same with what its inputs were made from.
        var madeFrom: Set<Source> = []
        /// Whether it belongs to the container that asked alone.
        var isLocal = false
    }

    /// The read of a feature whose home shares it with nobody who overrides one of its inputs, or a load that met one.
    struct Refused: Error {}

    enum Held {
        case value(Sight)
        case program(Program)
    }

    final class Member {
        let name: Int
        let parent: Member?
        let depth: Int
        var held: [Source: Held] = [:]
        var loaded: [Source: Loaded] = [:]

        init(name: Int, parent: Member?) {
            self.name = name
            self.parent = parent
            depth = parent.map { $0.depth + 1 } ?? 0
        }

        /// This and its ancestors, nearest first.
        var path: [Member] { [self] + (parent?.path ?? []) }
        func isWithin(_ other: Member) -> Bool { path.contains { $0 === other } }
    }

    let shape: GraphShape
    var members: [Member]
    var loads: [Source: Int] = [:]
    private(set) var nextIdentity = 0
    private var changes = 0

    init(_ shape: GraphShape) {
        self.shape = shape
        members = [Member(name: 0, parent: nil)]
    }

    func takeIdentity() -> Int {
        nextIdentity += 1
        return nextIdentity
    }

    private func nextChange() -> Int {
        changes += 1
        return changes
    }
}

// MARK: Reading

extension ModelFamily {
    /// The value that `member` sees, and the member that has it.
    struct Present {
        let sight: Sight
        let owner: Member
        let loaded: Loaded?
    }

    /// The instance that `member` has without loading (14, 15, 16).
    func present(_ source: Source, for member: Member) -> Present? {
        for (steps, ancestor) in member.path.enumerated() {
            if case .value(let sight)? = ancestor.held[source] {
                return Present(sight: sight, owner: ancestor, loaded: nil)
            }
            if let loaded = ancestor.loaded[source], isShared(loaded, with: member.path.prefix(steps)) {
                return Present(sight: loaded.sight, owner: ancestor, loaded: loaded)
            }
            if ancestor.held[source] != nil { return nil }
        }
        return nil
    }

    /// 16: an inherited instance is shared unless something between sets what it was loaded from.
    private func isShared(_ loaded: Loaded, with below: ArraySlice<Member>) -> Bool {
        if below.isEmpty { return true }
        return !loaded.isLocal && below.allSatisfy { member in loaded.madeFrom.allSatisfy { member.held[$0] == nil } }
    }

    /// The result of a read by `member`, and its home.
    func read(_ source: Source, by member: Member) throws -> Present {
        if let present = present(source, for: member) { return present }
        if let home = declaredHome(of: source, for: member), home !== member {
            // 15: it's loaded there, and nothing in between that hides it may read it.
            _ = try read(source, by: home)
            guard let present = present(source, for: member) else { throw Refused() }
            return present
        }
        loads[source, default: 0] += 1
        switch source {
        case .property(let index):
            let root = member.path.last!
            let value = Self.defaultValue(of: index, evaluation: loads[source]!)
            root.loaded[source] = Loaded(sight: Sight(value: value, identity: nextChange()))
        case .feature(let index): try load(index, by: member)
        }
        return present(source, for: member)!
    }

    /// 15: the nearest container that sets a key of the declared home, or the root, unless the feature is replaced further
    /// down.
    private func declaredHome(of source: Source, for member: Member) -> Member? {
        guard case .feature(let index) = source, case .with(let keys) = shape.features[index].home else { return nil }
        let home =
            member.path.first { member in keys.contains { member.held[.property($0)] != nil } } ?? member.path.last!
        let holder = member.path.first { $0.held[source] != nil }
        return holder.map { $0.depth > home.depth } == true ? nil : home
    }

    static func defaultValue(of property: Int, evaluation: Int) -> Int { property + evaluation * 10 }

    private func load(_ index: Int, by member: Member) throws {
        let source = Source.feature(index)
        let shape = shape.features[index]
        let holder = member.path.first { $0.held[source] != nil }
        var program = shape.program
        if case .program(let replaced)? = holder?.held[source] { program = replaced }
        var made = Loaded(sight: Sight(value: 0, identity: 0), isLocal: shape.home == .local)
        var home = made.isLocal ? member.depth : holder?.depth ?? 0
        var reads: [Source] = []
        let value = try program.run { input in
            let found = try read(input, by: member)
            if !reads.contains(input) { reads.append(input) }
            made.inputs[input] = made.inputs[input] ?? (found.sight, found.owner.depth)
            made.madeFrom.formUnion([input])
            made.madeFrom.formUnion(found.loaded?.madeFrom ?? [])
            if found.loaded?.isLocal == true { made.isLocal = true }
            home = max(home, found.owner.depth)
            return found.sight.value
        }
        if case .with(let keys) = shape.home { made.madeFrom.formUnion(keys.map { .property($0) }) }
        let isFixed = declaredHome(of: source, for: member) != nil
        home = isFixed ? member.depth : settle(&made, [source] + reads, for: member, home)
        let sight = Sight(value: value, identity: takeIdentity())
        member.path.first { $0.depth == home }!.loaded[source] =
            Loaded(sight: sight, inputs: made.inputs, madeFrom: made.madeFrom, isLocal: made.isLocal)
    }

    /// 15: where the home sees another instance, of the feature or of an input, the new one lives in the container that asks.
    private func settle(_ made: inout Loaded, _ sources: [Source], for member: Member, _ first: Int) -> Int {
        let home = member.path.first { $0.depth == first }!
        let isHidden = sources.contains { source in
            present(source, for: home).map { $0.loaded != nil && $0.owner !== present(source, for: member)?.owner }
                ?? false
        }
        if isHidden { made.isLocal = true }
        return made.isLocal ? member.depth : first
    }
}

// MARK: Changing

extension ModelFamily {
    enum Change: Sendable {
        case set(Int)
        case setFeature(Sight)
        case replace(Program)
        case reset
    }

    func perform(_ change: Change, on source: Source, in member: Member) { perform([(change, source)], in: member) }

    /// Makes changes that are published together (7): what stays is decided after all.
    func perform(_ changes: [(Change, on: Source)], in member: Member) {
        for (change, source) in changes { write(change, on: source, in: member) }
        for member in members { dropMisplaced(in: member) }
        // 19: what reloads goes when what it read is not what it would read now.
        while dropOutdated() {}
    }

    private func write(_ change: Change, on source: Source, in member: Member) {
        let wasHeld = member.held[source] != nil
        let wasLoaded = member.loaded[source] != nil
        switch change {
        case .set(let value):
            // 10: setting it again to an equal value is no change.
            if case .value(let held)? = member.held[source], held.value == value { return }
            member.loaded[source] = nil
            member.held[source] = .value(Sight(value: value, identity: nextChange()))
        case .setFeature(let sight):
            member.loaded[source] = nil
            member.held[source] = .value(sight)
        case .replace(let program):
            member.loaded[source] = nil
            member.held[source] = .program(program)
        case .reset:
            guard wasHeld || wasLoaded else { return }
            member.held[source] = nil
            member.loaded[source] = nil
        }
        // 14: who has not set it sees the change.
        if wasHeld || member.held[source] != nil {
            for other in members where other !== member && other.isWithin(member) {
                let between = other.path.prefix { $0 !== member }
                if between.allSatisfy({ $0.held[source] == nil }) { other.loaded[source] = nil }
            }
        }
    }

    private func dropMisplaced(in member: Member) {
        if member.parent == nil { return }
        for (source, loaded) in member.loaded where member.held[source] == nil {
            // 16: a copy lasts as long as an override stands.
            let isCopy = loaded.isLocal || !loaded.madeFrom.allSatisfy { member.held[$0] == nil }
            // 15: what lives where a key is set goes with that.
            if !isCopy || declaredHome(of: source, for: member).map({ $0 !== member }) == true {
                member.loaded[source] = nil
            }
        }
    }

    private func reloads(_ source: Source) -> Bool {
        if case .feature(let index) = source { return shape.features[index].reloads }
        return false
    }

    private func dropOutdated() -> Bool {
        for member in members {
            for (key, loaded) in member.loaded where reloads(key) {
                let isOutdated = loaded.inputs.contains { input, read in
                    present(input, for: member)?.sight != read.sight
                }
                if isOutdated {
                    member.loaded[key] = nil
                    return true
                }
            }
        }
        return false
    }
}
