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

    var kind: KeyKind { KeyKind(rawValue: raw & Key.kindMask)! }
    var isValueKey: Bool { raw & Key.valueKeyBit != 0 }

    /// What messages call it: a type's name, or a value key's name, type and place.
    var name: String {
        if let type { return String(describing: type) }
        return ValueKeys.descriptor(of: self).map { $0.label } ?? "?"
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
        return ValueKeys.descriptor(of: self)?.naming
    }
}

/// What a value key was made with, kept for as long as the process lives: keys are meant to be static.
protocol ValueKeyDescriptor: Sendable {
    var label: String { get }
    /// How sources are asked for it, if it has a name.
    var naming: PropertyNaming? { get }
}

/// All value keys of the process.
enum ValueKeys {
    private struct State {
        var descriptors: [any ValueKeyDescriptor] = []
        var identities: [Named: UInt] = [:]
        var firstOf: [UInt: Int] = [:]
    }
    private struct Named: Hashable {
        let name: String
        let type: ObjectIdentifier
    }

    private static let state = Guarded(State())

    /// Files a descriptor. Keys of the same name and type share their identity; without a name each is its own.
    static func register(
        _ descriptor: any ValueKeyDescriptor, name: String?, type: Any.Type, kind: KeyKind
    ) -> (key: UInt, index: UInt) {
        state.withLock { state in
            let index = state.descriptors.count
            state.descriptors.append(descriptor)
            let fresh = Key.valueKeyBit | UInt(index) << 2 | kind.rawValue
            guard let name else {
                state.firstOf[fresh] = index
                return (fresh, UInt(index))
            }
            let named = Named(name: name, type: ObjectIdentifier(type))
            let key = state.identities[named] ?? fresh
            state.identities[named] = key
            if key == fresh { state.firstOf[key] = index }
            return (key, UInt(index))
        }
    }

    /// The key of this name and type, if one was ever made.
    static func existing(_ name: String, type: Any.Type) -> (key: UInt, index: UInt)? {
        state.withLock { state in
            guard let key = state.identities[Named(name: name, type: ObjectIdentifier(type))],
                let index = state.firstOf[key]
            else { return nil }
            return (key, UInt(index))
        }
    }

    static func descriptor(at index: UInt) -> any ValueKeyDescriptor { state.withLock { $0.descriptors[Int(index)] } }

    static func descriptor(of key: Key) -> (any ValueKeyDescriptor)? {
        state.withLock { state in state.firstOf[key.raw].map { state.descriptors[$0] } }
    }
}
