public import Synchronization

/// A container of properties and features, which loads them at their first read and notifies observers of changes.
///
/// Read and set values and instances by their type or by their member of ``ContainerKeys``:
///
/// ```swift
/// let container = Container()
/// container.timeout = 5
/// container[Greeter.self].greet()
/// ```
///
/// You can use a container from any thread. Two containers that you create with `Container()` share nothing; a child
/// (see ``child(fileID:line:)``) sees its parent. A container that is released releases everything that it held, including what its
/// features captured.
///
/// Code that receives no container reads from ``current``.
@dynamicMemberLookup
public final class Container: FeatureContainer {
    /// The address of the storage that inlined reads try first.
    @usableFromInline let storageAddress: Atomic<UInt>
    /// The role of this view of a node.
    let role: Role
    /// The node that is asked; the container's own if it isn't a view.
    let asked: Node
    /// A child keeps its parent alive.
    private let parent: ChainReference<Container>?

    /// The container of the process.
    ///
    /// Set up what differs from the defaults at the start of a program:
    ///
    ///     Container.shared.timeout = 5
    ///     Container.shared.handleReports { logger.warning("\($0)") }
    ///
    /// In a process that links FuguTesting, this container is strict from the start, and a test that has a container of its own fails
    /// if it reads, changes, or observes anything here.
    public static let shared = TestProcess.makeShared()

    /// The container for code that doesn't receive one.
    ///
    /// It's ``shared`` unless `with` or a test binds another one. Inside a load, it's the handle of the load, so that what
    /// you read from it counts as an input; inside `with` or `withChild` there, it's what these bind, whose reads don't.
    ///
    /// Tasks inherit it; during a load that doesn't suspend, they get the container that asked. Escaping closures on other threads and detached tasks don't. Take the container along:
    ///
    ///     let container = Container.current
    ///     Task.detached { await Container.with(container) { await refresh() } }
    public static var current: Container {
        guard let bound = Context.bound, let container = bound.container else {
            Fallback.check()
            return .shared
        }
        return bound.work == nil || !bound.isBesideLoad ? container : container.owner ?? container
    }

    /// Creates a container in which nothing is set.
    ///
    /// In a process that links FuguTesting, it's strict if ``current`` is.
    ///
    /// - Parameters:
    ///   - fileID: The file of the call, for messages.
    ///   - line: The line of the call, for messages.
    public convenience init(fileID: StaticString = #fileID, line: UInt = #line) {
        self.init(listener: TestProcess.listenerForRoot)
        wasMade(.root, fileID, line)
        TestProcess.prepareRoot(self)
    }

    /// Creates a container, configured by a closure.
    ///
    /// - Parameters:
    ///   - configure: A closure that sets what differs from the defaults.
    ///   - fileID: The file of the call, for messages.
    ///   - line: The line of the call, for messages.
    /// - Throws: What `configure` throws.
    public convenience init<E>(
        _ configure: (Container) throws(E) -> Void, fileID: StaticString = #fileID, line: UInt = #line
    ) throws(E) {
        self.init(fileID: fileID, line: line)
        try self.configure(configure)
    }

    /// Creates a root that isn't strict, in tests either.
    ///
    /// - `listener`: What learns of its uses.
    init(listener: (any UseListener)?) {
        asked = Node()
        storageAddress = Atomic(asked.storage.address)
        role = .owner
        parent = nil
        if let listener { listen(by: listener) }
    }

    /// Creates a root as a program has one.
    package convenience init(ofProgram: Void) { self.init(listener: nil) }

    /// Creates a child.
    ///
    /// - Parameters:
    ///   - parent: The container that the child keeps.
    ///   - node: The parent's node.
    ///   - made: How the child is made, for reports.
    private init(childOf parent: Container, _ node: Node, _ made: Making) {
        asked = Node(parent: node, made)
        storageAddress = Atomic(asked.storage.address)
        role = .owner
        self.parent = ChainReference(parent)
    }

