/// The declared traits of a key, for graphs and explanations.
struct KeyTraits {
    var isExternal = false
    var home = Home.inferred
    var reloads = false
    var isSecret = false
}

extension Key {
    /// The declared traits.
    ///
    /// Those of a ``MainActorFeature`` can be read on the main actor only, so they aren't available.
    var traits: KeyTraits {
        guard let type else { return ValueKeys.descriptor(of: self).keyTraits }
        switch kind {
        case .property:
            guard let type = type as? any Property.Type else { return KeyTraits() }
            return KeyTraits(isSecret: type.isSecret || type._key.naming?.isHidden == true)
        case .feature: return (type as? any Feature.Type)?.keyTraits ?? KeyTraits()
        case .throwingFeature: return (type as? any ThrowingFeature.Type)?.keyTraits ?? KeyTraits()
        case .asyncFeature: return (type as? any AsyncFeature.Type)?.keyTraits ?? KeyTraits()
        }
    }
}

extension Feature {
    fileprivate static var keyTraits: KeyTraits {
        KeyTraits(
            isExternal: _key.isExternal, home: home, reloads: reloadsWhenInputsChange)
    }
}

extension ThrowingFeature {
    fileprivate static var keyTraits: KeyTraits {
        KeyTraits(isExternal: _key.isExternal, home: home, reloads: reloadsWhenInputsChange)
    }
}

extension AsyncFeature {
    fileprivate static var keyTraits: KeyTraits {
        KeyTraits(isExternal: _key.isExternal, home: home, reloads: reloadsWhenInputsChange)
    }
}

extension PropertyDescriptor {
    var keyTraits: KeyTraits { KeyTraits(isSecret: isSecret || naming?.isHidden == true) }
}

extension FeatureDescriptor {
    var keyTraits: KeyTraits {
        KeyTraits(
            isExternal: placeholder != nil, home: traits.home, reloads: traits.reloads)
    }
}
