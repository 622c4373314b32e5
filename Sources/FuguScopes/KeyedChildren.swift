public import Fugu

/// The children of a container, one for each value of a property, such as a tenant or a session.
///
/// Get one from `children(by:capacity:idleTime:)` of a container and keep it:
///
/// ```swift
/// let tenants = container.children(by: \.tenant, capacity: 100, idleTime: .seconds(600))
///
/// let invoices = try await tenants.withChild(for: "acme") { container in
///     try await container[Database.self].invoices()
/// }
/// ```
///
/// The child of a value is made when it's first used. It has the value set, so whatever reads the property is loaded once for
/// each value, and everything else is shared. It's kept while somebody uses it, and afterward, until more children than
/// `capacity` are kept or nobody has used it for `idleTime`. Then a task closes it, and the teardown closures of what it
/// loaded run. Whoever asks for the same value in the meantime waits, and gets a new child.
///
/// Each operation has a child of that child, with what was set for the request: see ``withChild(for:fileID:line:operation:)``.
///
/// Closing the parent closes all children. If you let this object go earlier, call ``evictAll()`` first, which closes those that
/// nobody uses.
public final class KeyedChildren<Value: Hashable & Sendable>: Sendable {
    private let table: ChildTable<Value>

    fileprivate init(_ table: ChildTable<Value>) { self.table = table }

    deinit { table.stop() }

    /// Runs an operation with a child of the child of a value, and closes it when the operation ends.
    ///
    /// What reads the property belongs to the child of the value, which all operations of the value share and which isn't closed
    /// before they end. What the operation sets is its own. Its child also has what was set for the request: what the containers
    /// from `Container.current` up to the root have set, replaced, decorated, or added, without the root and without the property.
    ///
    /// The operation's child is `Container.current` while it runs, and is closed as by `withChild(_:operation:)` of a container, but a
    /// failure of the closing is reported.
    ///
    /// - Parameters:
    ///   - value: The value of the property. A value that doesn't equal itself, such as `Double.nan`, stops the program.
    ///   - fileID: The file of the call, for messages.
    ///   - line: The line of the call, for messages.
    ///   - operation: The operation, which receives its child.
    /// - Returns: What `operation` returns.
    /// - Throws: What `operation` throws.
    /// - Complexity: O(*n*) on average for *n* values that the request has set, besides the operation and closing.
    public func withChild<R>(
        for value: Value, fileID: StaticString = #fileID, line: UInt = #line, operation: (Container) async throws -> R
    ) async rethrows -> R {
        let child = await table.child(for: value)
        do {
            let result = try await Operation.$isRunning.withValue(true) {
                try await child.withChildOfCurrent(except: table.key, fileID, line, operation: operation)
            }
            await table.release(child, of: value)
            return result
        } catch {
            await table.release(child, of: value)
            throw error
        }
    }

    /// Holds the child of a value open for an operation that goes on after a function has returned, such as writing a stream.
    ///
    /// ```swift
    /// let tenant = await tenants.hold("acme")
    /// return Response { writer in
    ///     try await writer.write(tenant.container[Invoices.self].lines)
    ///     await tenant.close()
    /// }
    /// ```
    ///
    /// The operation has a child of its own, with what was set for the request at this call, as for
    /// ``withChild(for:fileID:line:operation:)``. To bind it as `Container.current`, write `Container.with(tenant.container)`.
    ///
    /// - Parameters:
    ///   - value: The value of the property. A value that doesn't equal itself, such as `Double.nan`, stops the program.
    ///   - fileID: The file of the call, for messages.
    ///   - line: The line of the call, for messages.
    /// - Returns: The handle, which holds the child until you close or release it.
    /// - Complexity: O(*n*) on average for *n* values that the request has set.
    public func hold(_ value: Value, fileID: StaticString = #fileID, line: UInt = #line) async -> HeldChild {
        let child = await table.child(for: value)
        return HeldChild(child.beginOperationOfCurrent(except: table.key, fileID, line)) { [table] in
            await table.release(child, of: value)
        }
    }