    /// Creates a view, which answers by the slow way.
    init(_ role: Role, asking node: Node) {
        self.role = role
        asked = node
        parent = nil
        storageAddress = Atomic(StorageReference.empty.address)
    }

    /// Creates the handle of a load.
    convenience init(handle load: Load) { self.init(.handle(load), asking: load.node) }
    /// Creates a view that tracks reads.
    convenience init(tracking container: Container, by tracker: Tracker) {
        self.init(.tracked(tracker, container), asking: container.asked)
    }
    /// Creates a view for what outlives the container.
    convenience init(viewing node: Node) { self.init(.view, asking: node) }

    /// The container of a node at or above this one's, which this container keeps alive.
    func ancestor(_ node: Node) -> Container {
        var container = owner ?? self
        while container.asked !== node, let parent = container.parent { container = parent.object }
        return container
    }

    deinit {
        if case .owner = role { asked.end(isReleased: true) }
        parent?.release { $0.parent }
    }

    /// Whether this doesn't own its node.
    var isView: Bool { if case .owner = role { false } else { true } }

    /// A placeholder for a released container.
    static let ended = Container(listener: nil)

    /// The storage that inlined reads use.
    ///
    /// Don't access it directly.
    public var _storage: StorageReference {
        @inlinable @inline(__always) get { StorageReference(address: storageAddress.load(ordering: .acquiring)) }
    }

    /// The container itself.
    ///
    /// Don't access it directly.
    public var _container: Container { self }

    /// Makes the view read from `node` from now on.
    func answers(from node: Node) { storageAddress.store(node.storage.address, ordering: .releasing) }
    /// Makes each read take the slow path, where it's noted.
    func answersSlowly() { storageAddress.store(StorageReference.empty.address, ordering: .releasing) }

    /// Returns a new child, which sees everything in this container.
    ///
    /// What you set in the child stays there.
    ///
    /// - Parameters:
    ///   - fileID: The file of the call, for messages.
    ///   - line: The line of the call, for messages.
    /// - Returns: The child. It keeps this container alive.
    public func child(fileID: StaticString = #fileID, line: UInt = #line) -> Container {
        child(made: .child, fileID, line)
    }

    /// Returns a new child that was made in some way.
    package func child(made way: ContainerOrigin, _ fileID: StaticString, _ line: UInt) -> Container {
        note(.child)
        let made = (way, SourcePlace(fileID, line))
        if case .owner = role { return Container(childOf: self, asked, made) }
        return Container(childOf: owner ?? self, node, made)
    }

    /// Returns a new child, configured by a closure.
    ///
    /// - Parameters:
    ///   - configure: A closure that sets the child's overrides.
    ///   - fileID: The file of the call, for messages.
    ///   - line: The line of the call, for messages.
    /// - Returns: The child. It keeps this container alive.
    /// - Throws: What `configure` throws.
    public func child<E>(
        _ configure: (Container) throws(E) -> Void, fileID: StaticString = #fileID, line: UInt = #line
    ) throws(E) -> Container {
        let child = child(fileID: fileID, line: line)
        try child.configure(configure)
        return child
    }
}

extension Container {
    /// Whether the container is closed.
    package var isClosed: Bool { node.isClosed }

