/// The known names as variables, arguments, or the files of a folder spell them, for what to say about other names.
struct SpelledNames {
    private let known: KnownNames
    private let separator: String
    private let spell: (String) -> String
    private let spellings: Set<String>
    private let sorted: [String]
    private let scope: String
    /// The names of tables by their spelling, found when the first advice is needed.
    private lazy var tables = Dictionary(known.tables().map { (spell($0), $0) }) { first, _ in first }
    private var nearest = NearestName()

    /// `separator`: What stands between two words of a name.
    init(_ known: KnownNames, separator: String, _ spell: @escaping (String) -> String) {
        (self.known, self.separator, self.spell) = (known, separator, spell)
        spellings = Set(known.names.map(spell))
        sorted = spellings.sorted()
        scope = known.scope.map { spell($0) + separator } ?? ""
    }

    /// Returns whether a key has the name.
    func has(_ name: String) -> Bool { spellings.contains(name) }

    /// Returns whether a key has the name, or the name is for others than this container.
    func cover(_ name: String) -> Bool { has(name) || !name.hasPrefix(scope) }

    /// Returns the known name that was perhaps meant.
    ///
    /// For a name that would be inside a table, that's another one inside it.
    mutating func suggestion(for name: String) -> String? {
        let table = table(around: name)
        return nearest.suggestion(for: name, in: sorted).flatMap { suggestion in
            table.map { suggestion.hasPrefix($0.spelling + separator) } ?? true ? suggestion : nil
        }
    }

    /// Returns the table that would have the name as a member if it could be spelled so.
    mutating func table(around name: String) -> (spelling: String, name: String)? {
        var spelling = name[...]
        while let end = spelling.lastIndex(of: Character(separator)) {
            spelling = spelling[..<end]
            if let table = tables[String(spelling)] { return (String(spelling), table) }
        }
        return nil
    }

    /// Returns what's wrong with a name that isn't covered.
    ///
    /// `suggestion`: The known name that was perhaps meant, as it's written.
    mutating func problem(of name: String, suggestion: String?) -> String {
        guard suggestion == nil, let table = table(around: name) else {
            return ErrorText.unknownName(suggestion: suggestion)
        }
        return ErrorText.insideTable(table.name)
    }
}