    /// Closes the child of a value, for example when a user signs out.
    ///
    /// Whoever asks for the value from now on gets a new child. If the child is in use, this method waits for the operations to end,
    /// also those that ``hold(_:fileID:line:)`` began, and the last one of them closes it. An operation of such children, or a teardown closure in one, can call this, too; it then
    /// waits for no operation.
    ///
    /// - Parameter value: The value of the property.
    /// - Complexity: O(1), besides the closing.
    public func evict(_ value: Value) async { await table.evict(value) }

    /// Closes all children, and waits, as ``evict(_:)`` does.
    ///
    /// - Complexity: O(*n*) for *n* children, besides the closing.
    public func evictAll() async { await table.evictAll() }

    /// The values that have a child, except those whose child is being closed.
    ///
    /// - Complexity: O(*n*) for *n* children.
    public var values: [Value] { get async { await table.values } }
}

/// A child by key that is held open for an operation, until you close or release this handle.
///
/// Get one from ``KeyedChildren/hold(_:fileID:line:)``. You can use it from any thread.
public final class HeldChild: Sendable {
    /// The operation's own container: a child of the child by key.
    public let container: Container
    private let release: Locked<(@Sendable () async -> Void)?>

    fileprivate init(_ container: Container, release: @escaping @Sendable () async -> Void) {
        self.container = container
        self.release = Locked(release)
    }

    deinit {
        guard let release = release.withLock({ $0.take() }) else { return }
        Container.inNobodysLoad { [container] in
            _ = Task {
                await container.endOperation()
                await release()
            }
        }
    }

    /// Closes the operation's container, and holds the child by key no longer.
    ///
    /// A failure of the closing is reported. Another call does nothing. If you release the handle without a call, a task closes it.
    public func close() async {
        guard let release = release.withLock({ $0.take() }) else { return }
        await container.endOperation()
        await release()
    }
}

extension Container {
    /// Returns the children of this container by the value of a property, each made when it's first used.
    ///
    /// - Parameters:
    ///   - key: A key path to the property that each child sets: `\.tenant`.
    ///   - capacity: The number of children to keep. If there are more, those that were used least recently are closed, except
    ///     those in use.
    ///   - idleTime: The time after which a child that nobody uses is closed, or `nil`. It's measured by the container's
    ///     `clock`, which is read at this call.
    /// - Returns: The children, at first none.
    public func children<Value: Hashable & Sendable>(
        by key: (ContainerKeys) -> PropertyKey<Value>, capacity: Int = .max, idleTime: Duration? = nil
    ) -> KeyedChildren<Value> {
        let key = key(ContainerKeys())
        return children(Key(raw: key._key.raw), capacity, idleTime) { $0[key] = $1 }
    }

    /// Returns the children of this container by the value of a property, each made when it's first used.
    ///
    /// - Parameters:
    ///   - property: The type of the property that each child sets.
    ///   - capacity: The number of children to keep. If there are more, those that were used least recently are closed, except
    ///     those in use.
    ///   - idleTime: The time after which a child that nobody uses is closed, or `nil`. It's measured by the container's
    ///     `clock`, which is read at this call.
    /// - Returns: The children, at first none.
    public func children<P: Property>(
        by property: P.Type, capacity: Int = .max, idleTime: Duration? = nil
    ) -> KeyedChildren<P.Value> where P.Value: Hashable {
        children(Key(raw: P._key.raw), capacity, idleTime) { $0[P.self] = $1 }
    }

    private func children<Value: Hashable & Sendable>(
        _ key: Key, _ capacity: Int, _ idleTime: Duration?, _ set: @escaping @Sendable (Container, Value) -> Void
    ) -> KeyedChildren<Value> {
        KeyedChildren(
            ChildTable(
                of: owner ?? self, key, capacity: max(capacity, 0),
                idle: idleTime.map { (time: min($0, .longest), clock: self.clock) }, set))
    }
}

/// An operation with a child.
private enum Operation {
    /// Whether one runs here.
    @TaskLocal static var isRunning = false
}

