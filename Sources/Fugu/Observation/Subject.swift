/// An observed key, of any kind.
@usableFromInline struct Subject: Sendable {
    let key: Key
    /// Loads the instance without a reader.
    let reloader: Reloader
    /// The name and type that sources need, if the key has a name.
    let naming: PropertyNaming?

    @usableFromInline init(_ definition: KeyDefinition) {
        key = Key(raw: definition.raw)
        reloader = definition.loader
        naming = definition.naming
    }
}

extension Container {
    func reportFailedReload(of key: Key, _ error: any Error) {
        if let error = error as? LoadError, error.code == .containerGone || error.code == .containerClosed { return }
        node.family.reports.report(Messages.reloadFailed(of: key, error))
    }
}
