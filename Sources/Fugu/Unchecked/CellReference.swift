import Synchronization

/// A cell, as the engine uses it: under the family's lock, by code that keeps its node.
@safe package struct CellReference: @unchecked Sendable, Equatable {
    let pointer: UnsafeMutablePointer<Cell>

    package static func == (left: Self, right: Self) -> Bool { unsafe left.pointer == right.pointer }

    init(_ pointer: UnsafeMutablePointer<Cell>) { unsafe self.pointer = unsafe pointer }

    package var key: Key { unsafe Key(raw: pointer.pointee.key) }
    var status: UInt64 { unsafe pointer.pointee.status.load(ordering: .relaxed) }
    package func has(_ flag: UInt64) -> Bool { status & flag != 0 }
    /// The flags that stay when a loaded value comes or goes.
    var heldFlags: UInt64 { status & (CellFlags.held | CellFlags.automatic) }

    /// The cell's own value, if it has one.
    package var payload: Payload? {
        let status = status
        guard status & CellFlags.hasWord != 0 else { return nil }
        return payload(status)
    }

    /// The value of a cell that has one, whose status was just read.
    func payload(_ status: UInt64) -> Payload {
        unsafe Payload(word: pointer.pointee.word.load(ordering: .relaxed), isBoxed: status & CellFlags.boxed != 0)
    }

    /// Stores a value, which readers see at once or, if `isOpen` is `false`, after `openIfPresent()`.
    ///
    /// Returns the value that was there.
    ///
    /// - `time`: A time that no other change has, or that of an equal value that readers here saw until now.
    func store(_ payload: Payload, flags: UInt64, at time: UInt64, isOpen: Bool = true) -> Garbage {
        let old = status
        let kept = old & CellFlags.noticed
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

    /// Whether the cell has no value, and nothing depends on it.
    var isEmpty: Bool { status & CellFlags.flags & ~CellFlags.link == 0 }

    /// Lets readers see a value that was stored closed, if there's one.
    func openIfPresent() {
        guard status & CellFlags.hasWord != 0 else { return }
        unsafe pointer.pointee.status.store(status | CellFlags.fast, ordering: .releasing)
    }

    /// Sends readers to the slow path.
    func close() { unsafe pointer.pointee.status.store(status & ~CellFlags.fast, ordering: .relaxed) }

    /// Removes the value, and sets `flags`.
    ///
    /// - `time`: A time that no other change has.
    func clear(flags: UInt64 = 0, at time: UInt64) -> Garbage {
        let old = status
        let next = CellFlags.at(time) | old & CellFlags.noticed | flags
        guard old & CellFlags.boxed != 0 else {
            unsafe pointer.pointee.status.store(next, ordering: .relaxed)
            return Garbage()
        }
        unsafe pointer.pointee.status.store(next, ordering: .relaxed)
        return unsafe Garbage(status: old, word: pointer.pointee.word.exchange(0, ordering: .sequentiallyConsistent))
    }

    package func mark(_ flags: UInt64, _ isOn: Bool = true) {
        unsafe pointer.pointee.status.store(isOn ? status | flags : status & ~flags, ordering: .releasing)
    }

    /// Links this cell, which has no value of its container's own, to an ancestor's cell for readers.
    ///
    /// - `now`: The time of the last change. It need not be unique, because links with the same time are equally valid.
    func link(to target: CellReference, at now: UInt64) {
        guard target.has(CellFlags.fast), status & (CellFlags.held | CellFlags.loaded) == 0 else { return }
        let bare = CellFlags.at(now) | status & CellFlags.noticed
        unsafe pointer.pointee.status.store(bare, ordering: .relaxed)
        unsafe pointer.pointee.word.store(UInt64(UInt(bitPattern: target.pointer)), ordering: .releasing)
        unsafe pointer.pointee.status.store(bare | CellFlags.link, ordering: .releasing)
    }

    /// Replaces the value and keeps its time, where nothing depends on it.
    @inline(__always)
    func exchange(_ payload: Payload) -> Garbage {
        guard let box = payload.box else {
            unsafe pointer.pointee.word.store(payload.bits, ordering: .releasing)
            return Garbage()
        }
        let word = unsafe UInt64(UInt(bitPattern: Unmanaged.passRetained(box).toOpaque()))
        return unsafe Garbage(box: pointer.pointee.word.exchange(word, ordering: .sequentiallyConsistent))
    }

    /// The time at which the value came or went.
    package var time: UInt64 { CellFlags.time(status) }

    /// The engine's record of the key here, besides its value.
    var place: Place? { unsafe pointer.pointee.place }

    func setPlace(_ place: Place) { unsafe pointer.pointee.place = place }

    /// Removes and returns the place, to be released outside the lock.
    func takePlace() -> Place? {
        defer { unsafe pointer.pointee.place = nil }
        return unsafe pointer.pointee.place
    }
}
