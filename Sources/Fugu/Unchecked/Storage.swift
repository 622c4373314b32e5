// The room with all unchecked code. What makes it right:
//
// 1. Memory. A `Header`, its tables and its cells are freed by `StorageReference.free()`, which the owning node calls in
//    its `deinit`, when nobody can hold the node any more. A cell never moves and keeps its key; a table that became too
//    small is kept until then. So a pointer found by a reader who holds the node (or a descendant, which holds it) is good.
// 2. Who writes. Everything here is written under the lock of the family; `table`, `state`, `word` and the epochs are
//    atomic because readers look at them without it. Fields marked "guarded" are touched under the lock only.
// 3. Reading a word (seqlock). A reader takes `state`, then `word`, then `state` again. A writer that takes a value away
//    changes `state` first and `word` second, so an unchanged `state` proves that the word belongs to it. A writer that
//    only puts a new value in the place of an old one changes `word` alone: both words are right for that state. Release
//    and acquire are enough: who sees the new word sees the new state when it looks again. Epochs are raised before what
//    they announce can be seen, so that who has seen it uses no older link.
// 4. Reading a box. Between `claim` and `release` of a stripe a reader may follow the word to a `Box` without counting a
//    reference. A writer swaps the word, and before it lets the old box go it sees every stripe free once
//    (`Stripes.awaitReaders`): who claims later finds the new word, since claim, swap, look and load are sequentially
//    consistent. Copying the value out of the box counts its references; no user code runs under a stripe. The copy
//    must be complete before the release: see `Header.releaseStripe`.
// 5. Types. A key's raw word is made from its type (or from an init of a value key), and every value stored under it was
//    wrapped as that key's value type, so `Payload.value(as:)` takes out what was put in.
// 6. References that count nothing (`UnmanagedReference`). Each says who keeps the object: the asker of a load keeps
//    its ancestors, whoever reads keeps the container that it asks, whoever runs a load keeps the load and its
//    container, and a container keeps its node. Nodes leave all lists and sets before they go.
//
// What 3 and 4 say of memory orders is checked by the models in Tests/Tools/Models, which name every order here: none is
// stronger than it must be, and none may be weaker.
public import Synchronization

/// A container's storage, as readers use it.
///
/// Whoever uses it keeps the container alive meanwhile.
@_documentation(visibility: internal)
@safe @frozen public struct StorageReference: @unchecked Sendable {
    @usableFromInline let header: UnsafeMutablePointer<Header>

    @inlinable @inline(__always)
    init(header: UnsafeMutablePointer<Header>) { unsafe self.header = unsafe header }

    @inlinable @inline(__always)
    init(address: UInt) { unsafe header = unsafe UnsafeMutablePointer(bitPattern: address).unsafelyUnwrapped }

    var address: UInt { unsafe UInt(bitPattern: header) }

    @inlinable @inline(__always)
    func find(_ key: UInt) -> UnsafeMutablePointer<Cell>? {
        let table = unsafe header.pointee.table.load(ordering: .acquiring)
        let fixed = unsafe UnsafePointer<Table>(bitPattern: table).unsafelyUnwrapped.pointee
        let slots = unsafe UnsafeMutablePointer<Atomic<UInt>>(bitPattern: table &+ UInt(MemoryLayout<Table>.size))
            .unsafelyUnwrapped
        var index = (key &* Table.spread) >> fixed.shift
        while true {
            let address = unsafe slots[Int(bitPattern: index)].load(ordering: .acquiring)
            guard let cell = unsafe UnsafeMutablePointer<Cell>(bitPattern: address) else { return nil }
            if unsafe cell.pointee.key == key { return unsafe cell }
            index = (index &+ 1) & fixed.mask
        }
    }

