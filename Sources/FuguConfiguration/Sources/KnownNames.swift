/// The names of all keys, arranged for finding unknown names and suggestions for them.
struct KnownNames: Sendable {
    /// A segment of a dotted name, with the segments below it.
    final class Branch: Sendable {
        let isName: Bool
        let branches: [String: Branch]
        /// The segments below, in order.
        let segments: [String]

        init(_ names: [ArraySlice<String>]) {
            isName = names.contains(where: \.isEmpty)
            let below = Dictionary(grouping: names.filter { !$0.isEmpty }) { $0.first! }
            branches = below.mapValues { Branch($0.map { $0.dropFirst() }) }
            segments = branches.keys.sorted()
        }
    }

    let names: [String]
    /// The members that the types of known names decode.
    var members: [String] = []
    /// Returns the names of keys that read a whole table, which only files can hold.
    ///
    /// It decodes types, so it's only called for advice.
    var tables: @Sendable () -> [String] = { [] }
    /// The table to which a source is scoped: what lies outside of it isn't meant for this container.
    var scope: String?
    /// Returns the names of keys that take one value, not a list.
    ///
    /// It decodes types, so it's only called for advice.
    var singles: @Sendable () -> [String] = { [] }
    /// Patterns for the names whose values a source marks as secrets.
    var secrets: [NamePattern] = []
    /// Patterns for the names that a source leaves to others.
    var ignored: [NamePattern] = []
    let root: Branch
    private let byLastSegment: [String: [String]]

    init(_ names: [String]) {
        self.names = Set(names).sorted()
        root = Branch(
            self.names.map { $0.segments.map(String.init)[...] })
        byLastSegment = Dictionary(grouping: self.names) { Self.folded(Self.lastSegment($0)) }
    }

    /// Returns whether a name of a source is for others.
    func ignores(_ name: String) -> Bool { ignored.contains { $0.concerns(name) } }

    /// Returns the only name that ends like this one, apart from uppercase letters and dashes.
    func nameEnding(like name: String) -> String? {
        let names = byLastSegment[Self.folded(Self.lastSegment(name))]
        return names?.count == 1 ? names?.first : nil
    }

    private static func lastSegment(_ name: String) -> String {
        name.split(separator: ".").last.map(String.init) ?? name
    }

    private static func folded(_ name: String) -> String {
        String(name.lowercased().unicodeScalars.filter { $0 != "-" && $0 != "_" })
    }
}
