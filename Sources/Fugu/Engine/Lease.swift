/// What `onClose` registers.
struct Closer: Sendable {
    let close: @Sendable () async throws -> Void
}

/// The right to use an instance that has closers, held by whatever was made from it and by the cell it stands in. When
/// the last one lets go, the instance has left early and its closers run, in a task of their own.
final class Lease: Sendable {
    let key: Key
    /// How deep in its family the instance lives.
    let depth: Int
    /// Dependents have higher ones than what they depend on.
    let serial: UInt64
    /// What the instance was made from is needed until its closers have run.
    let needs: [Lease]
    private let closers: Guarded<[Closer]>
    private let family: Family

    init(_ key: Key, home: Node, serial: UInt64, closers: [Closer], needs: [Lease]) {
        self.key = key
        self.serial = serial
        self.needs = needs
        depth = home.depth
        family = home.family
        self.closers = Guarded(closers)
    }

    /// Hands the closers out, last registered first; nobody else runs them then.
    func takeClosers() -> [Closer] {
        closers.withLock { closers in
            defer { closers = [] }
            return closers.reversed()
        }
    }

    /// Runs the closers without waiting for anybody to let go: of an instance that nobody was given.
    func closeEarly() {
        let closers = takeClosers()
        guard !closers.isEmpty else { return }
        let (key, needs, reports) = (key, needs, family.reports)
        family.closings.add {
            for closer in closers {
                do { try await closer.close() } catch { reports.report(Messages.closerFailed(of: key, error)) }
            }
            withExtendedLifetime(needs) {}
        }
    }

    deinit { closeEarly() }
}

/// The tasks that run closers of instances that left early.
final class Closings: Sendable {
    private let tasks = Guarded<(next: Int, running: [Int: Task<Void, Never>])>((0, [:]))

    func add(_ body: @escaping @Sendable () async -> Void) {
        tasks.withLock { tasks in
            let id = tasks.next
            tasks.next += 1
            tasks.running[id] = Task.detached {
                await body()
                self.tasks.withLock { _ = $0.running.removeValue(forKey: id) }
            }
        }
    }

    func waitForAll() async {
        while let task = tasks.withLock({ $0.running.first?.value }) { await task.value }
    }
}
