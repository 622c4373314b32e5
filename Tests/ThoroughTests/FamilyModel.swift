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
        /// What it has read, in order.
        var reads: [Source] = []
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
        /// What is in doubt.
        var former: [Source: Loaded] = [:]

        init(name: Int, parent: Member?) {
            self.name = name
            self.parent = parent
            depth = parent.map { $0.depth + 1 } ?? 0
        }

        /// This and its ancestors, nearest first.
        var path: [Member] { [self] + (parent?.path ?? []) }
        func isWithin(_ other: Member) -> Bool { path.contains { $0 === other } }
        func forget(_ source: Source) { (loaded[source], former[source]) = (nil, nil) }
        func holdsAny(of sources: Set<Source>) -> Bool { sources.contains { held[$0] != nil } }
    }

    let shape: GraphShape
    var members: [Member]
    var loads: [Source: Int] = [:]
    /// What the last load of each feature was made from.
    private var last: [Source: Loaded] = [:]
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
        switch source {
        case .property(let index):
            loads[source, default: 0] += 1
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
        func note(_ input: Source, _ found: Present) {
            if !made.reads.contains(input) { made.reads.append(input) }
            made.inputs[input] = made.inputs[input] ?? (found.sight, found.owner.depth)
            made.madeFrom.formUnion([input])
            made.madeFrom.formUnion(found.loaded?.madeFrom ?? [])
            if found.loaded?.isLocal == true { made.isLocal = true }
            home = max(home, found.owner.depth)
        }
        let isFixed = declaredHome(of: source, for: member) != nil
        let start = (made, home)
        // 12: what's in doubt is asked about where the instance is expected, as its load did.
        let asked = expectedHome(of: source, for: member, isFixed: isFixed, floor: holder)
        let former = shape.reloads ? asked.former[source] : nil
        let stays =
            former?.reads.allSatisfy { input in
                // The features of these tests have no definition by which the container could load them.
                if case .property = input { _ = try? read(input, by: member) }
                guard let found = present(input, for: member) else { return false }
                note(input, found)
                return found.sight == former?.inputs[input]?.sight
            } ?? false
        let value: Int
        if stays {
            value = former!.sight.value
        } else {
            (made, home) = start
            loads[source, default: 0] += 1
            do {
                value = try program.run { input in
                    let found = try read(input, by: member)
                    note(input, found)
                    return found.sight.value
                }
            } catch {
                asked.former[source] = nil
                throw error
            }
        }
        if case .with(let keys) = shape.home { made.madeFrom.formUnion(keys.map { .property($0) }) }
        home = isFixed ? member.depth : settle(&made, [source] + made.reads, for: member, home)
        let owner = member.path.first { $0.depth == home }!
        owner.forget(source)
        last[source] = made
        owner.loaded[source] =
            Loaded(
                sight: stays ? former!.sight : Sight(value: value, identity: takeIdentity()), inputs: made.inputs,
                reads: made.reads, madeFrom: made.madeFrom, isLocal: made.isLocal)
    }

    /// Where the next instance will probably live, judging by the last one.
    private func expectedHome(of source: Source, for member: Member, isFixed: Bool, floor: Member?) -> Member {
        if isFixed || member.parent == nil || last[source]?.isLocal == true { return member }
        if case .feature(let index) = source, shape.features[index].home == .local { return member }
        return member.path.first { other in
            other.parent == nil || other === floor || last[source].map { other.holdsAny(of: $0.madeFrom) } ?? false
        }!
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
        // 19: what reloads is in doubt when what it read is not what it would read now.
        while doubtOutdated() {}
    }

    private func write(_ change: Change, on source: Source, in member: Member) {
        let wasHeld = member.held[source] != nil
        let wasLoaded = member.loaded[source] != nil || member.former[source] != nil
        switch change {
        case .set(let value):
            // 10: setting it again to an equal value is no change.
            if case .value(let held)? = member.held[source], held.value == value { return }
            member.forget(source)
            member.held[source] = .value(Sight(value: value, identity: nextChange()))
        case .setFeature(let sight):
            member.forget(source)
            member.held[source] = .value(sight)
        case .replace(let program):
            member.forget(source)
            member.held[source] = .program(program)
        case .reset:
            guard wasHeld || wasLoaded else { return }
            member.held[source] = nil
            member.forget(source)
        }
        // 14: who has not set it sees the change.
        if wasHeld || member.held[source] != nil {
            for other in members where other !== member && other.isWithin(member) {
                let between = other.path.prefix { $0 !== member }
                if between.allSatisfy({ $0.held[source] == nil }) { other.forget(source) }
            }
        }
    }

    private func dropMisplaced(in member: Member) {
        if member.parent == nil { return }
        for (source, loaded) in Array(member.loaded) + Array(member.former) where member.held[source] == nil {
            // 16: a copy lasts as long as an override stands.
            let isCopy = loaded.isLocal || !loaded.madeFrom.allSatisfy { member.held[$0] == nil }
            // 15: what lives where a key is set goes with that.
            if !isCopy || declaredHome(of: source, for: member).map({ $0 !== member }) == true {
                member.forget(source)
            }
        }
    }

    private func reloads(_ source: Source) -> Bool {
        if case .feature(let index) = source { return shape.features[index].reloads }
        return false
    }

    private func doubtOutdated() -> Bool {
        for member in members {
            for (key, loaded) in member.loaded where reloads(key) {
                let isOutdated = loaded.inputs.contains { input, read in
                    present(input, for: member)?.sight != read.sight
                }
                if isOutdated {
                    (member.loaded[key], member.former[key]) = (nil, loaded)
                    return true
                }
            }
        }
        return false
    }
}
