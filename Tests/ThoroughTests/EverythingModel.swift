import Support

/// A family in the words of the laws alone: everything is looked up anew each time, nothing is kept that was loaded.
///
/// It can be so simple since its features reload: what they give is always made from what their reader sees.
final class EverythingModel {
    enum Key: Hashable, CaseIterable, Sendable {
        /// Properties: the first three have names, so that sources can supply them; the default of `p1` is made from `p0`.
        case p0, p1, p2, q
        /// Features: `f` is made from `p0` and `q`, `g` from `f` and `p1`; `t` throws, is external and made from `p0`; `n` is made from
        /// `p0` and doesn't reload; `l` is a list whose own element is `p0`.
        case f, g, t, n, l

        static let properties: [Key] = [.p0, .p1, .p2, .q]
        var name: String { "everything.\(self)" }
        var isNamed: Bool { [.p0, .p1, .p2].contains(self) }
        var isProperty: Bool { Self.properties.contains(self) }
        var defaultValue: Int { self == .q ? 7 : self == .p0 ? 1 : 3 }
    }

    enum Held: Equatable {
        case value(Int)
        /// A replaced loader: it gives `p1` and this.
        case loader(Int)
        /// What was set or, without that, the own load, with what decorations add; in a list, numbers that contributions add to `p1`.
        case layered(Int?, [Int])
    }

    /// What a source says: a number, or something that is none.
    typealias Table = [Key: Int?]

    struct Rule {
        let pattern: String
        let key: Key
        let value: Int
    }

    /// A container; one with a path is a scope.
    final class Member {
        let name: Int
        let parent: Member?
        let path: String?
        let depth: Int
        var held: [Key: Held] = [:]
        var rules: [Rule] = []
        /// The tables that count, the latest last.
        var sources: [Table] = []
        var isClosed = false

        init(name: Int, parent: Member?, path: String? = nil) {
            self.name = name
            self.parent = parent
            self.path = path
            depth = (parent?.depth ?? -1) + 1
            isClosed = parent?.isClosed ?? false
        }

        var ancestry: [Member] { [self] + (parent?.ancestry ?? []) }
    }

    let isStrict: Bool
    private(set) var members = [0: Member(name: 0, parent: nil)]

    init(isStrict: Bool) { self.isStrict = isStrict }

    func add(_ name: Int, to parent: Int) { members[name] = Member(name: name, parent: members[parent]!) }

    func addScope(_ name: Int, to parent: Int, path: String) {
        members[name] = Member(name: name, parent: members[parent]!, path: path)
    }

    func remove(_ name: Int) { members[name] = nil }

    /// Whether something stands below a container.
    func hasChildren(_ name: Int) -> Bool {
        members.values.contains { $0.name != name && $0.ancestry.contains { $0.name == name } }
    }

    // MARK: Reading

    struct Sight: Equatable {
        let value: Int
        /// Where it lives.
        let home: Member
        static func == (left: Self, right: Self) -> Bool { left.value == right.value && left.home === right.home }
    }

    /// What a member sees; nothing if the read throws.
    func sight(_ key: Key, from member: Member) -> Sight? {
        for ancestor in member.ancestry {
            switch ancestor.held[key] {
            case .layered(let base, let layers):
                // 14: one load, which reads what the former one and the layers read.
                let inputs: [Key] = (base == nil ? [.p0] : []) + (key == .l ? [.p1] : [])
                return made(from: inputs, member, atLeast: ancestor) { seen in
                    let added = key == .l ? layers.map { seen[seen.count - 1] * 100 + $0 } : layers
                    return (base ?? seen[0]) + added.reduce(0, +)
                }
            case .value(let value): return Sight(value: value, home: ancestor)
            case .loader(let number): return made(from: [.p1], member, atLeast: ancestor) { $0[0] + number }
            case nil: break
            }
            // 23: what code set, what rules set, the sources, the latest first.
            if let value = ruled(key, ancestor) { return Sight(value: value, home: ancestor) }
            if let value = ancestor.sources.reversed().lazy.compactMap({ $0[key] }).first {
                return Sight(value: value!, home: ancestor)
            }
        }
        let root = members[0]!
        switch key {
        case .p0, .p2, .q: return Sight(value: key.defaultValue, home: root)
        case .p1: return made(from: [.p0], member, atLeast: root) { $0[0] + 1 }
        case .f: return made(from: [.p0, .q], member, atLeast: root) { $0[0] * 10 + $0[1] }
        case .g: return made(from: [.f, .p1], member, atLeast: root) { $0[0] * 3 + $0[1] }
        case .t: return isStrict ? nil : made(from: [.p0], member, atLeast: root) { $0[0] * 100 }
        case .n, .l: return made(from: [.p0], member, atLeast: root) { $0[0] }
        }
    }

