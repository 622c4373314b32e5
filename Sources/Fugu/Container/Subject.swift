/// How each kind of key is observed. What can be loaded from any thread is loaded by the container itself when it is
/// observed and was dropped; a type that belongs to an actor waits for its next read.
extension Subject {
    @usableFromInline init<P: Property & SendableMetatype>(_: P.Type) where P.Value == Value {
        self.init(
            key: Key(raw: Key.property(P.self)),
            reloader: { $0.loadAgain(Request(P.self)) { _ in Payload(P.defaultValue) } }, naming: P._naming)
    }

    @usableFromInline init<P: Property>(isolated _: P.Type) where P.Value == Value {
        self.init(key: Key(raw: Key.property(P.self)), reloader: nil, naming: P._naming)
    }

    @usableFromInline init(_ key: PropertyKey<Value>) {
        self.init(
            key: Key(raw: key.raw),
            reloader: { $0.loadAgain(Request(key)) { _ in Payload(key.descriptor.defaultValue()) } },
            naming: key.descriptor.naming)
    }

    @usableFromInline init<F: Feature & SendableMetatype>(_: F.Type) where F.Instance == Value {
        self.init(
            key: Key(raw: Key.feature(F.self)), reloader: { $0.loadAgain(Request(F.self)) { Payload(F.load(in: $0)) } })
    }

    @usableFromInline init<F: Feature>(isolated _: F.Type) where F.Instance == Value {
        self.init(key: Key(raw: Key.feature(F.self)), reloader: nil)
    }

    @usableFromInline init(_ key: FeatureKey<Value>) {
        self.init(key: Key(raw: key.raw), reloader: { $0.loadAgain(Request(key)) { Payload(key.descriptor.load($0)) } })
    }

    init<F: ThrowingFeature & SendableMetatype>(_: F.Type) where F.Instance == Value {
        let key = Key(raw: Key.throwingFeature(F.self))
        self.init(key: key) { container in
            do { _ = try container[F.self] } catch { container.reportFailedReload(of: key, error) }
        }
    }

    init<F: ThrowingFeature>(isolated _: F.Type) where F.Instance == Value {
        self.init(key: Key(raw: Key.throwingFeature(F.self)), reloader: nil)
    }

    init<F: AsyncFeature>(_: F.Type) where F.Instance == Value {
        let key = Key(raw: Key.asyncFeature(F.self))
        self.init(key: key) { container in
            Task {
                do { _ = try await container[F.self] } catch { container.reportFailedReload(of: key, error) }
            }
        }
    }
}

extension Container {
    /// Loads what cannot fail. If the container has gone away or is closed by now, nobody is there to miss it.
    fileprivate func loadAgain(_ request: Request, _ load: (Container) -> Payload) {
        _ = try? backing.read(request, self, load)
    }

    fileprivate func reportFailedReload(of key: Key, _ error: any Error) {
        if let error = error as? LoadError, error.code == .ended || error.code == .closed { return }
        backing.node.family.reports.report(Messages.reloadFailed(of: key, error))
    }
}
