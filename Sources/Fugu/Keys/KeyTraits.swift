/// The declared traits of a key, for graphs and explanations.
package struct KeyTraits {
    package internal(set) var isExternal = false
    package internal(set) var home = Home.inferred
    var reloads = false
    package internal(set) var isSecret = false
}

extension Key {
    /// The declared traits.
    ///
    /// Those of a ``MainActorFeature`` can be read on the main actor only, so they aren't available.
    package var traits: KeyTraits {
        guard let type else { return ValueKeys.descriptor(of: self).keyTraits }
        switch kind {
        case .property:
            return KeyTraits(isSecret: (type as? any Property.Type)?.isSecret == true)
        default: return (type as? any NonisolatedFeature.Type)?.keyTraits ?? KeyTraits()
        }
    }
}

extension NonisolatedFeature {
    fileprivate static var keyTraits: KeyTraits {
        KeyTraits(isExternal: _key.isExternal, home: home, reloads: reloadsWhenInputsChange)
    }
}

extension PropertyDescriptor {
    var keyTraits: KeyTraits { KeyTraits(isSecret: isSecret || naming?.isHidden == true) }
}
