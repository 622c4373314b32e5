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

    /// Whether this stands for a container that may go away or be closed meanwhile: what cannot be loaded then is not
    /// asked for by anyone.
    var isStandIn: Bool { own == nil && backing is Node }

    /// Stands for the container of `node`, wherever that is.
    init(standingFor node: Node) {
        backing = node
        own = nil
        parent = nil
        storageAddress = Atomic(node.storage.address)
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
    func answers(from node: Node) { storageAddress.store(node.storage.address, ordering: .releasing) }

    /// Makes a child: it sees everything of this container, and what is set in it stays in it.
    public func child() -> Container { backing.makeChild(of: self) }

    /// Makes a child and configures it.
    public func child<E>(_ configure: (Container) throws(E) -> Void) throws(E) -> Container {
        let child = child()
        try configure(child)
        return child
    }

    /// Runs `operation` with a configured child of ``current`` as ``current``.
    public static func with<R, E>(
        _ configure: (Container) throws(E) -> Void, _ operation: () throws(E) -> R
    ) throws(E) -> R {
        let child = try current.child(configure)
        var result: Result<R, E>?
        $current.withValue(child) {
            do throws(E) { result = .success(try operation()) } catch { result = .failure(error) }
        }
        return try result!.get()
    }

    /// Runs `operation` with a configured child of ``current`` as ``current``.
    public static func with<R, E>(
        _ configure: (Container) throws(E) -> Void, _ operation: () async throws(E) -> R
    ) async throws(E) -> R {
        let child = try current.child(configure)
        var result: Result<R, E>?
        await $current.withValue(child) {
            do throws(E) { result = .success(try await operation()) } catch { result = .failure(error) }
        }
        return try result!.get()
    }
}
