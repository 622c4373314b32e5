import Fugu

/// A mistake that other sources would bring, about a name that was read or is observed: the error of a wrong value, or `nil` if
/// there would be no value; and whether the next read would stop the program, because a required value that's there now would be
/// missing.
typealias SourceMistake = (name: String, error: (any Error)?, isFatal: Bool)

extension Container {
    /// The sources of this container.
    var sources: SourceStack? { supplier as? SourceStack }

    /// The sources of this container and its ancestors, nearest first.
    var allSources: [SourceStack] { suppliers.compactMap { $0 as? SourceStack } }

    /// Replaces the sources of the container.
    ///
    /// The values of all known names change at once, as in one `update`.
    ///
    /// - `old`: The value of `sources` when the new ones were created.
    /// - `accept`: Receives the mistakes that the new sources would bring, and throws to reject them; then nothing changes.
    ///
    /// Returns the keys that were read or are observed and of which these sources have another value, with their names; or `nil` if
    /// the sources weren't replaced, because `old` isn't current anymore.
    func replaceSources(
        _ old: SourceStack?, by new: SourceStack, accept: ([SourceMistake]) throws -> Void
    ) throws -> [(key: Key, name: String)]? {
        let change = SourceChange(container: self, old: old, new: new)
        var changed: [(key: Key, name: String)] = []
        let isDone = try replaceSupplier(old, by: new) { known in
            changed = []
            var answers: [(key: Key, value: SuppliedValue)] = []
            var worse: [SourceMistake] = []
            for case (let key, let naming as PropertyNaming) in known {
                // Otherwise, a value that can't be compared, or doesn't equal itself, would count as changed at every reload.
                if let old, new.holdsTheSame(naming.name, as: old) { continue }
                let answer = naming.ask(new)
                answers.append((key, answer))
                changed.append((key, naming.name))
                if let mistake = change.mistake(answer, of: key, naming) { worse.append(mistake) }
            }
            try accept(worse)
            return answers
        }
        return isDone ? changed : nil
    }
}

/// A replacement of a container's sources.
private struct SourceChange {
    let container: Container
    let old: SourceStack?
    let new: SourceStack

    /// Returns the mistake in an answer of the new sources, unless the old ones made it, too.
    func mistake(_ answer: SuppliedValue, of key: Key, _ naming: PropertyNaming) -> SourceMistake? {
        if case .success(_?) = answer { return nil }
        let isFatal = naming.isRequired && !isGiven(key, naming, new) && isGiven(key, naming, old)
        guard case .failure(let error) = answer else {
            return isFatal ? SourceMistake(name: naming.name, error: nil, isFatal: true) : nil
        }
        return hadFailed(naming) ? nil : SourceMistake(name: naming.name, error: error, isFatal: isFatal)
    }

    /// Whether a read in the container gives a value other than the default if it has these sources.
    private func isGiven(_ key: Key, _ naming: PropertyNaming, _ own: SourceStack?) -> Bool {
        var held = container.heldValues(of: key)
        held[0].supplier = own
        for level in held {
            if level.code != nil || level.rule != nil { return true }
            switch level.supplier.map(naming.ask) {
            case .success(_?)?: return true
            case .failure?: return false
            case .success(nil)?, nil: continue
            }
        }
        return false
    }

    /// Whether the old sources had a wrong value for a name, too.
    private func hadFailed(_ naming: PropertyNaming) -> Bool {
        guard let old, case .failure = naming.ask(old) else { return false }
        return true
    }
}
