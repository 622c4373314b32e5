import Fugu

/// The refusals of a strict container while it is being configured.
///
/// `container.mailer.send = { … }` changes a part of what it reads first: the mailer, which is not swapped yet. That read is
/// no failure if the configuration has set the mailer by its end.
final class Refusals: Sendable {
    /// Not nil while something is configured.
    private let kept = Locked<[Strictness.Refusal]?>(nil)

    /// Makes `container` strict.
    ///
    /// - `advise`: Says what to do, given the line that swaps a feature.
    /// - `fail`: Is given the text of every refusal that is not forgiven, and every report.
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
    /// Returns the texts of what is not forgiven.
    func endConfiguration(of container: Container) -> [String] {
        let refusals = kept.withLock { kept in
            defer { kept = nil }
            return kept ?? []
        }
        guard !refusals.isEmpty else { return [] }
        let swaps = container.overrides
        return refusals.filter { !swaps.contains($0.feature) }.map(\.error.description)
    }

    /// Keeps what may be forgiven: a read by the configuration itself, not by a load, which keeps what it has read.
    private func keep(_ refusal: Strictness.Refusal) -> Bool {
        kept.withLock { kept in
            guard kept != nil, refusal.error.path.count == 1 else { return false }
            kept?.append(refusal)
            return true
        }
    }
}
