extension KeyPlace {
    @inlinable @inline(__always)
    package init(
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
@usableFromInline package enum KeyDistinction: Sendable {
    case id(any Hashable & Sendable)
    case name(any KeyNaming)

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

    /// Returns the key with a name that was made at this place.
    @usableFromInline
    package static func find(_ place: KeyPlace, name: String) -> InternedKey? {
        // Most places make keys with one name, which need not be hashed.
        find(place, KeyDistinction.firstName) { $0.has(name: name) }
            ?? find(place, KeyDistinction.hash(of: name)) { $0.has(name: name) }
    }

    /// Returns the key with an identifier that was made at this place.
    @usableFromInline
    static func find(_ place: KeyPlace, id: some Hashable) -> InternedKey? {
        find(place, KeyDistinction.hash(of: id)) { $0.object.descriptor.distinction?.isID(id) == true }
    }
}
