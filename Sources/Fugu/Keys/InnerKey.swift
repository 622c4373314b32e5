/// The identity of one of the keys that belong to a feature.
///
/// They're distinguished by where they stand, not by who made them, so that a program doesn't collect more and more of them.
struct InnerID: Hashable, Sendable {
    let decorated: UInt
    /// The depth of the container that decorates the feature, or adds to it.
    let depth: Int
    /// The number of decorations and elements that the container had before, or -1 for what its loader creates for layers below.
    let index: Int
    /// For the element of a list, where it was added.
    var place: String?
}

/// The description of a key that only the feature to which it belongs can read.
private final class InnerDescriptor: ValueKeyDescriptor {
    let place: KeyPlace
    let distinction: KeyDistinction?
    let decorated: Key
    let label: String

    init(_ place: KeyPlace, _ id: InnerID) {
        self.place = place
        distinction = .id(id)
        decorated = Key(raw: id.decorated)
        label = Messages.innerName(decorated.name, id)
    }

    var typeName: String { label }
    var keyTraits: KeyTraits { decorated.traits }
    func tell(_ payload: Payload, by teller: any ValueTeller) -> String? { nil }
}

extension Key {
    /// Returns a key of the same kind that belongs to this one.
    func inner(depth: Int, index: Int, at place: SourcePlace? = nil) -> Key {
        let id = InnerID(decorated: raw, depth: depth, index: index, place: place?.description)
        let keyPlace = KeyPlace(
            Void.self, KeyPlace.Kind(rawValue: kind.rawValue)!, "inner(depth:index:at:)", "Fugu/InnerKey.swift", 0, 0)
        let interned =
            InternedKey.find(keyPlace, id: id)
            ?? ValueKeys.intern(keyPlace, .id(id), Void.self) { InnerDescriptor(keyPlace, id) }
        return Key(raw: interned.raw)
    }

    /// The key of what a feature's own load creates for layers.
    var undecorated: Key { inner(depth: 0, index: 0) }

    /// The key of what the loader of a container at a depth creates for layers below.
    func shared(depth: Int) -> Key { inner(depth: depth, index: -1) }

    /// The feature that a key belongs to, if any.
    var decorated: Key? {
        isValueKey ? (ValueKeys.descriptor(of: self) as? InnerDescriptor)?.decorated : nil
    }

    /// Whether it's the key of an element that a container adds to a list.
    var isElement: Bool {
        guard isValueKey, case .id(let id as InnerID) = ValueKeys.descriptor(of: self).distinction else { return false }
        return id.place != nil
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
