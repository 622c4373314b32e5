/// The arguments that a value key was created with, kept for the lifetime of the process.
protocol ValueKeyDescriptor: AnyObject, Sendable {
    var place: KeyPlace { get }
    var distinction: KeyDistinction? { get }
    /// The name of the key's own type.
    var typeName: String { get }
    /// The name in messages.
    var label: String { get }
    /// The declared traits of the key.
    var keyTraits: KeyTraits { get }
    /// Whether another module has to supply the feature.
    var isRequired: Bool { get }
    /// Whether it's the key of what a container would inherit of a decorated feature.
    var isInherited: Bool { get }
    /// Returns the value as text, or `nil` if the key isn't that of a property.
    func tell(_ payload: Payload, by teller: any ValueTeller) -> String?
}

extension ValueKeyDescriptor {
    var isRequired: Bool { false }
    var isInherited: Bool { false }

    /// The name: `\.timeout`, or for a key that no member creates, its name or its place.
    var label: String {
        let key = place.memberName.map { "\\." + $0 } ?? naming?.name ?? "\(typeName) (\(place.fileID):\(place.line))"
        guard case .id(let id)? = distinction else { return key }
        return "\(key)[\(id)]"
    }

    /// The name and type that sources need, if the key has a name.
    var naming: PropertyNaming? {
        if case .name(let naming)? = distinction { naming } else { nil }
    }
}

/// The record of a value key, which is created once for each identity.
final class ValueKeyRecord: Sendable {
    let raw: UInt
    let descriptor: any ValueKeyDescriptor
    /// The name, stored because lookups compare it.
    let name: String?

    init(raw: UInt, _ descriptor: any ValueKeyDescriptor) {
        self.raw = raw
        self.descriptor = descriptor
        name = descriptor.naming?.name
    }

    func isSame(as distinction: KeyDistinction?) -> Bool {
        guard let own = descriptor.distinction else { return distinction == nil }
        return distinction.map { own.isSame(as: $0) } ?? false
    }
}

/// The value keys of the process.
enum ValueKeys {
    private struct State {
        var records: [ValueKeyRecord] = []
        var places: [KeyPlace.Text: [ValueKeyRecord]] = [:]
        var identities: [Named: UInt] = [:]
    }

    private struct Named: Hashable {
        let name: String
        let typeWord: UInt
    }

    private static let state = Locked(State())

    /// Registers a key that wasn't found by the addresses of its place, unless another address with the same text is
    /// registered.
    static func intern(
        _ place: KeyPlace, _ distinction: KeyDistinction?, _ type: Any.Type, _ make: () -> any ValueKeyDescriptor
    ) -> InternedKey {
        let text = place.text(distinction)
        var seen = 0
        while true {
            let known = state.withLock { $0.places[text] ?? [] }
            // `==` of an `id` is user code, so call it outside the lock.
            if let same = known.dropFirst(seen).first(where: { $0.isSame(as: distinction) }) {
                return state.withLock { _ in InternedKey.add(same, at: place, text.hash) }
            }
            seen = known.count
            let descriptor = make()
            if distinction == nil, place.isOfFunctionWithParameters { fatalError(Messages.keyOfFunction(descriptor)) }
            let added = state.withLock { state -> InternedKey? in
                guard state.places[text, default: []].count == seen else { return nil }
                let record = ValueKeyRecord(raw: raw(of: descriptor, in: &state), descriptor)
                state.records.append(record)
                state.places[text, default: []].append(record)
                return InternedKey.add(record, at: place, text.hash)
            }
            if let added { return added }
        }
    }

    /// Returns the identity, which keys with the same name and type share; a key without a name has its own.
    private static func raw(of descriptor: any ValueKeyDescriptor, in state: inout State) -> UInt {
        let kind = KeyKind(rawValue: descriptor.place.typeWord & Key.kindMask)!
        let fresh = Key(valueKeyAt: state.records.count, kind, isInherited: descriptor.isInherited).raw
        guard let name = descriptor.naming?.name else { return fresh }
        let named = Named(name: name, typeWord: descriptor.place.typeWord)
        let raw = state.identities[named] ?? fresh
        state.identities[named] = raw
        return raw
    }

    /// Returns the key with this name and type, if one was created.
    static func existing(_ name: String, type: Any.Type) -> InternedKey? {
        let typeWord = UInt(bitPattern: ObjectIdentifier(type))
        return state.withLock { state in
            state.identities[Named(name: name, typeWord: typeWord)]
                .map { InternedKey(state.records[Key(raw: $0).valueKeyIndex]) }
        }
    }

    /// Returns the arguments that the first key of this identity was created with.
    @inline(never) static func descriptor(of key: Key) -> any ValueKeyDescriptor {
        state.withLock { $0.records[key.valueKeyIndex].descriptor }
    }
}
