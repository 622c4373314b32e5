public import Fugu

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
    /// - `accept`: Receives the mistakes that the new sources would bring, and throws to reject them; then nothing changes. It's
    ///   called again with those about names that are read for the first time meanwhile.
    ///
    /// Returns the keys that were read or are observed and of which these sources have another value, with their names; or `nil` if
    /// the sources weren't replaced, because `old` isn't current anymore.
    func replaceSources(
        _ old: SourceStack?, by new: SourceStack, accept: ([SourceMistake]) throws -> Void
    ) throws -> [(key: Key, name: String)]? {
        let change = SourceChange(container: self, old: old, new: new)
        var changed: [(key: Key, name: String)] = []
        let isDone = try replaceSupplier(old, by: new) { known in
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

/// What a reload has changed, and which loaded features don't follow it.
///
/// Get one from ``Fugu/Container/reload(checksUnread:)``. It contains names, and no values.
public struct ReloadSummary: Sendable, CustomStringConvertible {
    /// The dotted names of which the sources have another value than before, sorted.
    ///
    /// Names count that were read, are observed, or were declared. A value that code or a rule has set covers that of the sources,
    /// so reads may give what they gave before.
    public let changedNames: [String]

    /// The features that were loaded in the container or a descendant from an old value and don't reload, sorted.
    ///
    /// Each has the dotted names of the settings of which it keeps an old value. Features that depend on one of these aren't listed.
    /// Neither is a feature that reads a value later, whenever it needs it.
    public let keptFeatures: [(feature: String, names: [String])]

    /// Creates the summary of a reload that changes nothing.
    init() { (changedNames, keptFeatures) = ([], []) }

    /// `keys`: The keys that were read or are observed and of which the sources have another value.
    init(of keys: [(key: Key, name: String)], in container: Container, _ new: SourceStack, over old: SourceStack) {
        let declared = container.declaredKeys.compactMap(\.name).filter { !new.holdsTheSame($0, as: old) }
        changedNames = Set(keys.map(\.name) + declared).sorted()
        let names = Dictionary(keys.map { ($0.key, $0.name) }) { first, _ in first }
        var kept: [String: Set<String>] = [:]
        for (feature, input) in container.keptInstances(madeFrom: keys.map(\.key)) {
            if let name = names[input] { kept[feature.name, default: []].insert(name) }
        }
        keptFeatures = kept.sorted { $0.key < $1.key }.map { ($0.key, $0.value.sorted()) }
    }

    /// The names that changed, and the features that keep old values, in one line.
    public var description: String {
        changedNames.isEmpty ? ErrorText.nothingChanged : ErrorText.changed(changedNames, kept: keptFeatures)
    }
}

extension Container {
    /// Polls the sources of this container, and reloads those that have changed, until the container is closed or the
    /// task is canceled.
    ///
    /// The method keeps the container alive. It waits with the container's clock, and reads and decodes off the main
    /// actor.
    ///
    /// A change counts once it's complete: a source is read after it hasn't changed for two polls and 50 milliseconds,
    /// and the result is dropped if the source has changed in the meantime. A writer that pauses for longer can still
    /// be overtaken. Write the new content to another file in the same folder and rename it, so that nobody reads half
    /// a file. A source that never rests holds up no other, and is reported once.
    ///
    /// A file that is broken, unreadable, or gone holds up no other: its last good values stay, the problem is reported once,
    /// and each poll tries again. That is so for an optional file, too. If a value would become wrong, nothing changes, since all
    /// that rests takes effect together. Sources that can't tell whether they have changed (see ``PropertySource/modificationStamp()``) are read when another
    /// one has changed.
    ///
    /// - Parameter interval: The time between two polls. Less than ten milliseconds counts as ten.
    @concurrent public func reload(every interval: Duration) async {
        // A closed container loads no clock.
        guard !isClosed else { return }
        let (clock, interval) = (self.clock, max(interval, .milliseconds(10)))
        await withTaskGroup { group in
            group.addTask {
                var watch = SourceWatch(interval: interval)
                while !Task.isCancelled {
                    do { try await clock.sleep(for: interval) } catch { return }
                    for problem in watch.look(at: self) { self.report(problem) }
                }
            }
            // A sequence ends when its container is closed.
            group.addTask { for await _ in self.values(of: \.clock) {} }
            await group.next()
            group.cancelAll()
        }
    }
}

/// The state of a polling loop between two polls.
private struct SourceWatch {
    /// A source that has changed since it was read.
    private struct Change {
        let entry: SourceStack.Entry
        let look: SourceStack.Entry.Look
        /// The number of consecutive polls for which the state has been the same.
        var restingLooks = 0
        /// The number of consecutive polls at which the source hasn't rested long enough.
        var restlessLooks = 1
    }

    /// The number of consecutive polls for which a source must rest before it's read.
    private let looksNeeded: Int
    /// The number of consecutive polls at which a source mustn't have rested to be reported.
    private let looksTolerated: Int
    private var changes: [ObjectIdentifier: Change] = [:]
    /// What was reported last about each source that can't be read, and under `nil` about values that would become wrong.
    private var reported: [ObjectIdentifier?: String] = [:]

    init(interval: Duration) {
        func looks(in time: Duration) -> Int { Int((time / interval).rounded(.up)) }
        looksNeeded = max(1, looks(in: .milliseconds(50)))
        looksTolerated = max(10, looks(in: .seconds(5)))
    }

    /// Reloads the sources that have changed and rest.
    ///
    /// Returns the texts to report.
    mutating func look(at container: Container) -> [String] {
        guard let stack = container.sources else { return [] }
        var problems: [String] = []
        var seen: [ObjectIdentifier: Change] = [:]
        for entry in stack.entries {
            let look = entry.presentLook
            guard look != entry.readLook else { continue }
            let id = ObjectIdentifier(entry.application)
            var change = Change(entry: entry, look: look)
            if let last = changes[id] {
                change.restingLooks = last.look == look ? last.restingLooks + 1 : 0
                change.restlessLooks = change.restingLooks < looksNeeded ? last.restlessLooks + 1 : 0
            }
            if change.restlessLooks == looksTolerated {
                problems.append(ErrorText.restless(entry.source.name, looks: looksTolerated))
            }
            seen[id] = change
        }
        changes = seen
        return problems + reload(seen.filter { $0.value.restingLooks >= looksNeeded }, in: container)
    }

    private mutating func reload(_ resting: [ObjectIdentifier: Change], in container: Container) -> [String] {
        guard !resting.isEmpty else {
            if changes.isEmpty { reported = [:] }
            return []
        }
        func change(_ entry: SourceStack.Entry) -> Change? { resting[ObjectIdentifier(entry.application)] }
        // What still can't be read is no reason to read those that can't tell whether they have changed.
        let isNew = resting.keys.contains { reported[$0] == nil }
        var texts: [ObjectIdentifier?: String] = [:]
        do {
            let used = try container.reload { entry in
                change(entry) != nil || isNew && entry.stamp == nil
            } skip: { failures in
                texts = Dictionary(
                    failures.map { (ObjectIdentifier($0.application), ErrorText.notReloaded("\($0.error)")) }
                ) { first, _ in first }
            } if: { stack in
                stack.entries.allSatisfy { entry in
                    guard let change = change(entry), texts[ObjectIdentifier(entry.application)] == nil else {
                        return true
                    }
                    return entry.stamp == change.look.source && change.entry.presentLook == change.look
                }
            }
            for id in resting.keys where texts[id] == nil { changes[id] = nil }
            if used == nil { texts[nil] = reported[nil] }
        } catch {
            texts[nil] = ErrorText.notReloaded("\(error)")
        }
        defer { reported = texts }
        return texts.filter { reported[$0.key] != $0.value }.map(\.value).sorted()
    }
}
