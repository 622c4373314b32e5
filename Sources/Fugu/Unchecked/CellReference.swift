import Synchronization

/// A cell, as the engine uses it: under the lock of its family, by whoever keeps its node alive.
@safe struct CellReference: @unchecked Sendable, Equatable {
    let pointer: UnsafeMutablePointer<Cell>

    static func == (left: Self, right: Self) -> Bool { unsafe left.pointer == right.pointer }

    init(_ pointer: UnsafeMutablePointer<Cell>) { unsafe self.pointer = unsafe pointer }

    var key: Key { unsafe Key(raw: pointer.pointee.key) }
    var status: UInt64 { unsafe pointer.pointee.status.load(ordering: .relaxed) }
    func has(_ flag: UInt64) -> Bool { status & flag != 0 }
    /// The flags that stay when a loaded value comes or goes.
    var heldFlags: UInt64 { status & (CellFlags.held | CellFlags.layered) }

    /// The cell's own value, if it has one.
    var payload: Payload? {
        let status = status
        guard status & CellFlags.hasWord != 0 else { return nil }
        return payload(status)
    }

    /// The value of a cell that has one, whose status was just read.
    func payload(_ status: UInt64) -> Payload {
        unsafe Payload(word: pointer.pointee.word.load(ordering: .relaxed), isBoxed: status & CellFlags.boxed != 0)
    }

    /// Puts a value in and lets readers see it at once, or only after `open()`.
    ///
    /// Returns the value that was there.
    ///
    /// `time`: A time that no other change has.
    func store(_ payload: Payload, flags: UInt64, at time: UInt64, isOpen: Bool = true) -> Garbage {
        let old = status
        let kept = old & CellFlags.kept
        let boxed = payload.box == nil ? 0 : CellFlags.boxed
        let next = CellFlags.at(time) | kept | flags | boxed | CellFlags.hasWord
        guard (old | boxed) & CellFlags.boxed != 0 else {
            unsafe pointer.pointee.status.store(next & ~CellFlags.fast, ordering: .relaxed)
            unsafe pointer.pointee.word.store(payload.bits, ordering: .releasing)
            if isOpen { unsafe pointer.pointee.status.store(next | CellFlags.fast, ordering: .releasing) }
            return Garbage()
        }
        unsafe pointer.pointee.status.store(next & ~CellFlags.fast, ordering: .relaxed)
        let word = payload.box.map { unsafe UInt64(UInt(bitPattern: Unmanaged.passRetained($0).toOpaque())) }
        let oldWord = unsafe pointer.pointee.word.exchange(word ?? payload.bits, ordering: .sequentiallyConsistent)
        if isOpen { unsafe pointer.pointee.status.store(next | CellFlags.fast, ordering: .releasing) }
        return Garbage(status: old, word: oldWord)
    }

    /// Whether there is nothing here, nor anyone concerned with it.
    var isEmpty: Bool { status & CellFlags.flags & ~CellFlags.link == 0 }

    /// Lets readers see the value that was stored closed, if there is one.
    func openIfPresent() {
        guard status & CellFlags.hasWord != 0 else { return }
        unsafe pointer.pointee.status.store(status | CellFlags.fast, ordering: .releasing)
    }

    /// Sends readers to the slow way.
    func close() { unsafe pointer.pointee.status.store(status & ~CellFlags.fast, ordering: .relaxed) }

    /// Takes the value away, leaving `flags`.
    ///
    /// `time`: A time that no other change has.
    func clear(flags: UInt64 = 0, at time: UInt64) -> Garbage {
        let old = status
        let next = CellFlags.at(time) | old & CellFlags.kept | flags
        guard old & CellFlags.boxed != 0 else {
            unsafe pointer.pointee.status.store(next, ordering: .relaxed)
            return Garbage()
        }
        unsafe pointer.pointee.status.store(next, ordering: .relaxed)
        return unsafe Garbage(status: old, word: pointer.pointee.word.exchange(0, ordering: .sequentiallyConsistent))
    }

    func mark(_ flags: UInt64, _ isOn: Bool = true) {
        unsafe pointer.pointee.status.store(isOn ? status | flags : status & ~flags, ordering: .releasing)
    }

    /// Lets readers of this container, which has no own value here, read an ancestor's cell.
    ///
    /// `now`: The time of the last change. Two links of one time are right alike, so it need not be their own.
    func link(to target: CellReference, at now: UInt64) {
        guard target.has(CellFlags.fast), status & (CellFlags.held | CellFlags.loaded) == 0 else { return }
        let bare = CellFlags.at(now) | status & CellFlags.kept
        unsafe pointer.pointee.status.store(bare, ordering: .relaxed)
        unsafe pointer.pointee.word.store(UInt64(UInt(bitPattern: target.pointer)), ordering: .releasing)
        unsafe pointer.pointee.status.store(bare | CellFlags.link, ordering: .releasing)
    }

    /// Puts an equal value in the place of the present one, which keeps its time: for readers who saw it, nothing changes.
    func exchange(_ payload: Payload) -> Garbage {
        guard let box = payload.box else {
            unsafe pointer.pointee.word.store(payload.bits, ordering: .releasing)
            return Garbage()
        }
        let word = unsafe UInt64(UInt(bitPattern: Unmanaged.passRetained(box).toOpaque()))
        return unsafe Garbage(box: pointer.pointee.word.exchange(word, ordering: .sequentiallyConsistent))
    }

    /// When the value came or went.
    var time: UInt64 { CellFlags.time(status) }

    /// The engine's record of the key here, beside its value.
    var place: Place? { unsafe pointer.pointee.place }

    func setPlace(_ place: Place) { unsafe pointer.pointee.place = place }

    /// Takes the place away, to be released outside the lock.
    func takePlace() -> Place? {
        defer { unsafe pointer.pointee.place = nil }
        return unsafe pointer.pointee.place
    }
}
