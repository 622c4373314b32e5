/// What was taken out of cells under the lock, to be let go outside it: releasing runs `deinit`s, which are user code.
///
/// Most changes leave one box and what it was made from, or less, and that costs nothing here.
struct Garbage {
    private var first: UInt64 = 0
    private var object: (any AnyObject & Sendable)?
    private var heap: Heap?

    private final class Heap {
        var boxes: [UInt64] = []
        var objects: [any AnyObject & Sendable] = []
        var states: [FamilyLocked<CellState>] = []
        var teardowns: [PendingTeardown] = []
        var abandoned: [Key?] = []

        deinit { for state in states { state.free() } }
    }

    init() {}

    init(status: UInt64, word: UInt64) {
        if status & CellFlags.boxed != 0 { first = word }
    }

    init(box: UInt64) { first = box }

    private mutating func more() -> Heap {
        if let heap { return heap }
        let made = Heap()
        heap = made
        return made
    }

    var isEmpty: Bool { first == 0 && object == nil && heap == nil }

    /// The keys of those whose closers never ran; nil for the container itself.
    var abandoned: [Key?] { heap?.abandoned ?? [] }

    mutating func addAbandoned(_ key: Key?) { more().abandoned.append(key) }

    mutating func add(_ other: consuming Garbage) {
        if other.first != 0 {
            if first == 0 { first = other.first } else { more().boxes.append(other.first) }
        }
        add(other.object)
        guard let theirs = other.heap else { return }
        guard let heap else { return heap = theirs }
        heap.boxes += theirs.boxes
        heap.objects += theirs.objects
        heap.states += theirs.states
        theirs.states = []
        heap.teardowns += theirs.teardowns
        heap.abandoned += theirs.abandoned
    }

    mutating func add(_ lifetime: InstanceLifetime?, isForNobody: Bool) {
        if let lifetime { more().teardowns.append(PendingTeardown(lifetime, isForNobody: isForNobody)) }
    }

    mutating func add(_ state: FamilyLocked<CellState>?) {
        if let state { more().states.append(state) }
    }

    mutating func add(_ object: consuming (any AnyObject & Sendable)?) {
        guard let added = object else { return }
        if self.object == nil { self.object = added } else { more().objects.append(added) }
    }

    /// Releases everything, after the last reader has left what is in boxes.
    ///
    /// Outside every lock.
    func dispose() {
        if first != 0 {
            Stripes.awaitReaders()
            Self.release(first)
        }
        guard let heap else { return }
        for word in heap.boxes { Self.release(word) }
        for teardown in heap.teardowns { teardown.end() }
    }

    private static func release(_ word: UInt64) {
        Unmanaged<AnyBox>.fromOpaque(UnsafeRawPointer(bitPattern: UInt(word))!).release()
    }
}
