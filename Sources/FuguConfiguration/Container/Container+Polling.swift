public import Fugu

extension Container {
    /// Polls the sources of this container, and reloads them all after a change, until the task is canceled.
    ///
    /// The method keeps the container alive. It waits with the container's clock, and reads and decodes off the main
    /// actor.
    ///
    /// A change counts once it's complete: a source is read after it hasn't changed for two polls and 50 milliseconds,
    /// and the result is dropped if the source has changed in the meantime. A writer that pauses for longer can still
    /// be overtaken. Write the new content to another file in the same folder and rename it, so that nobody reads half
    /// a file.
    ///
    /// A file that is broken, unreadable, or gone changes nothing: the last good values stay, the problem is reported
    /// once, and each poll tries again. Sources that can't tell whether they have changed (see
    /// ``PropertySource/modificationStamp()``) are read when another one has changed.
    ///
    /// - Parameter interval: The time between two polls.
    @concurrent public func reload(every interval: Duration) async {
        let clock = clock
        var watch = SourceWatch(interval: interval)
        while !Task.isCancelled {
            do { try await clock.sleep(for: interval) } catch { return }
            if let mistake = watch.look(at: self) { report(mistake) }
        }
    }
}

/// The state of a polling loop between two polls.
private struct SourceWatch {
    /// The number of consecutive polls for which the stamps must be the same.
    private let looksNeeded: Int
    private var last: [PropertySourceStamp?] = []
    private var looks = 0
    private var reported: String?

    init(interval: Duration) {
        let quiet = Duration.milliseconds(50)
        looksNeeded = interval > .zero ? max(1, Int((quiet / interval).rounded(.up))) : 1
    }

    /// Reloads if something changed.
    ///
    /// Returns the text to report.
    mutating func look(at container: Container) -> String? {
        guard let stack = SourceStack.of(container) else { return nil }
        let stamps = stack.stampsNow
        guard stamps != stack.stamps else {
            (last, looks, reported) = ([], 0, nil)
            return nil
        }
        looks = stamps == last ? looks + 1 : 0
        last = stamps
        guard looks >= looksNeeded else { return nil }
        do {
            let isUsed = try container.reload(only: nil) { $0.stamps == stamps && $0.stampsNow == stamps }
            (last, looks) = ([], 0)
            if isUsed { reported = nil }
            return nil
        } catch {
            let mistake = ErrorText.notReloaded("\(error)")
            defer { reported = mistake }
            return mistake == reported ? nil : mistake
        }
    }
}
