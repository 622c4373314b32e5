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
    /// A file that is broken, unreadable, or gone changes nothing: the last good values stay, the problem is reported
    /// once, and each poll tries again. That is so for an optional file, too. What is gone holds up no other source.
    /// Sources that can't tell whether they have changed (see ``PropertySource/modificationStamp()``) are read when another
    /// one has changed.
    ///
    /// - Parameter interval: The time between two polls.
    @concurrent public func reload(every interval: Duration) async {
        // A closed container loads no clock.
        guard !isClosed else { return }
        let clock = clock
        await withTaskGroup { group in
            group.addTask {
                var watch = SourceWatch(interval: interval)
                while !Task.isCancelled {
                    do { try await clock.sleep(for: interval) } catch { return }
                    for problem in watch.look(at: self) { self.report(problem) }
                }
            }
            // A sequence ends when its container is closed.
            group.addTask { for await _ in self.values(of: ErasedClock.self) {} }
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
    /// The sources that have vanished and were reported.
    private var vanished: Set<ObjectIdentifier> = []
    private var reported: String?

    init(interval: Duration) {
        func looks(in time: Duration) -> Int { interval > .zero ? Int((time / interval).rounded(.up)) : 1 }
        looksNeeded = max(1, looks(in: .milliseconds(50)))
        looksTolerated = max(10, looks(in: .seconds(5)))
    }

    /// Reloads the sources that have changed and rest.
    ///
    /// Returns the texts to report.
    mutating func look(at container: Container) -> [String] {
        guard let stack = SourceStack.of(container) else { return [] }
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
        if seen.isEmpty { reported = nil }
        let resting = seen.filter { $0.value.restingLooks >= looksNeeded }
        let gone = resting.filter { $0.value.stamp?.isMissing == true }
        problems += missing(stack.entries.filter { gone[ObjectIdentifier($0.application)] != nil })
        return problems + reload(resting.filter { gone[$0.key] == nil }, in: container)
    }

    /// Returns the texts to report for sources that have vanished, which keep their values and hold up no other.
    private mutating func missing(_ entries: [SourceStack.Entry]) -> [String] {
        var problems: [String] = []
        var known: Set<ObjectIdentifier> = []
        for entry in entries {
            let id = ObjectIdentifier(entry.application)
            if !vanished.contains(id) {
                do {
                    _ = try entry.reread(entry.source)
                    // It's there again, as the next poll finds.
                    continue
                } catch {
                    problems.append(ErrorText.notReloaded("\(error)"))
                }
            }
            known.insert(id)
        }
        vanished = known
        return problems
    }

    private mutating func reload(_ resting: [ObjectIdentifier: Change], in container: Container) -> [String] {
        guard !resting.isEmpty else { return [] }
        func change(_ entry: SourceStack.Entry) -> Change? { resting[ObjectIdentifier(entry.application)] }
        do {
            let isUsed = try container.reload { entry in
                entry.stamp == nil || change(entry) != nil
            } if: { stack in
                stack.entries.allSatisfy { entry in
                    guard let change = change(entry) else { return true }
                    return entry.stamp == change.stamp && entry.source.modificationStamp() == change.stamp
                }
            }
            for id in resting.keys { changes[id] = nil }
            if isUsed { reported = nil }
            return []
        } catch {
            let problem = ErrorText.notReloaded("\(error)")
            defer { reported = problem }
            return problem == reported ? [] : [problem]
        }
    }
}
