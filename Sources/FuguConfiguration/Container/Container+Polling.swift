public import Fugu

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
    /// - Parameter interval: The time between two polls.
    @concurrent public func reload(every interval: Duration) async {
        // A closed container loads no clock.
        guard !isClosed else { return }
        let clock = self.clock
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
        let stamp: PropertySourceStamp?
        /// The number of consecutive polls for which the stamp has been the same.
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
        func looks(in time: Duration) -> Int { interval > .zero ? Int((time / interval).rounded(.up)) : 1 }
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
            let stamp = entry.source.modificationStamp()
            guard stamp != entry.stamp else { continue }
            let id = ObjectIdentifier(entry.application)
            var change = Change(stamp: stamp)
            if let last = changes[id] {
                change.restingLooks = last.stamp == stamp ? last.restingLooks + 1 : 0
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
                    return entry.stamp == change.stamp && entry.source.modificationStamp() == change.stamp
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