    /// Runs the teardown closures of this container and its descendants, and releases their features, loaded or set.
    ///
    /// Loads that are already in progress, and the loads that they need, finish first. Then everything registered with
    /// ``FeatureContainer/onClose(_:)`` runs: closures of children first, and then those of dependents before those of their
    /// dependencies. A second call waits for the first one, and runs what was registered with the container after it. Canceling the
    /// caller doesn't cancel the closing.
    ///
    /// After the call, reads of throwing and async features that aren't loaded throw ``LoadError``. Properties and
    /// plain features can still be read: a plain feature that isn't there is loaded and reported (see ``handleReports(by:)``), and
    /// its teardown closures never run.
    ///
    /// The call also waits for the closures of instances that were replaced, reset, or reloaded earlier. Their errors are
    /// reported, not thrown.
    ///
    /// - Parameter deadline: The time that the call may take, or `nil` to wait for everything. At its end, what runs in these
    ///   containers is canceled and abandoned, for all calls that wait for it, and named in the error of the call that runs it; a
    ///   closure of an instance that left earlier, in a report. A closure that's due later begins canceled, and is abandoned where it
    ///   first suspends. A load that's still in progress here is named and, if it's async, canceled: its readers in these containers
    ///   get the error of a closed container, and others load their own instance.
    /// - Throws: ``CloseError`` with all failures, after everything has run; one with the code
    ///   ``CloseError/Code/waitsForItself`` immediately, if a teardown closure or a load of this container or a descendant
    ///   makes the call. Nothing is closed then.
    /// - Complexity: O(*n*) for *n* containers, instances, and teardown closures, and O(*n* log *n*) if there are such
    ///   closures. The method doesn't suspend if there's nothing to wait for and nothing to run.
    public func close(deadline: Duration? = nil) async throws { try await close(deadline) }
}

extension FeatureContainer {
    /// Returns the instance of a feature that was loaded or set before, without loading anything.
    ///
    /// Use it to create a plain feature from one that takes long to open, such as a pool of connections: load that one
    /// with ``Container/warmUp(progress:_:)`` when the program starts, and read it here without waiting. In a load, the
    /// read is recorded like any other.
    ///
    ///     static func load(in container: any FeatureContainer) -> Users { Users(pool: container.loaded(Pool.self)) }
    ///
    /// If there is no instance for this container, the program stops with a message that has the path to the feature. If that can
    /// happen, use ``Container/ifLoaded(_:)-(K.Type)``.
    /// - Parameter feature: The type of the feature.
    /// - Returns: The instance that a read would give without waiting.
    /// - Complexity: O(1) if the instance is inherited or was read here before; otherwise, O(*d*) for *d* ancestors.
    @_alwaysEmitIntoClient
    public func loaded<F: FailableFeature>(_ feature: F.Type) -> F.ContainerValue {
        let raw = F._key.raw
        let present = _storage.read(raw, as: F.ContainerValue.self)
        extendLifetime(self)
        return present ?? _container.presentOrStop(Key(raw: raw)).value(as: F.ContainerValue.self)
    }
}

extension Container {
    @usableFromInline func presentOrStop(_ key: Key) -> Payload {
        if let present = present(key, nil) ?? presentInDoubt(key) { return present }
        let asker = recorder?.work ?? Work.current
        let node = recorder == nil ? node : asked
        let input = node.family.lock.withLock { token in node.override(token, hiding: key) }
        stopProgram(Messages.notLoaded((asker?.way ?? []) + [key], because: input))
    }

    /// Stops the program, because nothing gives a value for the required property whose default runs.
    static func stopWithoutRequired(_ fix: String) -> Never {
        let load = Work.current
        let fixed = load?.chain.first { $0.load?.home.isFixed == true }?.key
        stopProgram(Messages.requiredIsMissing(load?.key, load?.way ?? [], in: fixed, fix))
    }
}

extension Container {
    /// Sets the handler for problems that can't be thrown, in the whole family of this container.
    ///
    /// Such problems are, for example, a value from a file that doesn't have the type that a read expects, or a reload that
    /// failed in the background. Without a handler, reports go to standard error.
    ///
    ///     container.handleReports { logger.warning("\($0)") }
    ///
    /// - Parameter handler: A closure that receives the text of each report, which has no secrets in it. It's called on the
    ///   thread that met the problem, outside every lock, and replaces the previous handler. Pass `nil` for standard error.
    public func handleReports(by handler: (@Sendable (_ report: String) -> Void)?) {
        note(.changed)
        node.family.reports.handle(by: handler)
    }

    /// Reports a problem that can't be thrown.
    package func report(_ text: String) { node.family.reports.report(text) }
}
