// Snapshots: reads that are repeated if sources were replaced in between. In a load, what a failed attempt has read and has
// changed since isn't an input.

/// A read for a load in a snapshot, which becomes an input at its end, unless it changed before a repetition.
typealias HeldRead = (load: Frame, input: Input, depth: Int)

extension Container {
    /// Runs `read`, and repeats it until no sources of this container or its ancestors were replaced meanwhile.
    ///
    /// An error counts as a result.
    package func atOneMoment<R, E>(_ read: () throws(E) -> R) throws(E) -> R {
        let attempt = beginAttempt()
        defer { attempt?.endAttempt() }
        while true {
            let before = allSources
            let result = Self.run(attempt, read)
            if before.elementsEqual(allSources, by: { $0 === $1 }) { return try result.get() }
            attempt?.dropOldReads()
        }
    }

    private static func run<R, E>(_ attempt: Frame?, _ read: () throws(E) -> R) -> Result<R, E> {
        func attemptRead() -> Result<R, E> {
            do throws(E) { return .success(try read()) } catch { return .failure(error) }
        }
        return attempt.map { Context.run(nil, $0, attemptRead) } ?? attemptRead()
    }

    /// Begins an attempt and returns its frame, or `nil` if no load can be reading.
    private func beginAttempt() -> Frame? {
        guard let reader = Frame.current ?? recorder else { return nil }
        let node = node
        let attempt = Frame(.snapshot, in: node.family, node, under: reader, within: Frame.own)
        node.family.lock.withLock { token in node.family.state[token].attemptCount += 1 }
        return attempt
    }
}

extension Frame {
    /// The innermost frame of the chain that isn't a snapshot.
    var reader: Frame? { chain.first { $0.kind != .snapshot } }

    /// Holds an input back, and returns whether it did, if the running code reads it in a snapshot inside this load.
    func holdBack(_ token: LockToken, _ input: Input, _ depth: Int) -> Bool {
        guard family.state[token].attemptCount > 0,
            let inner = Frame.current?.chain.first(where: {
                $0 === self || $0.kind == .snapshot && $0.family === family
            }),
            inner !== self
        else { return false }
        inner.state[token].more().heldReads.append((self, input, depth))
        return true
    }

    /// Drops the held reads that have changed since.
    ///
    /// The others stay, because reading them again may not record them again.
    fileprivate func dropOldReads() {
        var garbage = Garbage()
        family.lock.withLock { token in
            guard let rare = state[token].rare else { return }
            rare.heldReads.replace(by: rare.heldReads.value.filter { !$0.load.isOld(token, $0.input) }, &garbage)
        }
        garbage.dispose()
    }

    /// Ends the attempt: the reads that are still held back become inputs.
    fileprivate func endAttempt() {
        let reads = family.lock.withLock { token in
            family.state[token].attemptCount -= 1
            let reads = state[token].rare?.heldReads.takeAll() ?? []
            for read in reads where !read.load.isFinished { read.load.add(token, read.input, read.depth) }
            return reads
        }
        withExtendedLifetime(reads) {}
        end()
    }
}
