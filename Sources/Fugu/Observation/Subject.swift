/// What is observed, whatever kind of key it has.
@usableFromInline struct Subject: Sendable {
    let key: Key
    /// Loads it when nobody reads it; nil for a type that belongs to an actor, which waits for its next read.
    let reloader: Reloader?
    /// How sources are asked for it, if it has a name.
    let naming: PropertyNaming?

    @usableFromInline init<K: Keyed & SendableMetatype>(_: K.Type) {
        key = Key(raw: K._raw)
        reloader = { _ = K._prepare(in: $0, reportsFailure: true) }
        naming = K._naming
    }

    @usableFromInline init<K: Keyed>(isolated _: K.Type) {
        key = Key(raw: K._raw)
        reloader = nil
        naming = K._naming
    }

    @usableFromInline init<K: ValueKey>(_ key: K) {
        self.key = Key(raw: key._raw)
        reloader = { key._prepare(in: $0) }
        naming = key._naming
    }
}

extension Container {
    /// Loads what cannot fail, for those who observe it.
    ///
    /// If the container has gone away or is closed by now, nobody is there to miss it.
    func prepare(_ request: Request, _ load: (Container) -> Payload) -> PreparationHandle? {
        _ = try? backend.read(request, self, load)
        return nil
    }

    func reportFailedReload(of key: Key, _ error: any Error) {
        if let error = error as? LoadError, error.code == .ended || error.code == .closed { return }
        backend.node.family.reports.report(Messages.reloadFailed(of: key, error))
    }
}
