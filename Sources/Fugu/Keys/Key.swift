/// The four kinds of keys.
@usableFromInline package enum KeyKind: UInt {
    case property, feature, throwingFeature, asyncFeature
}

extension Key {
    @inlinable static func property(_ type: Any.Type) -> UInt { UInt(bitPattern: ObjectIdentifier(type)) }
    @inlinable static func feature(_ type: Any.Type) -> UInt { UInt(bitPattern: ObjectIdentifier(type)) | 1 }
    @inlinable static func throwingFeature(_ type: Any.Type) -> UInt { UInt(bitPattern: ObjectIdentifier(type)) | 2 }
    @inlinable static func asyncFeature(_ type: Any.Type) -> UInt { UInt(bitPattern: ObjectIdentifier(type)) | 3 }

    /// Creates the key with an index among the value keys of the process.
    init(valueKeyAt index: Int, _ kind: KeyKind) {
        raw = Key.valueKeyBit | UInt(index) << 2 | kind.rawValue
    }

    /// The index among the value keys of the process.
    var valueKeyIndex: Int { Int((raw & ~Key.valueKeyBit) >> 2) }

    package var kind: KeyKind { KeyKind(rawValue: raw & Key.kindMask)! }

    /// The name in messages: that of the type, or the label of the value key.
    @inline(never) package var name: String {
        if let type { return String(describing: type) }
        return ValueKeys.descriptor(of: self).label
    }

    /// The name of the type in the source code of its module, which includes the types around it if these have names.
    package var codeName: String {
        guard let type else { return name }
        let full = String(reflecting: type)
        guard !full.contains("("), let dot = full.firstIndex(of: ".") else { return name }
        return String(full[full.index(after: dot)...])
    }

    /// The name that suppliers need, if the key has one.
    @inline(never) var naming: (any KeyNaming)? {
        kind == .property && isValueKey ? ValueKeys.descriptor(of: self).naming : nil
    }
}

extension Key {
    /// One of 64 bits, for quick answers to "certainly not".
    var mask: UInt64 { 1 << UInt64((raw &* Table.spread) >> UInt(UInt.bitWidth - 6)) }
}
