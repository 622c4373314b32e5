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
/// (see ``child(_:)``) sees its parent. A container that is released releases everything that it held, including what its
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
    /// you read from it counts as an input.
    ///
    /// Tasks inherit it; escaping closures on other threads and detached tasks don't. Take the container along:
    ///
    ///     let container = Container.current
    ///     Task.detached { await Container.with(container) { await refresh() } }
    public static var current: Container { Context.bound?.container ?? .shared }

    /// Creates a container in which nothing is set.
    ///
    /// In a process that links FuguTesting, it's strict if ``current`` is.
    public convenience init() {
        self.init(bare: ())
        TestProcess.prepareRoot(self)
    }

    /// Creates a container, configured by a closure.
    ///
    /// - Parameter configure: A closure that sets what differs from the defaults.
    /// - Throws: What `configure` throws.
    public convenience init<E>(_ configure: (Container) throws(E) -> Void) throws(E) {
        self.init()
        try self.configure(configure)
    }

    /// Creates a root that isn't strict, in tests either.
    init(bare: Void) {
        asked = Node()
        storageAddress = Atomic(asked.storage.address)
        role = .owner
        parent = nil
    }

    /// Creates a child.
    ///
    /// - Parameters:
    ///   - parent: The container that the child keeps.
    ///   - node: The parent's node.
    ///   - recorder: The load whose handle makes the child.
    private init(childOf parent: Container, _ node: Node, _ recorder: Frame?) {
        asked = Node(parent: node, recorder: recorder)
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
    convenience init(handle load: Frame) { self.init(.handle(load), asking: load.node!) }
    /// Creates a view that tracks reads.
    convenience init(tracking container: Container, by tracker: Tracker) {
        self.init(.tracked(tracker, container), asking: container.asked)
    }
    /// Creates a view of a container that an ``Injected`` reads while one beside it is bound.
    convenience init(reading container: Container, beside current: Container) {
        self.init(.beside(current, container), asking: container.asked)
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
    static let ended = Container(bare: ())

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

    /// Whether every access takes the slow path, where a test process or a debug build checks it.
    @inline(__always) var isWatched: Bool { TestProcess.checksLoads && takesSlowPath }

    @inline(never) private var takesSlowPath: Bool {
        if case .owner = role { _storage.address != asked.storage.address } else { false }
    }

    /// Makes the view read directly from the storage of `node` from now on.
    func answers(from node: Node) {
        // A debug build keeps the slow way, which checks at each read whether the caller overrides the key.
        #if !DEBUG
        storageAddress.store(node.storage.address, ordering: .releasing)
        #endif
    }

    /// Returns a Boolean value that indicates whether this container has that storage or is a descendant of the one
    /// that does.
    ///
    /// Every access of an ``Injected`` calls this, so it doesn't touch any reference count.
    func isWithin(_ storage: StorageReference) -> Bool {
        if _storage.address == storage.address { return true }
        var isView = isView || isWatched
        var next = parent?.uncounted
        while let container = next {
            if container.use({ $0._storage.address }) == storage.address { return true }
            isView = container.use { $0.isView || $0.isWatched }
            next = container.use { $0.parent?.uncounted }
        }
        // A view has no parent, but the node behind it may have one.
        return isView && node.path.contains { $0.storage.address == storage.address }
    }

    /// Returns a new child, which sees everything in this container.
    ///
    /// What you set in the child stays there.
    ///
    /// - Returns: The child. It keeps this container alive.
    public func child() -> Container {
        let child = makeChild()
        tell(.child(child))
        return child
    }

    /// Returns a new child without telling anybody.
    func makeChild() -> Container {
        if case .owner = role { return Container(childOf: self, asked, nil) }
        return Container(childOf: owner ?? self, node, recorder)
    }

    /// Returns a new child, configured by a closure.
    ///
    /// - Parameter configure: A closure that sets the child's overrides.
    /// - Returns: The child. It keeps this container alive.
    /// - Throws: What `configure` throws.
    public func child<E>(_ configure: (Container) throws(E) -> Void) throws(E) -> Container {
        let child = child()
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
    /// dependencies. A second call waits for the first one, whose deadline counts, and closes what was loaded or registered after it.
    /// Canceling the caller doesn't cancel the closing.
    ///
    /// After the call, reads of throwing and async features that aren't loaded throw ``LoadError``. Properties and
    /// plain features can still be read: a plain feature that isn't there is loaded and reported (see ``handleReports(by:)``), and
    /// its teardown closures run at the next call.
    ///
    /// The call also waits for the closures of instances that were replaced, reset, or reloaded earlier. Their errors are
    /// reported, not thrown.
    ///
    /// - Parameter deadline: The time that each closure may take, and that the loads in progress may take, or `nil` to wait for all
    ///   of them. A closure that takes longer is canceled, abandoned, and named in the error. A load that takes longer is named,
    ///   too; it goes on, but its instance isn't kept. For a closure of an instance that left earlier, the time begins when it runs
    ///   and the call waits for it.
    /// - Throws: ``CloseError`` with all failures, after everything has run; one with the code
    ///   ``CloseError/Code/waitsForItself`` immediately, if a teardown closure or a load of this container or a descendant
    ///   makes the call.
    /// - Complexity: O(*n*) for *n* containers, instances, and teardown closures, and O(*n* log *n*) if there are such
    ///   closures. The method doesn't suspend if there's nothing to wait for and nothing to run.
    public func close(deadline: Duration? = nil) async throws {
        let failures = try await runClose(deadline)
        guard failures.isEmpty else { throw CloseError(failures: failures) }
    }
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
        if let present = present(key, nil) { return present }
        let asker = recorder ?? Frame.current
        let node = recorder == nil ? node : asked
        let input = node.family.lock.withLock { token in node.override(token, hiding: key) }
        stopProgram(Messages.notLoaded((asker?.way ?? []) + [key], because: input))
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
        tell(.changed)
        node.family.reports.handle(by: handler)
    }

    /// Reports a problem that can't be thrown.
    package func report(_ text: String) { node.family.reports.report(text) }
}

/// A type whose objects read their configuration from their own container.
///
///     final class MapView: Configurable {
///         var configuration = Container(copying: .shared) { didSet { redraw() } }
///     }
///     map.with(configuration: Container(copying: .shared, local))
public protocol Configurable: AnyObject {
    /// The container from which the object reads its configuration.
    var configuration: Container { get set }
}

extension Configurable {
    /// Assigns the configuration to itself, so that `didSet` runs.
    public func reloadConfiguration() {
        let configuration = configuration
        self.configuration = configuration
    }

    /// Assigns the configuration and returns the object.
    ///
    /// - Parameter configuration: The container.
    /// - Returns: The object itself.
    @discardableResult
    public func with(configuration: Container) -> Self {
        self.configuration = configuration
        return self
    }
}
