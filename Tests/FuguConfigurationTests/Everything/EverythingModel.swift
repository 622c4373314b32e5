/// A family in the words of the laws alone: everything is looked up anew each time, nothing is kept that was loaded.
///
/// It can be so simple since its features reload: what they give is always made from what their reader sees.
final class EverythingModel {
    enum Key: Hashable, CaseIterable, Sendable {
        /// Properties: the first three have names, so that sources can supply them.
        case p0, p1, p2, q
        /// Features: `f` is made from `p0` and `q`, `g` from `f` and `p1`; `t` throws, is external and made from `p0`.
        case f, g, t

        static let properties: [Key] = [.p0, .p1, .p2, .q]
        var name: String { "everything.\(self)" }
        var isNamed: Bool { [.p0, .p1, .p2].contains(self) }
        var isProperty: Bool { Self.properties.contains(self) }
        var defaultValue: Int { self == .q ? 7 : self == .p0 ? 1 : self == .p1 ? 2 : 3 }
    }

    enum Held: Equatable {
        case value(Int)
        /// A replaced loader: it gives `p1` and this.
        case loader(Int)
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
        case .p0, .p1, .p2, .q: return Sight(value: key.defaultValue, home: root)
        case .f: return made(from: [.p0, .q], member, atLeast: root) { $0[0] * 10 + $0[1] }
        case .g: return made(from: [.f, .p1], member, atLeast: root) { $0[0] * 3 + $0[1] }
        case .t: return isStrict ? nil : made(from: [.p0], member, atLeast: root) { $0[0] * 100 }
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

    // MARK: Changing

    /// 28: features that were set are released, too; loaders stay, and so do properties.
    func close(_ name: Int) {
        let closed = members[name]!
        for member in members.values where member.ancestry.contains(where: { $0 === closed }) && !member.isClosed {
            member.isClosed = true
            for (key, held) in member.held where !key.isProperty {
                if case .value = held { member.held[key] = nil }
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
