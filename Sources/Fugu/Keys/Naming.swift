/// The name and type of a key for sources.
@usableFromInline package struct PropertyNaming: Sendable {
    /// The dotted path of the key.
    package let name: String
    private let isSecretItself: Bool
    /// A Boolean value that indicates whether the value must never be printed, because this name, one inside it, or
    /// one around it is secret.
    package var isSecret: Bool { isSecretItself || SecretNames.concern(name) }
    /// A Boolean value that indicates whether a graph must not show the value, because the name is secret, or because a
    /// source has supplied it as a secret.
    var isHidden: Bool { isSecret || SecretNames.isSupplied(name) }
    /// Whether there's no default, so that a read stops the program if nothing gives a value.
    let isRequired: Bool
    let equal: Equality
    let ask: @Sendable (any ValueSources) -> SourceAnswer<Payload>

    /// `isDeclared`: Whether the key's declaration says `isSecret`, so that it applies to other keys of that name;
    /// `false` if it's only a precaution.
    init<Value: Decodable & Sendable>(
        _ name: String, _: Value.Type, isSecret: Bool, isDeclared: Bool = true, isRequired: Bool = false,
        form: PropertyForm<Value>? = nil
    ) {
        self.name = name
        self.isRequired = isRequired
        isSecretItself = isSecret
        if isSecret, isDeclared { SecretNames.add(name) }
        equal = Equality(of: Value.self)
        ask = { sources in
            let isSecret = isSecret || SecretNames.concern(name)
            return sources.answer(name, as: Value.self, form: form, isSecret: isSecret).map { $0.map { Payload($0) } }
        }
    }
}

