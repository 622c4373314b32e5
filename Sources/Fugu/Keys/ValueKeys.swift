/// What a value key was made with, kept for as long as the process lives.
protocol ValueKeyDescriptor: AnyObject, Sendable {
    var place: KeyPlace { get }
    var distinction: KeyDistinction? { get }
    /// The type of the key itself.
    var typeName: String { get }
    /// What its declaration says.
    var keyTraits: KeyTraits { get }
    /// A value in words; nil if it is no property's.
    func tell(_ payload: Payload, by teller: any ValueTeller) -> String?
}

extension ValueKeyDescriptor {
    /// What messages call it: `\.timeout`, or where it was not made by a member its name, or the place.
    var label: String {
        let key = place.memberName.map { "\\." + $0 } ?? naming?.name ?? "\(typeName) (\(place.fileID):\(place.line))"
        guard case .id(let id)? = distinction else { return key }
        return "\(key)[\(id)]"
    }

    /// How sources are asked for it, if it has a name.
    var naming: PropertyNaming? {
        if case .name(let naming)? = distinction { naming } else { nil }
    }
}

/// A value key that was made once, with all that it was made with.
final class ValueKeyRecord: Sendable {
    let raw: UInt
    let descriptor: any ValueKeyDescriptor
    /// At hand for those who look for it.
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

/// All value keys of the process.
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

    /// Files a key that was not found by the address of its place: it may be known by another address of the same text.
    static func intern(
        _ place: KeyPlace, _ distinction: KeyDistinction?, _ type: Any.Type, _ make: () -> any ValueKeyDescriptor
    ) -> InternedKey {
        let text = place.text(distinction)
        var seen = 0
        while true {
            let known = state.withLock { $0.places[text] ?? [] }
            // `==` of an id is user code: outside the lock.
            if let same = known.dropFirst(seen).first(where: { $0.isSame(as: distinction) }) {
                return state.withLock { _ in InternedKey.add(same, at: place, text.hash) }
            }
            seen = known.count
            let descriptor = make()
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

    /// Keys of the same name and type share their identity; without a name each is its own.
    private static func raw(of descriptor: any ValueKeyDescriptor, in state: inout State) -> UInt {
        let kind: KeyKind = descriptor.place.typeWord & 1 == 0 ? .property : .feature
        let fresh = Key(valueKeyAt: state.records.count, kind).raw
        guard let name = descriptor.naming?.name else { return fresh }
        let named = Named(name: name, typeWord: descriptor.place.typeWord)
        let raw = state.identities[named] ?? fresh
        state.identities[named] = raw
        return raw
    }

    /// The key of this name and type, if one was ever made.
    static func existing(_ name: String, type: Any.Type) -> InternedKey? {
        let typeWord = UInt(bitPattern: ObjectIdentifier(type))
        return state.withLock { state in
            state.identities[Named(name: name, typeWord: typeWord)]
                .map { InternedKey(state.records[Key(raw: $0).valueKeyIndex]) }
        }
    }

    /// What the first key of this identity was made with.
    static func descriptor(of key: Key) -> any ValueKeyDescriptor {
        state.withLock { $0.records[key.valueKeyIndex].descriptor }
    }
}

#if DEBUG
/// Finds helpers that make several keys at one place without saying what tells them apart: what the second was made with
/// would be lost.
@usableFromInline enum KeyDefaults {
    private static let reported = Locked<Set<UInt>>([])
    static let reports = Reports()

    /// A default that captures nothing is the same each time, so nothing is evaluated then.
    @usableFromInline static func check<Value: Sendable>(
        _ new: @escaping @Sendable () -> Value, _ known: InternedKey
    ) {
        let descriptor: PropertyDescriptor<Value> = known.descriptor()
        guard capturesDiffer(new, descriptor.defaultValue), !reported.withLock({ $0.contains(known.raw) }) else {
            return
        }
        let equal = Equality(of: Value.self)
        let first = Payload(descriptor.defaultValue())
        guard equal(first, first), !equal(first, Payload(new())) else { return }
        guard reported.withLock({ $0.insert(known.raw).inserted }) else { return }
        reports.report(Messages.twoDefaults(of: Key(raw: known.raw), descriptor.place))
    }
}
#endif
