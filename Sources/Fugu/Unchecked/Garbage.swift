/// References that were removed under the lock, to be released outside it, because releasing runs `deinit`s, which are user
/// code.
///
/// Most changes leave at most one box and one object, which need no allocation here. Only `add` and `dispose` count
/// references: without a call of `dispose`, they leak.
@safe package struct Garbage {
    private var box: UInt64 = 0
    private var object: Unmanaged<AnyObject>?
    /// The first of the places, which form a linked list.
    private var places: Place?
    private var more: Unmanaged<More>?

    private final class More {
        var boxes: [UInt64] = []
        var objects: [AnyObject] = []
    }

    package init() {}

    init(status: UInt64, word: UInt64) {
        if status & CellFlags.boxed != 0 { box = word }
    }

    init(box: UInt64) { self.box = box }

    @inline(never) private mutating func addMore(_ body: (More) -> Void) {
        let rest = unsafe more ?? .passRetained(More())
        unsafe more = rest
        unsafe rest._withUnsafeGuaranteedRef(body)
    }

    /// Takes the references of another value.
    mutating func add(_ other: Garbage) {
        if other.box != 0 {
            if box == 0 { box = other.box } else { addMore { $0.boxes.append(other.box) } }
        }
        if let object = unsafe other.object { unsafe add(object.takeRetainedValue()) }
        var place = other.places
        while let next = place {
            place = next.unshared.nextInGarbage
            add(next)
        }
        guard let theirs = unsafe other.more?.takeRetainedValue() else { return }
        addMore { more in
            more.boxes += theirs.boxes
            more.objects += theirs.objects
        }
    }

    /// Adds a place that can't be reached anymore.
    mutating func add(_ place: Place) {
        place.unshared.nextInGarbage = places
        places = place
    }

    mutating func add(_ object: AnyObject?) {
        guard let object else { return }
        if unsafe self.object == nil {
            unsafe self.object = unsafe .passRetained(object)
        } else {
            addMore { $0.objects.append(object) }
        }
    }

    /// Releases everything, and the values in boxes after their last reader has left.
    ///
    /// Call it once, outside every lock.
    package func dispose() {
        if box != 0 {
            Stripes.awaitReaders()
            Self.release(box)
        }
        unsafe object?.release()
        var place = places
        while let next = place {
            place = next.unshared.nextInGarbage
            next.free()
        }
        guard let more = unsafe more?.takeRetainedValue() else { return }
        let boxes = more.boxes
        more.boxes = []
        if box == 0, !boxes.isEmpty { Stripes.awaitReaders() }
        for word in boxes { Self.release(word) }
    }

    private static func release(_ word: UInt64) {
        unsafe Unmanaged<AnyBox>.fromOpaque(UnsafeRawPointer(bitPattern: UInt(word))!).release()
    }
}
