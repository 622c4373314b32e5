/// Where a value key is made, and of which type: what tells keys without a name apart.
@frozen @usableFromInline struct KeyPlace: Sendable {
    /// The kinds of value keys.
    @usableFromInline enum Kind: UInt { case property, feature }

    @usableFromInline let fileID: StaticString
    @usableFromInline let line: UInt
    @usableFromInline let column: UInt
    @usableFromInline let member: StaticString
    /// The address of the type, with the kind in its low bit.
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

    /// What a key is called in source code, if it is made by a plain member.
    var memberName: String? {
        let name = "\(member)"
        // Outside of members it is the module's name, or a type's.
        guard let first = name.unicodeScalars.first, first.properties.isXIDStart || first == "_",
            name.unicodeScalars.allSatisfy({ $0.properties.isXIDContinue }), !first.properties.isUppercase,
            !"\(fileID)".hasPrefix(name + "/")
        else { return nil }
        return name
    }

    /// The place with its texts, which are compared where addresses differ.
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

/// What tells the keys of one place apart, if it makes several.
@usableFromInline enum KeyDistinction: Sendable {
    case id(any Hashable & Sendable)
    case name(PropertyNaming)

    /// Never zero.
    var hash: UInt {
        switch self {
        case .id(let id): Self.hash(of: id)
        case .name(let naming): Self.hash(of: naming.name)
        }
    }

    static func hash(of id: some Hashable) -> UInt { UInt(bitPattern: id.hashValue) | 2 }

    /// What the first name of a place is found by, without hashing it.
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
