/// What was taken out under the lock, to be let go outside it: releasing runs `deinit`s, which are user code.
///
/// Most changes leave one box and what it was made from, or less, and that costs nothing here.
struct Garbage {
    private var first: UInt64 = 0
    private var object: AnyObject?
    private var more: More?

    private final class More {
        var boxes: [UInt64] = []
        var objects: [AnyObject] = []
        var places: [Place] = []

        deinit { for place in places { place.free() } }
    }

    init() {}

    init(status: UInt64, word: UInt64) {
        if status & CellFlags.boxed != 0 { first = word }
    }

    init(box: UInt64) { first = box }

    var isEmpty: Bool { first == 0 && object == nil && more == nil }

    private mutating func makeMore() -> More {
        if let more { return more }
        let made = More()
        more = made
        return made
    }

    mutating func add(_ other: consuming Garbage) {
        if other.first != 0 {
            if first == 0 { first = other.first } else { makeMore().boxes.append(other.first) }
        }
        add(other.object)
        guard let theirs = other.more else { return }
        guard let more else { return more = theirs }
        more.boxes += theirs.boxes
        more.objects += theirs.objects
        more.places += theirs.places
        theirs.places = []
    }

    mutating func add(_ place: Place?) {
        if let place { makeMore().places.append(place) }
    }

    mutating func add(_ object: consuming AnyObject?) {
        guard let added = object else { return }
        if self.object == nil { self.object = added } else { makeMore().objects.append(added) }
    }

    /// Releases the values, after the last reader has left what is in boxes.
    ///
    /// Outside every lock. Everything else goes with this value.
    func dispose() {
        if first != 0 {
            Stripes.awaitReaders()
            Self.release(first)
        }
        guard let more else { return }
        let boxes = more.boxes
        more.boxes = []
        if first == 0, !boxes.isEmpty { Stripes.awaitReaders() }
        for word in boxes { Self.release(word) }
    }

    private static func release(_ word: UInt64) {
        Unmanaged<AnyBox>.fromOpaque(UnsafeRawPointer(bitPattern: UInt(word))!).release()
    }
}
