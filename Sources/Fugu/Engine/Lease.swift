/// What `onClose` registers.
struct Closer: Sendable {
    let close: @Sendable () async throws -> Void
}

/// The right to use an instance that has closers, held by whatever was made from it and by the cell it stands in. When
/// the last one lets go, the instance has left early and its closers run.
final class Lease: Sendable {
    let key: Key
    /// Dependents have higher ones than what they depend on.
    let serial: UInt64
    private let state: Guarded<State>
    private let reports: Reports

    private struct State: Sendable {
        var closers: [Closer]
        var needs: [Lease]
    }

    init(_ key: Key, serial: UInt64, closers: [Closer], needs: [Lease], _ reports: Reports) {
        self.key = key
        self.serial = serial
        self.reports = reports
        state = Guarded(State(closers: closers, needs: needs))
    }

    /// Hands the closers out, last registered first; they are not run by anyone else then.
    func takeClosers() -> [Closer] {
        state.withLock { state in
            defer { state.closers = [] }
            return state.closers.reversed()
        }
    }

    /// The container went away without being closed: nothing is run.
    func abandon() {
        guard !takeClosers().isEmpty else { return }
        #if DEBUG
        reports.report(Messages.neverClosed(key))
        #endif
    }

    deinit {
        let closers = takeClosers()
        guard !closers.isEmpty else { return }
        let needs = state.withLock { $0.needs }
        let (key, reports) = (key, reports)
        Task {
            for closer in closers {
                do { try await closer.close() } catch { reports.report(Messages.closerFailed(of: key, error)) }
            }
            withExtendedLifetime(needs) {}
        }
    }
}
