public import Fugu

extension Container {
    /// Looks every `interval` whether a source of this container has changed, and if so reloads them all, until the task
    /// is cancelled. The container lives as long as that.
    ///
    /// It waits by the container's clock. A file that is broken or has gone changes nothing: the last good values stay,
    /// the mistake is reported once, and the sources are read again when they have changed again. Sources that cannot
    /// tell whether they have changed (see ``PropertySource/modificationStamp()``) are read when another one has.
    ///
    /// - Parameter interval: The time between two looks.
    public func reload(every interval: Duration) async {
        let clock = clock
        var watch = SourceWatch()
        while !Task.isCancelled {
            do { try await clock.sleep(for: interval) } catch { return }
            if let mistake = watch.look(at: self) { report(mistake) }
        }
    }
}

/// What a polling loop remembers between two looks.
private struct SourceWatch {
    /// The stamps of sources that could not be reloaded: not worth another try.
    private var refused: [PropertySourceStamp?] = []
    private var reported: String?

    /// Reloads if there is something new. Returns what is to be reported.
    mutating func look(at container: Container) -> String? {
        guard let stack = SourceStack.of(container) else { return nil }
        let stamps = stack.stampsNow
        guard stamps != stack.entries.map(\.stamp) else {
            (refused, reported) = ([], nil)
            return nil
        }
        guard stamps != refused else { return nil }
        do {
            try container.reload()
            (refused, reported) = ([], nil)
            return nil
        } catch {
            refused = stamps
            let mistake = ErrorText.notReloaded("\(error)")
            defer { reported = mistake }
            return mistake == reported ? nil : mistake
        }
    }
}
