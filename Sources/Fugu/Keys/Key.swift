/// What a key names: a value with a default, or something that is loaded in one of three ways.
enum KeyKind: UInt {
    case property, feature, throwingFeature, asyncFeature
}

/// The identity of anything a container can hold, in one word: a type's address with the kind in its two low bits, or, for
/// value keys, a number with the highest bit set, which no address of a type has.
@frozen @usableFromInline struct Key: Hashable, Sendable {
    @usableFromInline let raw: UInt

    @inlinable init(raw: UInt) { self.raw = raw }

    @inlinable static var kindMask: UInt { 3 }
    static let valueKeyBit: UInt = 1 << UInt(UInt.bitWidth - 1)

    @inlinable static func property(_ type: Any.Type) -> UInt { UInt(bitPattern: ObjectIdentifier(type)) }
    @inlinable static func feature(_ type: Any.Type) -> UInt { UInt(bitPattern: ObjectIdentifier(type)) | 1 }
    @inlinable static func throwingFeature(_ type: Any.Type) -> UInt { UInt(bitPattern: ObjectIdentifier(type)) | 2 }
    @inlinable static func asyncFeature(_ type: Any.Type) -> UInt { UInt(bitPattern: ObjectIdentifier(type)) | 3 }

    /// The `index`-th value key of the process.
    init(valueKeyAt index: Int, _ kind: KeyKind) { raw = Key.valueKeyBit | UInt(index) << 2 | kind.rawValue }

    /// Which value key of the process it is.
    var valueKeyIndex: Int { Int((raw & ~Key.valueKeyBit) >> 2) }

    var kind: KeyKind { KeyKind(rawValue: raw & Key.kindMask)! }
    var isValueKey: Bool { raw & Key.valueKeyBit != 0 }

    /// What messages call it: a type's name, or a value key's label.
    var name: String {
        if let type { return String(describing: type) }
        return ValueKeys.descriptor(of: self).label
    }

    /// What source code of its module calls its type: with the types around it, where they have names.
    var codeName: String {
        guard let type else { return name }
        let full = String(reflecting: type)
        guard !full.contains("("), let dot = full.firstIndex(of: ".") else { return name }
        return String(full[full.index(after: dot)...])
    }

    /// How sources are asked for it, if it has a name.
    var naming: PropertyNaming? {
        guard kind == .property else { return nil }
        if let type { return (type as? any Property.Type)?._naming }
        return ValueKeys.descriptor(of: self).naming
    }
}
