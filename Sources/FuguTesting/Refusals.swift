import Fugu

/// Collects the refusals of a strict container while it's being configured.
///
/// `container.mailer.send = { … }` reads the mailer, which isn't swapped yet, before it changes a part of it. That
/// read isn't a failure if the configuration has set the mailer by its end.
final class Refusals: Sendable {
    /// `nil` unless a configuration is in progress.
    private let kept = Locked<[Strictness.Refusal]?>(nil)

    /// Makes `container` strict.
    ///
    /// - `advise`: Returns the advice to show, given the line that swaps a feature.
    /// - `fail`: Receives the text of every refusal that remains, and every report.
    func makeStrict(
        _ container: Container, advise: @escaping @Sendable (String) -> String,
        fail: @escaping @Sendable (String) -> Void
    ) {
        Runner.begin()
        container.makeStrict(Strictness(advise: advise) { [self] in if !keep($0) { fail($0.error.description) } })
        container.handleReports(by: fail)
    }

    func beginConfiguration() { kept.withLock { $0 = [] } }

    /// Ends the configuration of `container`.
    ///
    /// Returns the texts of the refusals that remain.
    func endConfiguration(of container: Container) -> [String] {
        let refusals = kept.withLock { kept in
            defer { kept = nil }
            return kept ?? []
        }
        guard !refusals.isEmpty else { return [] }
        let swaps = container.overrides
        return refusals.filter { !swaps.contains($0.feature) }.map(\.error.description)
    }

    /// Collects a refusal if it can be forgiven: one of a read by the configuration itself, not by a load, which
    /// would keep what it read.
    private func keep(_ refusal: Strictness.Refusal) -> Bool {
        kept.withLock { kept in
            guard kept != nil, refusal.error.path.count == 1 else { return false }
            kept?.append(refusal)
            return true
        }
    }
}