    /// 15: the home is the deepest of those that hold what was read.
    private func made(
        from inputs: [Key], _ reader: Member, atLeast limit: Member, _ make: ([Int]) -> Int
    ) -> Sight {
        let sights = inputs.map { sight($0, from: reader)! }
        let home = (sights.map(\.home) + [limit]).max { $0.depth < $1.depth }!
        return Sight(value: make(sights.map(\.value)), home: home)
    }

    /// 21: rules run in the order in which they were added, ancestors' first, and the last one stays.
    private func ruled(_ key: Key, _ layer: Member) -> Int? {
        guard let path = layer.path else { return nil }
        return layer.parent!.ancestry.reversed().flatMap(\.rules)
            .last { $0.key == key && ($0.pattern == "**" || $0.pattern == path) }?.value
    }

    /// Whether something was set for a property in a member: by code, a rule, or a source.
    func isSet(_ key: Key, in member: Member) -> Bool {
        member.held[key] != nil || ruled(key, member) != nil || member.sources.contains { $0[key] != nil }
    }

    // MARK: Changing

    /// 28: features that were set are released, too; loaders stay, and so do properties.
    func close(_ name: Int) {
        let closed = members[name]!
        for member in members.values where member.ancestry.contains(where: { $0 === closed }) {
            member.isClosed = true
            for (key, held) in member.held where !key.isProperty {
                guard case .value = held else { continue }
                member.held[key] = nil
            }
        }
    }

    /// 25: a reload in which a key no longer decodes is refused as a whole; says whether it was let in.
    func reload(_ name: Int, _ tables: [Table]) -> Bool {
        let holder = members[name]!
        for key in Key.properties where key.isNamed {
            if let answer = tables.reversed().lazy.compactMap({ $0[key] }).first, answer == nil { return false }
        }
        holder.sources = tables
        return true
    }
}

/// One step of a random story.
///
/// A step whose container is not there is skipped, so that a story can be shortened; it prints itself as it is written.
enum EverythingStep: Sendable, CustomStringConvertible {
    typealias Key = EverythingModel.Key

    enum Change: Sendable, CustomStringConvertible {
        case set(Int), load(Int), reset
        /// A decoration or, of a list, a contribution.
        case layer(Int)
        /// Sets a property to the value that it has.
        case setEqual
        var description: String {
            switch self {
            case .set(let value): ".set(\(value))"
            case .load(let value): ".load(\(value))"
            case .layer(let value): ".layer(\(value))"
            case .setEqual: ".setEqual"
            case .reset: ".reset"
            }
        }
    }

    case child(Int, of: Int)
    case scope(Int, of: Int, String)
    case drop(Int)
    case change(Int, Key, Change)
    /// Several keys at once; whether its body throws in the end.
    case update(Int, [Key: Change], throws: Bool)
    case modify(Int, Key, by: Int)
    case resetAll(Int)
    case rule(Int, String, Key, Int)
    case apply(Int, EverythingModel.Table)
    /// Rewrites the table of a source, which counts from the next reload on.
    case rewrite(Int, source: Int, EverythingModel.Table)
    case reload(Int)
    case observe(Int, Key)
    case cancel(Int)
    case close(Int)
    case read(Int, Key)
    case readLate(Int, Key, Key)
    case readAll

