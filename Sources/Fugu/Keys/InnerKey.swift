/// The identity of one of the keys that belong to a feature.
///
/// They're distinguished by where they stand, not by who made them, so that a program doesn't collect more and more of them.
struct InnerID: Hashable, Sendable {
    let decorated: UInt
    /// The depth of the container that decorates the feature, or adds to it.
    let depth: Int
    /// The number of decorations or elements that the container had before, or -1 for what it adds elements to.
    let index: Int
    /// For the element of a list, where it was added.
    var place: String?

    /// Whether it's the key of what the container would have without its own layers.
    var isInherited: Bool { index <= 0 && place == nil }
}

/// The description of a key that only the feature to which it belongs can read.
private final class InnerDescriptor: ValueKeyDescriptor {
    let place: KeyPlace
    let id: InnerID
    let decorated: Key
    let label: String

    init(_ place: KeyPlace, _ id: InnerID) {
        self.place = place
        self.id = id
        decorated = Key(raw: id.decorated)
        label = Messages.innerName(decorated.name, id)
    }

    var distinction: KeyDistinction? { .id(id) }
    var typeName: String { label }
    var isInherited: Bool { id.isInherited }
    var keyTraits: KeyTraits { decorated.traits }
    func tell(_ payload: Payload, by teller: any ValueTeller) -> String? { nil }
}

extension Key {
    /// Returns a key of the same kind that belongs to this one.
    func inner(depth: Int, index: Int, at place: SourcePlace? = nil) -> Key {
        let id = InnerID(decorated: raw, depth: depth, index: index, place: place?.description)
        let keyPlace = KeyPlace(Void.self, kind, "inner(depth:index:at:)", "Fugu/InnerKey.swift", 0, 0)
        let interned =
            InternedKey.find(keyPlace, id: id)
            ?? ValueKeys.intern(keyPlace, .id(id), InnerDescriptor(keyPlace, id))
        return Key(raw: interned.raw)
    }

    private var descriptor: InnerDescriptor? {
        isValueKey ? ValueKeys.descriptor(of: self) as? InnerDescriptor : nil
    }

    /// The feature that a key belongs to, if any.
    package var decorated: Key? { descriptor?.decorated }

    /// Whether it's the key of an element of a list.
    var isElement: Bool { descriptor?.id.place != nil }

    /// Returns the key by which a container at a depth knows this one.
    ///
    /// What a container would inherit of a decorated feature is the feature itself for the containers above.
    @inline(__always)
    func known(at depth: Int) -> Key { isInherited ? inherited(at: depth) : self }

    @inline(never)
    private func inherited(at depth: Int) -> Key {
        guard let descriptor, depth < descriptor.id.depth else { return self }
        return descriptor.decorated
    }
}

extension Request {
    /// Returns the same request for another key.
    func asking(for key: Key) -> Request {
        Request(
            key.raw, home: home, reloads: reloads, isExternal: isExternal, hasTestValue: hasTestValue,
            placeholder: placeholder, at: place)
    }
}