/// The names that are secret according to some key of the process.
///
/// A lookup takes time in proportion to the length of the name, however many secrets there are.
package enum SecretNames {
    private struct Known {
        var names: Set<String> = []
        /// The tables that contain a secret.
        var tables: Set<String> = []
        /// The names as variables and arguments spell them, without dots, dashes, and uppercase letters.
        var spellings: Set<String> = []
        /// The names that a source has supplied as secrets, whether or not a key says so.
        var supplied: Set<String> = []
    }

    private static let known = Locked(Known())

    @inline(never) static func add(_ name: String) {
        let spelling = spelling(of: name)
        let tables = prefixes(of: name)
        known.withLock { known in
            guard known.names.insert(name).inserted else { return }
            known.tables.formUnion(tables.lazy.map(String.init))
            known.spellings.insert(spelling)
        }
    }

    /// Notes that a source has supplied a name's value as a secret.
    package static func addSupplied(_ name: String) { known.withLock { _ = $0.supplied.insert(name) } }

    @inline(never) static func isSupplied(_ name: String) -> Bool { known.withLock { $0.supplied.contains(name) } }

    /// Returns a Boolean value that indicates whether the value of the name is a secret, contains one, or is part of
    /// one.
    @inline(never) static func concern(_ name: String) -> Bool {
        known.withLock { $0.tables.contains(name) } || cover(name)
    }

    /// Returns a Boolean value that indicates whether the name or a name around it is a secret.
    @inline(never) package static func cover(_ name: String) -> Bool {
        // Most programs that read thousands of names declare few secrets or none.
        if known.withLock({ $0.names.isEmpty }) { return false }
        let prefixes = prefixes(of: name)
        let spelling = spelling(of: name)
        return known.withLock { known in
            known.names.contains(name) || known.spellings.contains(spelling)
                || prefixes.contains { known.names.contains(String($0)) }
        }
    }

    /// Returns the part of a name that may be printed: `database.…` for a name inside the secret `database`.
    package static func printable(_ name: String) -> String {
        let prefixes = prefixes(of: name)
        return known.withLock { known in
            prefixes.first { known.names.contains(String($0)) }.map { "\($0).…" } ?? name
        }
    }

    /// Returns `a` and `a.b` for `a.b.c` and for `a.b[2]`.
    private static func prefixes(of name: String) -> [Substring] {
        let utf8 = name.utf8
        return utf8.indices.filter { utf8[$0] == UInt8(ascii: ".") || utf8[$0] == UInt8(ascii: "[") }
            .map { name[..<$0] }
    }

    private static func spelling(of name: String) -> String {
        let marks: [UInt8] = [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_")]
        guard name.utf8.allSatisfy({ $0 < 0x80 }) else {
            return String(name.lowercased().unicodeScalars.filter { $0 != "." && $0 != "-" && $0 != "_" })
        }
        return String(
            decoding: name.utf8.filter { !marks.contains($0) }.map { $0 &- 65 < 26 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

/// The place where a value key is created and its value type, which together identify a key without a name.
@frozen @usableFromInline struct KeyPlace: Sendable {
    @usableFromInline let fileID: StaticString
    @usableFromInline let line: UInt
    @usableFromInline let column: UInt
    @usableFromInline let member: StaticString
    /// The address of the value type, with the kind in the two low bits.
    @usableFromInline let typeWord: UInt

    @inlinable @inline(__always)
    init(
        _ type: Any.Type, _ kind: KeyKind, _ member: StaticString, _ fileID: StaticString, _ line: UInt, _ column: UInt
    ) {
        self.fileID = fileID
        self.line = line
        self.column = column
        self.member = member
        typeWord = UInt(bitPattern: ObjectIdentifier(type)) | kind.rawValue
    }

    /// The name of the member that creates the key, or `nil` if it isn't a plain member.
    var memberName: String? {
        let name = "\(member)"
        // Outside of members, the name is that of the module or a type.
        guard let first = name.unicodeScalars.first, first.properties.isXIDStart || first == "_",
            name.unicodeScalars.allSatisfy({ $0.properties.isXIDContinue }), !first.properties.isUppercase,
            !"\(fileID)".hasPrefix(name + "/")
        else { return nil }
        return name
    }

    /// Whether a function or a subscript with parameters creates the key.
    ///
    /// Nothing but an `id` would tell the keys of its arguments apart.
    var isOfFunctionWithParameters: Bool { "\(member)".hasSuffix(":)") }

    /// Returns a text that's the same for the same place, which may have other addresses.
    func text(_ distinction: UInt) -> String { "\(typeWord) \(line) \(column) \(distinction) \(fileID)\n\(member)" }
}

/// An `id` that distinguishes the keys of one place.
@usableFromInline enum KeyDistinction: Sendable {
    case id(any Hashable & Sendable)
    case name(PropertyNaming)

    /// Creates the distinction of a key, or returns `nil` for the only key of its place.
    @usableFromInline init?(_ id: some Hashable & Sendable) {
        if id is NoID { return nil }
        self = .id(id)
    }

    /// A hash that is never zero.
    var hash: UInt {
        switch self {
        case .id(let id): Self.hash(of: id)
        case .name(let naming): Self.hash(of: naming.name)
        }
    }

    static func hash(of id: some Hashable) -> UInt { UInt(bitPattern: id.hashValue) | 2 }

    /// The fixed hash for the first name of a place, which saves hashing it.
    static let firstName: UInt = 1

    func isID<ID: Hashable>(_ other: ID) -> Bool {
        guard case .id(let id) = self else { return false }
        return id as? ID == other
    }

    func isSame(as other: KeyDistinction) -> Bool {
        switch (self, other) {
        case (_, .id(let id)): isID(id)
        case (.name(let own), .name(let naming)): own.name == naming.name
        case (.id, .name): false
        }
    }
}

/// The `id` of the only key of a place.
@frozen @usableFromInline struct NoID: Hashable, Sendable {
    @inlinable init() {}
}

extension InternedKey {
    /// The key that was made at this place before, with this id if the place makes several.
    @inlinable @inline(__always)
    static func find<ID: Hashable>(_ place: KeyPlace, orID id: ID) -> InternedKey? {
        // The compiler knows.
        ID.self == NoID.self ? find(place) : find(place, id: id)
    }
}