    var description: String {
        switch self {
        case .child(let name, let parent): ".child(\(name), of: \(parent))"
        case .scope(let name, let parent, let path): ".scope(\(name), of: \(parent), \"\(path)\")"
        case .drop(let name): ".drop(\(name))"
        case .change(let name, let key, let change): ".change(\(name), .\(key), \(change))"
        case .update(let name, let changes, let fails):
            ".update(\(name), [\(changes.map { ".\($0): \($1)" }.sorted().joined(separator: ", "))], throws: \(fails))"
        case .modify(let name, let key, let addend): ".modify(\(name), .\(key), by: \(addend))"
        case .resetAll(let name): ".resetAll(\(name))"
        case .rule(let name, let pattern, let key, let value): ".rule(\(name), \"\(pattern)\", .\(key), \(value))"
        case .apply(let name, let table): ".apply(\(name), \(Self.text(table)))"
        case .rewrite(let name, let source, let table): ".rewrite(\(name), source: \(source), \(Self.text(table)))"
        case .reload(let name): ".reload(\(name))"
        case .observe(let name, let key): ".observe(\(name), .\(key))"
        case .cancel(let number): ".cancel(\(number))"
        case .close(let name): ".close(\(name))"
        case .read(let name, let key): ".read(\(name), .\(key))"
        case .readAll: ".readAll"
        case .readLate(let name, let key, let late): ".readLate(\(name), .\(key), .\(late))"
        }
    }

    private static func text(_ table: EverythingModel.Table) -> String {
        if table.isEmpty { return "[:]" }
        let entries = table.map { ".\($0): \($1.map { "\($0)" } ?? "nil")" }
        return "[\(entries.sorted().joined(separator: ", "))]"
    }
}

extension EverythingStep {
    static func story(_ count: Int, using random: inout SeededGenerator) -> [Self] {
        var names = [0]
        return (1...count).map { number in
            if number.isMultiple(of: 10) { return .readAll }
            let step = Self.random(names, using: &random)
            switch step {
            case .child(let name, _), .scope(let name, _, _): names.append(name)
            default: break
            }
            return step
        }
    }

    private static func random(_ names: [Int], using random: inout SeededGenerator) -> Self {
        let name = names[random.below(names.count)]
        let property = Key.properties[random.below(4)]
        let feature: Key = [.f, .g, .t][random.below(3)]
        let path = ["/a", "/b"][random.below(2)]
        switch random.below(100) {
        case 0..<5 where names.count < 10: return .child(names.count, of: name)
        case 5..<8 where names.count < 10: return .scope(names.count, of: name, path)
        case 8: return .drop(name)
        case 9..<22: return .change(name, property, change(property, &random))
        case 22..<26: return .change(name, feature, change(feature, &random))
        case 26, 27: return .change(name, property, .setEqual)
        case 28..<34:
            var changes: [Key: Change] = [:]
            for _ in 0...random.below(4) {
                let key = Key.allCases[random.below(6)]
                changes[key] = change(key, &random)
            }
            // The effect sets q before anyone has looked what its reset uncovers.
            if changes[.p2] != nil { changes[.q] = nil }
            return .update(name, changes, throws: random.below(4) == 0)
        case 34, 35: return .modify(name, property, by: random.below(3))
        // Key by key: in the root, what the effect does in between is reset or not.
        case 36 where name > 0: return .resetAll(name)
        case 38..<42: return .rule(name, ["**", "/a", "/b"][random.below(3)], property, 50 + random.below(5))
        case 42..<46: return .apply(name, table(&random, bad: 0))
        case 46..<51: return .rewrite(name, source: random.below(2), table(&random, bad: 8))
        case 51..<56: return .reload(name)
        case 56..<61:
            // A default that wasn't read since its input changed says nothing of later changes of that.
            return .observe(name, random.below(3) == 0 ? .f : property == .p1 ? .p0 : property)
        case 61: return .cancel(random.below(6))
        // Without the root, which the effect observes.
        case 62 where name > 0 && random.below(2) == 0: return .close(name)
        case 62..<72:
            let layered: Key = random.below(2) == 0 ? .n : .l
            let number = random.below(5) * 1_000
            return .change(name, layered, [.layer(number), .set(number), .reset, .reset][random.below(4)])
        case 72..<90: return .read(name, Key.allCases[random.below(9)])
        default: return .readLate(name, [.f, .g][random.below(2)], property)
        }
    }

    private static func change(_ key: Key, _ random: inout SeededGenerator) -> Change {
        switch random.below(6) {
        case 0..<2: .reset
        case 2 where !key.isProperty && key != .t: .load(random.below(5) * 1_000)
        default: .set(random.below(4))
        }
    }

    private static func table(_ random: inout SeededGenerator, bad percent: Int) -> EverythingModel.Table {
        var table: EverythingModel.Table = [:]
        for key in [Key.p0, .p1, .p2] where random.below(2) == 0 {
            table[key] = .some(random.below(100) < percent ? nil : 10 + random.below(4))
        }
        return table
    }
}
