/// The arguments that a value key was created with, kept for the lifetime of the process.
protocol ValueKeyDescriptor: AnyObject, Sendable {
    var place: KeyPlace { get }
    var distinction: KeyDistinction? { get }
    /// The name of the key's own type.
    var typeName: String { get }
    /// The name in messages.
    var label: String { get }
    var traits: KeyTraits { get }
    /// The type of the value or instance.
    var valueType: Any.Type { get }
    /// Returns the definition of the key, or `nil` if it belongs to the main actor.
    func definition(of key: Key) -> KeyDefinition?
    /// Returns the value as text, or `nil` if the key isn't that of a property.
    func tell(_ payload: Payload, by teller: any ValueTeller) -> String?
}

extension ValueKeyDescriptor {
    var valueType: Any.Type { Void.self }

    /// The name: `\.timeout`, or for a key that no member creates, its name or its place.
    var label: String {
        let key = place.memberName.map { "\\." + $0 } ?? naming?.name ?? "\(typeName) (\(place.fileID):\(place.line))"
        guard case .id(let id)? = distinction else { return key }
        return "\(key)[\(id)]"
    }

    /// The name that suppliers need, if the key has one.
    var naming: (any KeyNaming)? {
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
        /// The indices of the keys of each place, by its text.
        var places: [String: [Int]] = [:]
        /// The indices of the first keys of each name, one for each type.
        var names: [String: [Int]] = [:]

        func named(_ name: String, _ typeWord: UInt) -> ValueKeyRecord? {
            names[name]?.first { records[$0].descriptor.place.typeWord == typeWord }.map { records[$0] }
        }
    }

    private static let state = Locked(State())

    /// Registers a key that wasn't found by the addresses of its place, unless another address with the same text is
    /// registered.
    static func intern(
        _ place: KeyPlace, _ distinction: KeyDistinction?, _ descriptor: any ValueKeyDescriptor
    ) -> InternedKey {
        intern(place, distinction, Retained(descriptor))
    }

    // In an object, because the compiler would write the function once for each type of descriptors.
    @inline(never)
    private static func intern(
        _ place: KeyPlace, _ distinction: KeyDistinction?, _ retained: Retained<any ValueKeyDescriptor>
    ) -> InternedKey {
        let descriptor = retained.value
        let hash = distinction?.hash ?? 0
        let text = place.text(hash)
        var seen = 0
        while true {
            let known = state.withLock { state in (state.places[text] ?? []).map { state.records[$0] } }
            // `==` of an `id` is user code, so call it outside the lock.
            if let same = known.dropFirst(seen).first(where: { $0.isSame(as: distinction) }) {
                return state.withLock { _ in add(same, at: place, hash) }
            }
            seen = known.count
            if distinction == nil, place.isOfFunctionWithParameters { fatalError(Messages.keyOfFunction(descriptor)) }
            let added = state.withLock { state -> InternedKey? in
                guard state.places[text, default: []].count == seen else { return nil }
                let record = ValueKeyRecord(raw: raw(of: descriptor, in: &state), descriptor)
                state.places[text, default: []].append(state.records.count)
                state.records.append(record)
                return add(record, at: place, hash)
            }
            if let added { return added }
        }
    }

    /// Under the lock: lets a record be found by the addresses of this place.
    private static func add(_ record: ValueKeyRecord, at place: KeyPlace, _ hash: UInt) -> InternedKey {
        let first = KeyDistinction.firstName
        let isFirstName = record.name != nil && InternedKey.find(place, first) { _ in true } == nil
        return InternedKey.add(record, at: place, isFirstName ? first : hash)
    }

    /// Returns the identity, which keys with the same name and type share; a key without a name has its own.
    private static func raw(of descriptor: any ValueKeyDescriptor, in state: inout State) -> UInt {
        let typeWord = descriptor.place.typeWord
        if let name = descriptor.naming?.name {
            if let known = state.named(name, typeWord) { return known.raw }
            state.names[name, default: []].append(state.records.count)
        }
        return Key(valueKeyAt: state.records.count, KeyKind(rawValue: typeWord & Key.kindMask)!).raw
    }

    /// Returns the key with this name and type, if one was created.
    static func existing(_ name: String, type: Any.Type) -> InternedKey? {
        let typeWord = UInt(bitPattern: ObjectIdentifier(type))
        return state.withLock { $0.named(name, typeWord) }.map { InternedKey($0) }
    }

    /// Returns the arguments that the first key of this identity was created with.
    @inline(never) static func descriptor(of key: Key) -> any ValueKeyDescriptor {
        state.withLock { $0.records[key.valueKeyIndex].descriptor }
    }
}
