public import Synchronization

/// Holds properties and features by their keys, loads them when they are first read, and tells who observes them.
///
/// Use it from any thread. Two containers made by `Container()` share nothing. A container that goes away releases all it
/// held, even what its features captured.
@dynamicMemberLookup
public final class Container: FeatureContainer {
    /// The address of the storage that is read first.
    @usableFromInline let storageAddress: Atomic<UInt>
    let backing: any Backing
    /// The backing, if this is the container itself, with whom it ends.
    private let own: Unowned<Node>?
    /// Children keep their parents.
    private let parent: ChainReference<Container>?

    /// The container of the process, for what has no better one.
    public static let shared = TestProcess.makeShared()

    /// The container that code without one uses: ``shared`` unless bound by `with`; inside a load, the load's
    /// own handle, so that what is read from it counts as an input.
    @TaskLocal public static var current: Container = .shared

    /// Makes a container in which nothing is set.
    public init() {
        let node = Node()
        storageAddress = Atomic(node.storage.address)
        own = Unowned(node)
        backing = node
        parent = nil
    }

    /// A child of `parent`.
    init(_ node: Node, childOf parent: Container) {
        storageAddress = Atomic(node.storage.address)
        own = Unowned(node)
        backing = node
        self.parent = ChainReference(parent)
    }

    /// What reads and writes through a view of some container.
    init(view: any Backing) {
        backing = view
        own = nil
        parent = nil
        storageAddress = Atomic(StorageReference.empty.address)
    }

    /// The root of the family, as far as containers keep one another.
    var root: Container {
        var root = backing.owner ?? self
        while let parent = root.parent { root = parent.object }
        return root
    }

    deinit {
        own?.use { $0.end() }
        parent?.release { $0.parent }
    }

    /// Stands for a container that has gone away.
    static let ended = Container()

    /// Where a present value is found without further ado. Not for use outside this library.
    public var _storage: StorageReference {
        @inlinable @inline(__always) get { StorageReference(address: storageAddress.load(ordering: .acquiring)) }
    }

    /// The container itself. Not for use outside this library.
    public var _container: Container { self }

    /// From now on the view answers as `node` does, as fast.
    func answers(from node: Node) {
        // A debug build looks at each read whether the caller has overridden what is read.
        #if !DEBUG
        storageAddress.store(node.storage.address, ordering: .releasing)
        #endif
    }

    /// Whether this is the container with that storage, or stands below it. Looked up at each access of an ``Injected``, so
    /// nothing is counted on the way.
    func isWithin(_ storage: StorageReference) -> Bool {
        if _storage.address == storage.address { return true }
        var isView = own == nil
        var next = parent?.uncounted
        while let container = next {
            if container.use({ $0._storage.address }) == storage.address { return true }
            isView = container.use { $0.own == nil }
            next = container.use { $0.parent?.uncounted }
        }
        // A view has no parent, but stands for a node that has.
        return isView && backing.node.path.contains { $0.storage.address == storage.address }
    }

    /// Makes a child: it sees everything of this container, and what is set in it stays in it.
    public func child() -> Container { backing.makeChild(of: self) }

    /// Makes a child and configures it.
    public func child<E>(_ configure: (Container) throws(E) -> Void) throws(E) -> Container {
        let child = child()
        try configure(child)
        return child
    }
}
