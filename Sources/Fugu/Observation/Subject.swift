/// The key that is observed, of whatever kind.
@usableFromInline struct Subject: Sendable {
    let key: Key
    /// Loads the instance without a read.
    let reloader: Reloader
    /// The name and type that sources need, if the key has a name.
    let naming: PropertyNaming?

    @usableFromInline init(_ definition: KeyDefinition) {
        key = Key(raw: definition.raw)
        reloader = definition.prepare
        naming = definition.naming
    }
}

extension Container {
    /// Loads a feature that can't fail, for its observers.
    ///
    /// If the container was released or is closed, nothing happens: there's nobody left to notify.
    func prepare(_ request: Request, _ load: (Container) -> Payload) -> PreparationHandle? {
        _ = try? present(request.key, request.naming) ?? self.load(request, load)
        return nil
    }

    func reportFailedReload(of key: Key, _ error: any Error) {
        if let error = error as? LoadError, error.code == .containerGone || error.code == .containerClosed { return }
        node.family.reports.report(Messages.reloadFailed(of: key, error))
    }
}