    /// The present value of a key, if it can be had without the lock.
    @inlinable @inline(__always)
    func read<Value: Sendable>(_ key: UInt, as _: Value.Type) -> Value? {
        guard let cell = unsafe find(key) else { return nil }
        let status = unsafe cell.pointee.status.load(ordering: .acquiring)
        if status & CellFlags.fast != 0 {
            guard Payload.isWord(Value.self) else {
                let stripe = unsafe Stripes.claim(header.pointee.stripes)
                defer { unsafe header.pointee.releaseStripe(stripe) }
                let word = unsafe cell.pointee.word.load(ordering: .sequentiallyConsistent)
                guard unsafe cell.pointee.status.load(ordering: .relaxed) == status else { return nil }
                return Self.unbox(word, as: Value.self)
            }
            let word = unsafe cell.pointee.word.load(ordering: .acquiring)
            guard unsafe cell.pointee.status.load(ordering: .relaxed) == status else { return nil }
            return Self.unpack(word, as: Value.self)
        }
        guard status & CellFlags.link != 0 else { return nil }
        return unsafe readLink(cell, status)
    }

    /// The value of the ancestor's cell that `cell` points at, if nothing between has changed since the link was made.
    @inlinable @inline(__always)
    func readLink<Value: Sendable>(_ cell: UnsafeMutablePointer<Cell>, _ status: UInt64) -> Value? {
        let address = unsafe UInt(truncatingIfNeeded: cell.pointee.word.load(ordering: .acquiring))
        guard unsafe cell.pointee.status.load(ordering: .relaxed) == status else { return nil }
        let target = unsafe UnsafeMutablePointer<Cell>(bitPattern: address).unsafelyUnwrapped
        guard Payload.isWord(Value.self) else {
            let stripe = unsafe Stripes.claim(header.pointee.stripes)
            defer { unsafe header.pointee.releaseStripe(stripe) }
            let word = unsafe target.pointee.word.load(ordering: .sequentiallyConsistent)
            guard unsafe isCurrent(status, target.pointee.status.load(ordering: .relaxed)) else { return nil }
            return Self.unbox(word, as: Value.self)
        }
        let word = unsafe target.pointee.word.load(ordering: .acquiring)
        guard unsafe isCurrent(status, target.pointee.status.load(ordering: .relaxed)) else { return nil }
        return Self.unpack(word, as: Value.self)
    }

    /// Whether a link is right, and the word read just before the target's state belongs to that state.
    ///
    /// One look at the target's state is enough: all that happened since the link was made has a later time.
    @inlinable @inline(__always)
    func isCurrent(_ link: UInt64, _ target: UInt64) -> Bool {
        let time = CellFlags.time(link)
        let branch = unsafe header.pointee.branch.unsafelyUnwrapped
        return unsafe target & CellFlags.fast != 0 && CellFlags.time(target) <= time
            && header.pointee.epoch.load(ordering: .relaxed) <= time
            && branch.pointee.deepEpoch.load(ordering: .relaxed) <= time
    }

    // By size, because a detour over memory costs more than the whole read.
    @inlinable @inline(__always)
    static func unpack<Value>(_ word: UInt64, as _: Value.Type) -> Value {
        switch MemoryLayout<Value>.size {
        case 8: unsafe unsafeBitCast(word, to: Value.self)
        case 4: unsafe unsafeBitCast(UInt32(truncatingIfNeeded: word), to: Value.self)
        case 2: unsafe unsafeBitCast(UInt16(truncatingIfNeeded: word), to: Value.self)
        case 1: unsafe unsafeBitCast(UInt8(truncatingIfNeeded: word), to: Value.self)
        default: unsafe withUnsafeBytes(of: word) { unsafe $0.loadUnaligned(as: Value.self) }
        }
    }

    @inlinable @inline(__always)
    static func unbox<Value: Sendable>(_ word: UInt64, as _: Value.Type) -> Value {
        let address = unsafe UnsafeRawPointer(bitPattern: UInt(truncatingIfNeeded: word)).unsafelyUnwrapped
        return unsafe Unmanaged<Box<Value>>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.value }
    }
}
