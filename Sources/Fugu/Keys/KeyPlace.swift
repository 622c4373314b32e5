/// The place where a value key is created and its value type, which together identify a key without a name.
@frozen @usableFromInline struct KeyPlace: Sendable {
    /// The kinds of value keys.
    @usableFromInline enum Kind: UInt { case property, feature, throwingFeature, asyncFeature }

    @usableFromInline let fileID: StaticString
    @usableFromInline let line: UInt
    @usableFromInline let column: UInt
    @usableFromInline let member: StaticString
    /// The address of the value type, with the kind in the two low bits.
    @usableFromInline let typeWord: UInt

    @inlinable @inline(__always)
    init(
        _ type: Any.Type, _ kind: Kind, _ member: StaticString, _ fileID: StaticString, _ line: UInt, _ column: UInt
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

    /// Returns the place with its texts, which are compared if the addresses differ.
    func text(_ distinction: KeyDistinction?) -> Text {
        Text(
            fileID: "\(fileID)", line: line, column: column, member: "\(member)", typeWord: typeWord,
            hash: distinction?.hash ?? 0)
    }

    struct Text: Hashable, Sendable {
        let fileID: String
        let line: UInt
        let column: UInt
        let member: String
        let typeWord: UInt
        let hash: UInt
    }
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
