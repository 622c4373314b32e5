// The unchecked code of cells, tables, payloads, and locks is in this folder. These arguments show that it's correct:
//
// 1. Memory. A `Header`, its tables and its cells are freed by `StorageReference.free()`, which the owning node calls in
//    its `deinit`, when nothing refers to the node anymore. A cell never moves and keeps its key, and outgrown tables are
//    kept until then. So a pointer that a reader has found is valid while it keeps the node, or a descendant, which keeps
//    the node.
// 2. Writing. All writes happen under the family's lock. `table`, `status`, `word`, and the epochs are atomic, because
//    readers load them without it. Everything else that changes is accessed only under the lock.
// 3. Reading a word (seqlock). A reader loads `status`, then `word`, then `status` again. A writer that removes a value
//    changes `status` first and `word` second, so an unchanged `status` proves that the word belongs to it. A writer that
//    only replaces a value by another one changes `word` alone: both words are right for that status. Release and acquire
//    are enough: a reader that sees the new word sees the new status when it loads it again. Epochs are raised before the
//    change that they announce can be seen, so a reader that has seen it uses no older link.
// 4. Reading a box. Between `claim` and `release` of a stripe, a reader may follow the word to a `Box` without retaining
//    it. A writer exchanges the word, and before it releases the old box, it sees every stripe free once
//    (`Stripes.awaitReaders`). A reader that claims later finds the new word, because all four steps are sequentially
//    consistent: the claim, the exchange, the writer's look at the stripe, and the reader's load. Copying the value out of
//    the box retains its references; no user code runs under a stripe. The copy must be complete before the release: see
//    `Header.releaseStripe`.
// 5. Types. A key's raw word is made from its type (or by the initializer of a value key), and every value stored under it
//    was wrapped as that key's value type, so `Payload.value(as:)` unwraps the same type.
// 6. References that don't retain (`UnmanagedReference`). Each says what keeps the object: the asker of a load keeps its
//    ancestors, a reader keeps the container that it asks, the code that runs a load keeps the load and its container, and
//    a container keeps its node. Nodes leave all lists and sets before they're released.
//
// The models in Tests/Tools/Models check what 3 and 4 say about memory orders, and name every order here: none is stronger
// than it must be, and none may be weaker.
public import Synchronization

/// A container's storage, as readers use it.
///
/// The caller keeps the container alive meanwhile.
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

    /// Returns the current value of a key, if it can be read without the lock.
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

    /// Returns the value of the ancestor's cell that `cell` points at, if nothing in between has changed since the link was
    /// made.
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

    /// Whether a link is valid, and the word that was read just before belongs to the target's status.
    ///
    /// One load of the target's status is enough: every change after the link was made has a later time.
    @inlinable @inline(__always)
    func isCurrent(_ link: UInt64, _ target: UInt64) -> Bool {
        let time = CellFlags.time(link)
        let branch = unsafe header.pointee.branch.unsafelyUnwrapped
        return unsafe target & CellFlags.fast != 0 && CellFlags.time(target) <= time
            && header.pointee.epoch.load(ordering: .relaxed) <= time
            && branch.pointee.deepEpoch.load(ordering: .relaxed) <= time
    }

    // Depends on the size, because a copy through memory costs more than the whole read.
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