/// The children by value.
///
/// It's an actor rather than something with a lock, since `==` and `hash(into:)` of the values are user code.
private actor ChildTable<Value: Hashable & Sendable> {
    private struct Entry {
        let container: Container
        var userCount = 0
        /// The number of the present time without a user.
        var idleNumber: UInt64?
        var isClosing = false
    }

    private struct IdleTime {
        let value: Value
        let number: UInt64
        let start: AnyClock.Instant?
    }

    private let parent: Container
    nonisolated let key: Key
    private let capacity: Int
    private let idle: (time: Duration, clock: AnyClock)?
    private let set: @Sendable (Container, Value) -> Void
    private var entries: [Value: Entry] = [:]
    /// The children that were evicted while somebody used them, with the number of their users, and who waits for these.
    private var evicted: [ObjectIdentifier: (userCount: Int, waiters: [CheckedContinuation<Void, Never>])] = [:]
    /// The times without a user, in the order in which they began.
    ///
    /// Those that have ended stay until they come first.
    private var idleTimes: [IdleTime] = []
    private var firstIdle = 0
    private var idleCount: UInt64 = 0
    /// The number of children that aren't being closed.
    private var count = 0
    private let sweep = Locked<Task<Void, Never>?>(nil)

    init(
        of parent: Container, _ key: Key, capacity: Int, idle: (time: Duration, clock: AnyClock)?,
        _ set: @escaping @Sendable (Container, Value) -> Void
    ) {
        self.parent = parent
        self.key = key
        self.capacity = capacity
        self.idle = idle
        self.set = set
    }

    var values: [Value] { entries.filter { !$0.value.isClosing }.map(\.key) }

    /// Returns the child of a value for one more user.
    func child(for value: Value) async -> Container {
        // Such a value would never be found again, nor would its child.
        if value != value { fatalError(Messages.unequalToItself(valueOf: key)) }
        while let entry = entries[value], entry.isClosing { await close(entry.container, of: value) }
        // A user may have closed it.
        if let entry = entries[value], entry.container.isClosed { detach(value, entry) }
        if entries[value] == nil {
            let container = parent.child(made: .keyed(fix: Messages.evictAllFirst), #fileID, #line)
            set(container, value)
            entries[value] = Entry(container: container)
            count += 1
        }
        entries[value]!.userCount += 1
        entries[value]!.idleNumber = nil
        let container = entries[value]!.container
        closeLeastRecent()
        return container
    }

    /// A user of a child has ended.
    func release(_ container: Container, of value: Value) {
        guard entries[value]?.container === container else { return releaseEvicted(container) }
        entries[value]!.userCount -= 1
        guard entries[value]!.userCount == 0 else { return }
        idleCount += 1
        entries[value]!.idleNumber = idleCount
        idleTimes.append(IdleTime(value: value, number: idleCount, start: idle?.clock.now))
        forgetEndedTimes()
        closeLeastRecent()
        startSweep()
    }

    private func releaseEvicted(_ container: Container) {
        let id = ObjectIdentifier(container)
        evicted[id]!.userCount -= 1
        guard evicted[id]!.userCount == 0 else { return }
        inNobodysLoad {
            await $0.close(container)
            for waiter in $0.evicted.removeValue(forKey: id)!.waiters { waiter.resume() }
        }
    }

    /// Returns when a child that was evicted during its use is closed, or at once where that would wait for itself.
    private func waitForUsers(of container: Container) async {
        let id = ObjectIdentifier(container)
        if Operation.isRunning || container.isInTeardown || evicted[id] == nil { return }
        await withCheckedContinuation { evicted[id]!.waiters.append($0) }
    }

    func evict(_ value: Value) async {
        guard let entry = entries[value] else { return }
        if entry.userCount == 0 {
            startClosing(value)
            return await close(entry.container, of: value)
        }
        detach(value, entry)
        await waitForUsers(of: entry.container)
    }

    func evictAll() async {
        let present = entries
        for (value, entry) in present {
            if entry.userCount == 0 { startClosing(value) } else { detach(value, entry) }
        }
        // Those that are being closed already, too.
        for (value, entry) in present where entry.userCount == 0 { await close(entry.container, of: value) }
        for entry in present.values where entry.userCount > 0 { await waitForUsers(of: entry.container) }
    }

    /// Leaves a child to its present users; whoever asks from now on gets a new one.
    private func detach(_ value: Value, _ entry: Entry) {
        if entry.userCount > 0 { evicted[ObjectIdentifier(entry.container)] = (entry.userCount, []) }
        entries[value] = nil
        count -= 1
    }

    /// Nobody can ask any more.
    nonisolated func stop() { sweep.withLock { $0.take() }?.cancel() }

    // MARK: Closing

    /// Closes the children that were used least recently, as long as there are too many.
    private func closeLeastRecent() {
        while count > capacity, let idle = firstIdleTime() { startClosing(idle.value) }
    }

    /// Returns the time of the child that nobody has used for longest.
    private func firstIdleTime() -> IdleTime? {
        while firstIdle < idleTimes.count {
            if isPresent(idleTimes[firstIdle]) { return idleTimes[firstIdle] }
            firstIdle += 1
        }
        return nil
    }

    private func isPresent(_ time: IdleTime) -> Bool {
        guard let entry = entries[time.value] else { return false }
        return entry.idleNumber == time.number && !entry.isClosing
    }

    /// Removes the times that have ended when they are more than the children.
    private func forgetEndedTimes() {
        guard idleTimes.count > 2 * entries.count + 16 else { return }
        idleTimes = idleTimes[firstIdle...].filter(isPresent)
        firstIdle = 0
    }

    /// Closes a child that nobody uses, without waiting for it.
    private func startClosing(_ value: Value) {
        guard let entry = entries[value], !entry.isClosing else { return }
        entries[value]!.isClosing = true
        count -= 1
        inNobodysLoad { await $0.close(entry.container, of: value) }
    }

    /// Returns when a child that nobody uses is closed, or at once for a closer of that child, for which it waits.
    private func close(_ container: Container, of value: Value) async {
        await close(container)
        if entries[value]?.container === container { entries[value] = nil }
    }

    private func close(_ container: Container) async {
        do {
            try await container.close()
        } catch {
            if (error as? CloseError)?.code != .waitsForItself {
                parent.report(Messages.evictionFailed(of: key, error))
            }
        }
    }

    /// Does something in a task, whoever has released the child.
    private func inNobodysLoad(_ body: @escaping @Sendable (isolated ChildTable) async -> Void) {
        Container.inNobodysLoad { _ = Task { await body(self) } }
    }

    // MARK: Idle children

    /// Closes children that nobody uses for too long, until there are none that could become so.
    private func startSweep() {
        guard let idle, sweep.withLock({ $0 == nil }) else { return }
        let task = Container.inNobodysLoad {
            Task { [weak self] in
                while let next = await self?.closeIdle() {
                    // A clock that can't sleep lets the next release try again.
                    do {
                        try await idle.clock.sleep(until: next, tolerance: nil)
                    } catch {
                        await self?.endSweep()
                        return
                    }
                }
            }
        }
        sweep.withLock { $0 = task }
    }

    /// Returns when the next child will have been idle for too long.
    private func closeIdle() -> AnyClock.Instant? {
        guard let idle else { return nil }
        let now = idle.clock.now
        var next: AnyClock.Instant?
        while next == nil, let time = firstIdleTime() {
            let end = time.start!.advanced(by: idle.time)
            if end <= now { startClosing(time.value) } else { next = end }
        }
        // In the same turn, so that who releases a child now begins anew.
        if next == nil { endSweep() }
        return next
    }

    private func endSweep() { sweep.withLock { $0 = nil } }
}

extension ChildTable: CustomReflectable {
    /// A mirror without the values, which may be secrets.
    nonisolated var customMirror: Mirror { Mirror(self, children: [:]) }
}
