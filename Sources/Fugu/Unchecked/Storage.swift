// The one file with unchecked code. What makes it right:
//
// 1. Memory. A `Header`, its tables and its cells are freed by `StorageReference.free()`, which the owning node calls in
//    its `deinit`, when nobody can hold the node any more. A cell never moves and keeps its key; a table that became too
//    small is kept until then. So a pointer found by a reader who holds the node (or a descendant, which holds it) is good.
// 2. Who writes. Everything here is written under the lock of the family; `table`, `state`, `word` and the epochs are
//    atomic because readers look at them without it. Fields marked "guarded" are touched under the lock only.
// 3. Reading a word (seqlock). A reader takes `state`, then `word`, then `state` again. A writer that takes a value away
//    changes `state` first and `word` second, so an unchanged `state` proves that the word belongs to it. A writer that
//    only puts a new value in the place of an old one changes `word` alone: both words are right for that state. Release
//    and acquire are enough: who sees the new word sees the new state when it looks again.
// 4. Reading a box. Between `claim` and `release` of a stripe a reader may follow the word to a `Box` without counting a
//    reference. A writer swaps the word, and before it lets the old box go it sees every stripe free once
//    (`Stripes.awaitReaders`): who claims later finds the new word, since claim, swap, look and load are sequentially
//    consistent. Copying the value out of the box counts its references; no user code runs under a stripe. The copy
//    must be complete before the release: see `Header.releaseStripe`.
// 5. Types. A key's raw word is made from its type (or from an init of a value key), and every value stored under it was
//    wrapped as that key's value type, so `Payload.value(as:)` takes out what was put in.
// 6. References that count nothing (`Unowned`). Each says who keeps the object: the asker of a load its ancestors, whoever
//    runs a load the load and its container, a container its node; nodes leave all lists and sets before they go.
public import Synchronization

/// The bits of `Cell.state`: flags in the low 8, in the others the time on the family's clock at which the value came or the
/// link was made. The clock ticks with every change and never comes round.
@usableFromInline enum CellState {
    /// `word` is this container's own value and may be read.
    @usableFromInline static let fast: UInt64 = 1
    /// `word` is the address of the ancestor's cell whose value is inherited, as long as nothing between has changed since.
    @usableFromInline static let link: UInt64 = 2
    /// Something was set here (a value, a replaced loader, a rule's or source's value): descendants see it.
    static let held: UInt64 = 4
    /// The value comes from a load and its info tells from what.
    static let loaded: UInt64 = 8
    /// Writing it concerns others (observers, dependents, an exclusion): no short cut.
    static let special: UInt64 = 16
    /// `word` is the address of a retained box.
    static let boxed: UInt64 = 32
    /// The value comes from a rule or a source, not from code.
    static let layered: UInt64 = 64
    /// There is a value in `word`.
    static let hasWord: UInt64 = 128

    static let flags: UInt64 = 0xFF

    @inlinable @inline(__always) static func time(_ state: UInt64) -> UInt64 { state >> 8 }
    static func at(_ time: UInt64) -> UInt64 { time << 8 }
}

/// What one container knows of one key.
@usableFromInline struct Cell: ~Copyable {
    @usableFromInline let key: UInt
    @usableFromInline let state: Atomic<UInt64>
    @usableFromInline let word: Atomic<UInt64>
    /// Guarded. A retained object with what is rarely needed.
    fileprivate var info: FamilyState<CellFacts>?
}

/// The open-addressing table: this, then `mask + 1` words, each the address of a cell or zero.
@frozen @usableFromInline struct Table {
    @usableFromInline let mask: UInt
    @usableFromInline let shift: UInt

    /// Spreads keys over the high bits, whatever the size of a word.
    @inlinable static var spread: UInt { UInt(truncatingIfNeeded: 0x9E37_79B9_7F4A_7C15 as UInt64) }
}

/// The fixed part of a container's storage.
@usableFromInline struct Header: ~Copyable {
    @usableFromInline let table: Atomic<UInt>
    /// When a key last became set or unset in this container.
    @usableFromInline let epoch: Atomic<UInt64>
    /// When that last happened in a descendant that has children itself, or here; kept by the root's children only.
    @usableFromInline let deepEpoch: Atomic<UInt64>
    /// The header of the ancestor (or self) that is a child of the root; the root's own for the root.
    @usableFromInline let branch: UnsafeMutablePointer<Header>?
    @usableFromInline let stripes: UnsafeMutablePointer<Atomic<UInt64>>
    /// Called by address, so that the optimizer knows nothing of it: otherwise it moves the retain of what was read from
    /// a box behind the release of the stripe, where the box may be gone.
    @usableFromInline let releaseStripe: @convention(c) (UnsafeMutableRawPointer) -> Void
    let lock: FamilyLock
}

/// What stands behind the header and is touched under the lock only. It is no part of the header, since changing a field
/// in place counts as an access to the whole for the thread sanitizer, which readers of the header would then race with.
private struct Ledger {
    var count: UInt32 = 0
    /// Cells not given out yet.
    var spareCount: UInt32
    var spare: UnsafeMutablePointer<Cell>
    /// What `free` frees, each starts with the next's address.
    var chunks: UnsafeMutableRawPointer?
}

/// Where readers announce themselves, chosen by the stack they run on, so that threads seldom share a cache line.
@usableFromInline enum Stripes {
    @usableFromInline static let count: UInt = 32
    @usableFromInline static let stride: UInt = 16  // words: 128 bytes

    /// Never freed and only touched atomically.
    private struct All: @unchecked Sendable {
        let pointer: UnsafeMutablePointer<Atomic<UInt64>>
    }

    static var shared: UnsafeMutablePointer<Atomic<UInt64>> { all.pointer }

    private static let all: All = {
        let all = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: Int(count * stride))
        for index in 0..<Int(count * stride) { (all + index).initialize(to: Atomic(0)) }
        return All(pointer: all)
    }()

    @inlinable @inline(__always)
    static func claim(_ stripes: UnsafeMutablePointer<Atomic<UInt64>>) -> UnsafeMutablePointer<Atomic<UInt64>> {
        var local: UInt8 = 0
        let address = withUnsafeMutablePointer(to: &local) { UInt(bitPattern: $0) }
        var index = ((address >> 18) &* 0x9E37_79B1) >> 7
        while true {
            let stripe = stripes + Int((index & (count - 1)) &* stride)
            let value = stripe.pointee.load(ordering: .relaxed)
            if value & 1 == 0,
                stripe.pointee.compareExchange(
                    expected: value, desired: value &+ 1, successOrdering: .sequentiallyConsistent,
                    failureOrdering: .relaxed
                ).exchanged
            {
                return stripe
            }
            index &+= 1
        }
    }

    static let release: @convention(c) (UnsafeMutableRawPointer) -> Void = { address in
        let stripe = address.assumingMemoryBound(to: Atomic<UInt64>.self)
        stripe.pointee.store(stripe.pointee.load(ordering: .relaxed) &+ 1, ordering: .releasing)
    }

    /// Returns when every reader that was inside a box at the time of the call has left it.
    static func awaitReaders() {
        for index in 0..<count {
            let stripe = shared + Int(index * stride)
            let value = stripe.pointee.load(ordering: .sequentiallyConsistent)
            guard value & 1 == 1 else { continue }
            var looks = 0
            while stripe.pointee.load(ordering: .sequentiallyConsistent) == value {
                looks += 1
                if looks > 64 { yieldThread() }
            }
        }
    }
}

/// A box of any type.
@usableFromInline class AnyBox: @unchecked Sendable {
    @inlinable init() {}
}

/// Holds a value that does not fit a word. Only sendable ones are ever put in, by `Payload.init`.
@usableFromInline final class Box<Value>: AnyBox, @unchecked Sendable {
    @usableFromInline let value: Value
    @inlinable init(_ value: Value) { self.value = value }
}

/// A value of any type on its way through the engine, which knows no types.
@usableFromInline struct Payload: Sendable {
    @usableFromInline let bits: UInt64
    @usableFromInline let box: AnyBox?

    /// Whether `Value` is kept as the bits of a word.
    @inlinable @inline(__always)
    static func isWord<Value>(_: Value.Type) -> Bool { _isPOD(Value.self) && MemoryLayout<Value>.size <= 8 }

    @inlinable @inline(__always)
    init<Value: Sendable>(_ value: Value) {
        if Self.isWord(Value.self) {
            bits = Self.pack(value)
            box = nil
        } else {
            bits = 0
            box = Box(value)
        }
    }

    // By size, because a detour over memory costs more than the whole write.
    @inlinable @inline(__always)
    static func pack<Value>(_ value: Value) -> UInt64 {
        switch MemoryLayout<Value>.size {
        case 8: return unsafeBitCast(value, to: UInt64.self)
        case 4: return UInt64(unsafeBitCast(value, to: UInt32.self))
        case 2: return UInt64(unsafeBitCast(value, to: UInt16.self))
        case 1: return UInt64(unsafeBitCast(value, to: UInt8.self))
        default:
            var bits: UInt64 = 0
            withUnsafeMutableBytes(of: &bits) { $0.storeBytes(of: value, as: Value.self) }
            return bits
        }
    }

    fileprivate init(word: UInt64, isBoxed: Bool) {
        guard isBoxed else {
            bits = word
            box = nil
            return
        }
        bits = 0
        box = Unmanaged<AnyBox>.fromOpaque(UnsafeRawPointer(bitPattern: UInt(word))!).takeUnretainedValue()
    }

    /// The unchecked cast (see 5 above).
    @inlinable
    func value<Value>(as _: Value.Type) -> Value {
        guard let box else {
            return StorageReference.unpack(bits, as: Value.self)
        }
        return unsafeDowncast(box, to: Box<Value>.self).value
    }
}

/// A container's storage, as readers use it. Whoever uses it keeps the container alive meanwhile.
@frozen public struct StorageReference: @unchecked Sendable {
    @usableFromInline let header: UnsafeMutablePointer<Header>

    @inlinable @inline(__always)
    init(header: UnsafeMutablePointer<Header>) { self.header = header }

    @inlinable @inline(__always)
    init(address: UInt) { header = UnsafeMutablePointer(bitPattern: address).unsafelyUnwrapped }

    var address: UInt { UInt(bitPattern: header) }

    @inlinable @inline(__always)
    func find(_ key: UInt) -> UnsafeMutablePointer<Cell>? {
        let table = header.pointee.table.load(ordering: .acquiring)
        let fixed = UnsafePointer<Table>(bitPattern: table).unsafelyUnwrapped.pointee
        let slots = UnsafeMutablePointer<Atomic<UInt>>(bitPattern: table &+ UInt(MemoryLayout<Table>.size))
            .unsafelyUnwrapped
        var index = (key &* Table.spread) >> fixed.shift
        while true {
            let address = slots[Int(bitPattern: index)].load(ordering: .acquiring)
            guard let cell = UnsafeMutablePointer<Cell>(bitPattern: address) else { return nil }
            if cell.pointee.key == key { return cell }
            index = (index &+ 1) & fixed.mask
        }
    }

    /// The present value of a key, if it can be had without the lock.
    @inlinable @inline(__always)
    func read<Value: Sendable>(_ key: UInt, as _: Value.Type) -> Value? {
        guard let cell = find(key) else { return nil }
        let state = cell.pointee.state.load(ordering: .acquiring)
        if state & CellState.fast != 0 {
            guard Payload.isWord(Value.self) else {
                let stripe = Stripes.claim(header.pointee.stripes)
                defer { header.pointee.releaseStripe(stripe) }
                let word = cell.pointee.word.load(ordering: .sequentiallyConsistent)
                guard cell.pointee.state.load(ordering: .relaxed) == state else { return nil }
                return Self.unbox(word, as: Value.self)
            }
            let word = cell.pointee.word.load(ordering: .acquiring)
            guard cell.pointee.state.load(ordering: .relaxed) == state else { return nil }
            return Self.unpack(word, as: Value.self)
        }
        guard state & CellState.link != 0 else { return nil }
        return readLink(cell, state)
    }

    /// The value of the ancestor's cell that `cell` points at, if nothing between has changed since the link was made.
    @inlinable @inline(__always)
    func readLink<Value: Sendable>(_ cell: UnsafeMutablePointer<Cell>, _ state: UInt64) -> Value? {
        let address = UInt(truncatingIfNeeded: cell.pointee.word.load(ordering: .acquiring))
        guard cell.pointee.state.load(ordering: .acquiring) == state else { return nil }
        let target = UnsafeMutablePointer<Cell>(bitPattern: address).unsafelyUnwrapped
        guard Payload.isWord(Value.self) else {
            let stripe = Stripes.claim(header.pointee.stripes)
            defer { header.pointee.releaseStripe(stripe) }
            let word = target.pointee.word.load(ordering: .sequentiallyConsistent)
            guard isCurrent(state, target.pointee.state.load(ordering: .acquiring)) else { return nil }
            return Self.unbox(word, as: Value.self)
        }
        let word = target.pointee.word.load(ordering: .acquiring)
        guard isCurrent(state, target.pointee.state.load(ordering: .acquiring)) else { return nil }
        return Self.unpack(word, as: Value.self)
    }

    /// Whether a link is right and its target's word could be read just before `target` was. One look at the target's
    /// state is enough: all that happened since the link was made has a later time.
    @inlinable @inline(__always)
    func isCurrent(_ link: UInt64, _ target: UInt64) -> Bool {
        let time = CellState.time(link)
        let branch = header.pointee.branch.unsafelyUnwrapped
        return target & CellState.fast != 0 && CellState.time(target) <= time
            && header.pointee.epoch.load(ordering: .acquiring) <= time
            && branch.pointee.deepEpoch.load(ordering: .acquiring) <= time
    }

    /// When anything last became set or unset between this container and the root, or beside it.
    var pathEpoch: UInt64 {
        let branch = header.pointee.branch!
        return max(
            header.pointee.epoch.load(ordering: .relaxed), branch.pointee.deepEpoch.load(ordering: .relaxed))
    }

    // By size, because a detour over memory costs more than the whole read.
    @inlinable @inline(__always)
    static func unpack<Value>(_ word: UInt64, as _: Value.Type) -> Value {
        switch MemoryLayout<Value>.size {
        case 8: unsafeBitCast(word, to: Value.self)
        case 4: unsafeBitCast(UInt32(truncatingIfNeeded: word), to: Value.self)
        case 2: unsafeBitCast(UInt16(truncatingIfNeeded: word), to: Value.self)
        case 1: unsafeBitCast(UInt8(truncatingIfNeeded: word), to: Value.self)
        default: withUnsafeBytes(of: word) { $0.loadUnaligned(as: Value.self) }
        }
    }

    @inlinable @inline(__always)
    static func unbox<Value: Sendable>(_ word: UInt64, as _: Value.Type) -> Value {
        let address = UnsafeRawPointer(bitPattern: UInt(truncatingIfNeeded: word)).unsafelyUnwrapped
        return Unmanaged<Box<Value>>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.value }
    }
}

extension StorageReference {
    private static var slotsOffset: Int { MemoryLayout<Table>.size }
    /// From the header's address. Both have the alignment of a word.
    private static var ledgerOffset: Int { MemoryLayout<Header>.stride }
    private static var factsOffset: Int { ledgerOffset + MemoryLayout<Ledger>.stride }

    private var ledger: UnsafeMutablePointer<Ledger> {
        (UnsafeMutableRawPointer(header) + Self.ledgerOffset).assumingMemoryBound(to: Ledger.self)
    }

    /// Storage for a container: the header, a table of four and two cells in one piece.
    static func make(branch: StorageReference?, lock: FamilyLock) -> StorageReference {
        let slots = 4
        let cells = 2
        let headerOffset = MemoryLayout<UInt>.size
        let tableOffset = headerOffset + factsOffset + MemoryLayout<NodeFacts>.stride
        let cellsOffset = (tableOffset + slotsOffset + slots * MemoryLayout<UInt>.size + 7) & ~7
        let chunk = PlatformMemory.allocate(cellsOffset + cells * MemoryLayout<Cell>.stride)
        chunk.storeBytes(of: 0, as: UInt.self)
        let header = (chunk + headerOffset).bindMemory(to: Header.self, capacity: 1)
        let table = initializeTable(at: chunk + tableOffset, slots: slots)
        header.initialize(
            to: Header(
                table: Atomic(UInt(bitPattern: table)), epoch: Atomic(0), deepEpoch: Atomic(0),
                branch: branch?.header ?? header, stripes: Stripes.shared, releaseStripe: Stripes.release,
                lock: lock))
        (chunk + headerOffset + ledgerOffset).initializeMemory(
            as: Ledger.self,
            to: Ledger(
                spareCount: UInt32(cells), spare: (chunk + cellsOffset).bindMemory(to: Cell.self, capacity: cells),
                chunks: chunk))
        (chunk + headerOffset + factsOffset).initializeMemory(as: NodeFacts.self, to: NodeFacts())
        return StorageReference(header: header)
    }

    /// Storage in which nothing is ever found, for views: they answer by the slow way.
    static let empty = make(branch: nil, lock: FamilyLock())

    /// The storage of the ancestor (or self) that is a child of the root.
    var branch: StorageReference { StorageReference(header: header.pointee.branch!) }

    /// What else a container knows, under the lock.
    var facts: NodeFacts {
        @inline(__always) unsafeAddress { UnsafePointer(factsPointer) }
        @inline(__always) nonmutating unsafeMutableAddress { factsPointer }
    }

    private var factsPointer: UnsafeMutablePointer<NodeFacts> {
        (UnsafeMutableRawPointer(header) + Self.factsOffset).assumingMemoryBound(to: NodeFacts.self)
    }

    /// Frees all memory, when nobody can touch it any more; the values must be gone already.
    func free() {
        for cell in cells { cell.takeInfo()?.free() }
        var next = ledger.pointee.chunks
        facts.free()
        factsPointer.deinitialize(count: 1)
        ledger.deinitialize(count: 1)
        header.deinitialize(count: 1)
        while let chunk = next {
            next = UnsafeMutableRawPointer(bitPattern: chunk.load(as: UInt.self))
            PlatformMemory.free(chunk)
        }
    }

    private static func initializeTable(at address: UnsafeMutableRawPointer, slots: Int) -> UnsafeMutableRawPointer {
        let shift = UInt(UInt.bitWidth - slots.trailingZeroBitCount)
        address.initializeMemory(as: Table.self, to: Table(mask: UInt(slots - 1), shift: shift))
        let first = (address + slotsOffset).bindMemory(to: Atomic<UInt>.self, capacity: slots)
        for index in 0..<slots { (first + index).initialize(to: Atomic(0)) }
        return address
    }

    private func allocateChunk(_ bytes: Int) -> UnsafeMutableRawPointer {
        let chunk = PlatformMemory.allocate(bytes + MemoryLayout<UInt>.size)
        chunk.storeBytes(of: UInt(bitPattern: ledger.pointee.chunks), as: UInt.self)
        ledger.pointee.chunks = chunk
        return chunk + MemoryLayout<UInt>.size
    }

    /// Under the lock: the cell of a key, made if there is none.
    func cell(_ key: Key) -> CellReference {
        if let cell = find(key.raw) { return CellReference(cell) }
        if ledger.pointee.spareCount == 0 {
            let wanted = Swift.max(2, Swift.min(64, Int(ledger.pointee.count) / 2))
            ledger.pointee.spare = allocateChunk(wanted * MemoryLayout<Cell>.stride)
                .bindMemory(to: Cell.self, capacity: wanted)
            ledger.pointee.spareCount = UInt32(wanted)
        }
        let cell = ledger.pointee.spare
        cell.initialize(to: Cell(key: key.raw, state: Atomic(0), word: Atomic(0), info: nil))
        ledger.pointee.spare = cell + 1
        ledger.pointee.spareCount -= 1
        ledger.pointee.count += 1
        growIfNeeded()
        Self.insert(cell, into: header.pointee.table.load(ordering: .relaxed))
        return CellReference(cell)
    }

    private func growIfNeeded() {
        let old = header.pointee.table.load(ordering: .relaxed)
        let slots = Int(UnsafePointer<Table>(bitPattern: old)!.pointee.mask) + 1
        guard Int(ledger.pointee.count) * 8 > slots * 7 - 4 else { return }
        let bytes = Self.slotsOffset + slots * 2 * MemoryLayout<UInt>.size
        let table = UInt(bitPattern: Self.initializeTable(at: allocateChunk(bytes), slots: slots * 2))
        for cell in cells { Self.insert(cell.pointer, into: table) }
        header.pointee.table.store(table, ordering: .releasing)
    }

    private static func insert(_ cell: UnsafeMutablePointer<Cell>, into table: UInt) {
        let fixed = UnsafePointer<Table>(bitPattern: table)!.pointee
        let slots = UnsafeMutablePointer<Atomic<UInt>>(bitPattern: table + UInt(slotsOffset))!
        var index = (cell.pointee.key &* Table.spread) >> fixed.shift
        while slots[Int(index)].load(ordering: .relaxed) != 0 { index = (index + 1) & fixed.mask }
        slots[Int(index)].store(UInt(bitPattern: cell), ordering: .releasing)
    }

    /// Under the lock: how many cells there are.
    var cellCount: Int { Int(ledger.pointee.count) }

    /// Under the lock: the cell of a key, if there is one.
    func existingCell(_ key: Key) -> CellReference? { find(key.raw).map(CellReference.init) }

    /// Under the lock: all cells, in no order. Cells may be made meanwhile; whether those are met too is open.
    var cells: Cells {
        let table = header.pointee.table.load(ordering: .relaxed)
        let mask = UnsafePointer<Table>(bitPattern: table)!.pointee.mask
        let slots = UnsafeMutablePointer<Atomic<UInt>>(bitPattern: table + UInt(Self.slotsOffset))!
        return Cells(slots: slots, count: Int(mask) + 1)
    }

    /// The cells of one table.
    struct Cells: Sequence, IteratorProtocol {
        fileprivate let slots: UnsafeMutablePointer<Atomic<UInt>>
        fileprivate let count: Int
        private var index = 0

        fileprivate init(slots: UnsafeMutablePointer<Atomic<UInt>>, count: Int) {
            self.slots = slots
            self.count = count
        }

        mutating func next() -> CellReference? {
            while index < count {
                defer { index += 1 }
                let address = slots[index].load(ordering: .relaxed)
                if let cell = UnsafeMutablePointer<Cell>(bitPattern: address) { return CellReference(cell) }
            }
            return nil
        }
    }

    /// Puts a value in the place of another that code set, if nobody but readers is concerned with it. They never notice
    /// more than the new value. Takes the lock. Nil if others are certainly concerned.
    func exchangeAlone(_ key: UInt, _ payload: Payload) -> Bool? {
        guard let cell = find(key) else { return false }
        if cell.pointee.state.load(ordering: .relaxed) & CellState.special != 0 { return nil }
        let replaced: UInt64? = header.pointee.lock.withLock {
            let state = cell.pointee.state.load(ordering: .relaxed)
            let concerns =
                CellState.fast | CellState.held | CellState.special | CellState.layered | CellState.loaded
            guard state & concerns == CellState.fast | CellState.held else { return nil }
            guard let box = payload.box else {
                cell.pointee.word.store(payload.bits, ordering: .releasing)
                return 0
            }
            let word = UInt64(UInt(bitPattern: Unmanaged.passRetained(box).toOpaque()))
            return cell.pointee.word.exchange(word, ordering: .sequentiallyConsistent)
        }
        guard let replaced else { return false }
        if replaced != 0 { Garbage(box: replaced).dispose() }
        return true
    }

    /// Under the lock: makes every link invalid that passes this container and was made before now.
    func raiseEpoch(to time: UInt64, reachesDescendants: Bool) {
        header.pointee.epoch.store(time, ordering: .releasing)
        if reachesDescendants { header.pointee.branch!.pointee.deepEpoch.store(time, ordering: .releasing) }
    }
}

/// A cell, as the engine uses it: under the lock of its family, by whoever keeps its node alive.
struct CellReference: @unchecked Sendable, Equatable {
    fileprivate let pointer: UnsafeMutablePointer<Cell>

    fileprivate init(_ pointer: UnsafeMutablePointer<Cell>) { self.pointer = pointer }

    var key: Key { Key(raw: pointer.pointee.key) }
    private var state: UInt64 { pointer.pointee.state.load(ordering: .relaxed) }
    func has(_ flag: UInt64) -> Bool { state & flag != 0 }
    /// What stays of the flags when a loaded value comes or goes.
    var standing: UInt64 { state & (CellState.held | CellState.layered) }

    /// The cell's own value, if it has one.
    var payload: Payload? {
        let state = state
        guard state & CellState.hasWord != 0 else { return nil }
        return Payload(word: pointer.pointee.word.load(ordering: .relaxed), isBoxed: state & CellState.boxed != 0)
    }

    /// Puts a value in and lets readers see it at once, or only after `open()`. Returns the value that was there.
    ///
    /// - Parameter time: A time of its own.
    func store(_ payload: Payload, flags: UInt64, at time: UInt64, isOpen: Bool = true) -> Garbage {
        let old = state
        let kept = old & CellState.special
        let boxed = payload.box == nil ? 0 : CellState.boxed
        let next = CellState.at(time) | kept | flags | boxed | CellState.hasWord
        guard (old | boxed) & CellState.boxed != 0 else {
            pointer.pointee.state.store(next & ~CellState.fast, ordering: .releasing)
            pointer.pointee.word.store(payload.bits, ordering: .releasing)
            if isOpen { pointer.pointee.state.store(next | CellState.fast, ordering: .releasing) }
            return Garbage()
        }
        pointer.pointee.state.store(next & ~CellState.fast, ordering: .sequentiallyConsistent)
        let word = payload.box.map { UInt64(UInt(bitPattern: Unmanaged.passRetained($0).toOpaque())) }
        let oldWord = pointer.pointee.word.exchange(word ?? payload.bits, ordering: .sequentiallyConsistent)
        if isOpen { pointer.pointee.state.store(next | CellState.fast, ordering: .releasing) }
        return Garbage(state: old, word: oldWord)
    }

    /// Whether there is nothing here, nor anyone concerned with it.
    var isEmpty: Bool { state & CellState.flags & ~CellState.link == 0 }

    /// Lets readers see the value that was stored closed, if there is one.
    func openIfPresent() {
        guard state & CellState.hasWord != 0 else { return }
        pointer.pointee.state.store(state | CellState.fast, ordering: .releasing)
    }

    /// Sends readers to the slow way.
    func close() { pointer.pointee.state.store(state & ~CellState.fast, ordering: .sequentiallyConsistent) }

    /// Takes the value away, leaving `flags`.
    ///
    /// - Parameter time: A time of its own.
    func clear(flags: UInt64 = 0, at time: UInt64) -> Garbage {
        let old = state
        let next = CellState.at(time) | old & CellState.special | flags
        guard old & CellState.boxed != 0 else {
            pointer.pointee.state.store(next, ordering: .releasing)
            return Garbage()
        }
        pointer.pointee.state.store(next, ordering: .sequentiallyConsistent)
        return Garbage(state: old, word: pointer.pointee.word.exchange(0, ordering: .sequentiallyConsistent))
    }

    func mark(_ flags: UInt64, _ isOn: Bool = true) {
        pointer.pointee.state.store(isOn ? state | flags : state & ~flags, ordering: .releasing)
    }

    /// Lets readers of this container, which has no value of its own here, read an ancestor's cell.
    ///
    /// - Parameter now: The time of the last change. Two links of one time are right alike, so it need not be their own.
    func link(to target: CellReference, at now: UInt64) {
        guard target.has(CellState.fast), state & (CellState.held | CellState.loaded) == 0 else { return }
        let bare = CellState.at(now) | state & CellState.special
        pointer.pointee.state.store(bare, ordering: .releasing)
        pointer.pointee.word.store(UInt64(UInt(bitPattern: target.pointer)), ordering: .releasing)
        pointer.pointee.state.store(bare | CellState.link, ordering: .releasing)
    }

    /// What is rarely needed.
    var info: FamilyState<CellFacts>? { pointer.pointee.info }

    /// The info, made if there is none.
    func makeInfo() -> FamilyState<CellFacts> {
        if let info { return info }
        let made = FamilyState(CellFacts())
        pointer.pointee.info = made
        return made
    }

    /// Takes the info away, to be released outside the lock.
    func takeInfo() -> FamilyState<CellFacts>? {
        defer { pointer.pointee.info = nil }
        return pointer.pointee.info
    }
}

/// What was taken out of cells under the lock, to be let go outside it: releasing runs `deinit`s, which are user code.
/// Most changes leave one box and what it was made from, or less, and that costs nothing here.
struct Garbage {
    private var first: UInt64 = 0
    private var object: (any AnyObject & Sendable)?
    private var heap: Heap?

    private final class Heap {
        var boxes: [UInt64] = []
        var objects: [any AnyObject & Sendable] = []
        var infos: [FamilyState<CellFacts>] = []
        var departures: [Departure] = []
        var abandoned: [Key?] = []

        deinit { for info in infos { info.free() } }
    }

    init() {}

    fileprivate init(state: UInt64, word: UInt64) {
        if state & CellState.boxed != 0 { first = word }
    }

    fileprivate init(box: UInt64) { first = box }

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
        heap.infos += theirs.infos
        theirs.infos = []
        heap.departures += theirs.departures
        heap.abandoned += theirs.abandoned
    }

    mutating func add(_ lease: Lease?, isForNobody: Bool) {
        if let lease { more().departures.append(Departure(lease, isForNobody: isForNobody)) }
    }

    mutating func add(_ info: FamilyState<CellFacts>?) {
        if let info { more().infos.append(info) }
    }

    mutating func add(_ object: consuming (any AnyObject & Sendable)?) {
        guard let added = object else { return }
        if self.object == nil { self.object = added } else { more().objects.append(added) }
    }

    /// Releases everything, after the last reader has left what is in boxes. Outside every lock.
    func dispose() {
        if first != 0 {
            Stripes.awaitReaders()
            Self.release(first)
        }
        guard let heap else { return }
        for word in heap.boxes { Self.release(word) }
        for departure in heap.departures { departure.end() }
    }

    private static func release(_ word: UInt64) {
        Unmanaged<AnyBox>.fromOpaque(UnsafeRawPointer(bitPattern: UInt(word))!).release()
    }
}

extension Array {
    /// Gives all that are there to `body`, in order. The list keeps them, so nothing is counted for each, which would cost
    /// more than most bodies do.
    @inline(__always)
    func forEachUncounted<Object: Swift.AnyObject>(_ body: (Object) -> Void) where Element == Object? {
        withUnsafeBufferPointer { objects in
            objects.withMemoryRebound(to: Unmanaged<Object>?.self) { objects in
                for object in objects { object?._withUnsafeGuaranteedRef(body) }
            }
        }
    }
}

/// A reference that counts nothing. Where one stands it is said who keeps the object.
struct Unowned<Object: AnyObject & Sendable>: Sendable, Hashable {
    private let reference: Unmanaged<Object>

    init(_ object: Object) { reference = .passUnretained(object) }
    fileprivate init(_ reference: Unmanaged<Object>) { self.reference = reference }

    /// The object, counted from here on.
    var object: Object { reference.takeUnretainedValue() }

    /// Uses the object without counting.
    @inline(__always)
    func use<R>(_ body: (Object) -> R) -> R { reference._withUnsafeGuaranteedRef(body) }

    static func == (left: Self, right: Self) -> Bool { left.reference.toOpaque() == right.reference.toOpaque() }
    func hash(into hasher: inout Hasher) { hasher.combine(reference.toOpaque()) }
}

/// A reference to what an object stands under, kept until `release()`, which the object's `deinit` calls.
struct ChainReference<Link: AnyObject & Sendable>: Sendable {
    private let reference: Unmanaged<Link>

    init(_ link: Link) { reference = .passRetained(link) }

    /// The object, counted once more.
    var object: Link { reference.takeUnretainedValue() }

    /// The object for those who keep the one that stands under it.
    var uncounted: Unowned<Link> { Unowned(reference) }

    /// Uses the object without counting.
    @inline(__always)
    func use<R>(_ body: (Link) -> R) -> R { reference._withUnsafeGuaranteedRef(body) }

    /// Gives the object to the caller, who lets it go.
    func take() -> Link { reference.takeRetainedValue() }

    /// Lets the object go, and those that only it and one another kept, one by one: a family may be deeper than a stack.
    /// The compiler would do so by itself for a strong reference, but counts twice as often.
    @inline(__always)
    func release(_ next: (Link) -> ChainReference?) {
        var link: Link? = reference.takeRetainedValue()
        while isKnownUniquelyReferenced(&link) { link = link.flatMap(next)?.object }
    }
}

/// Carries a value into garbage.
final class Retained<Value: Sendable>: Sendable {
    private let value: Value
    init(_ value: Value) { self.value = value }
}

/// A value with a lock of its own.
package final class Guarded<Value>: @unchecked Sendable {
    private let lock = PlatformLock()
    private var value: Value

    package init(_ value: sending Value) { self.value = value }

    deinit { lock.destroy() }

    /// Runs `body` with exclusive access. `body` must not call user code.
    @discardableResult
    package func withLock<R, E>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}

/// A value that is touched only while the lock of its family is held. Whoever makes it frees it.
struct FamilyState<Value>: @unchecked Sendable, Equatable {
    private let pointer: UnsafeMutablePointer<Value>

    init(_ value: sending Value) {
        // What the platform gives is aligned for every type but those made for vectors.
        pointer = PlatformMemory.allocate(MemoryLayout<Value>.size).bindMemory(to: Value.self, capacity: 1)
        pointer.initialize(to: value)
    }

    var value: Value {
        // Not by coroutines, which allocate and copy where they are not inlined.
        @inline(__always) unsafeAddress { UnsafePointer(pointer) }
        @inline(__always) nonmutating unsafeMutableAddress { pointer }
    }

    static func == (left: Self, right: Self) -> Bool { left.pointer == right.pointer }

    /// Frees the memory and releases the value, when nobody else can touch it any more.
    func free() {
        pointer.deinitialize(count: 1)
        PlatformMemory.free(pointer)
    }
}

/// The lock of a family, which destroys it.
struct FamilyLock: @unchecked Sendable {
    private let lock = PlatformLock()

    func destroy() { lock.destroy() }

    @inline(__always)
    func withLock<R, E>(_ body: () throws(E) -> R) throws(E) -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }
}

#if !canImport(Darwin) && (canImport(Glibc) || canImport(Musl) || canImport(Android))
/// A few places serve all locks: who shares one is woken with others and looks again. Never freed.
struct ParkingPlaces: @unchecked Sendable {
    static let all = ParkingPlaces()
    private let places = (0..<16).map { _ in PlatformParking() }

    subscript(lock: UnsafeMutablePointer<Atomic<UInt32>>) -> PlatformParking {
        places[Int((UInt(bitPattern: lock) >> 5) & 15)]
    }
}
#endif

/// Lets one thread sleep until another one raises it. It is raised once.
final class Signal: @unchecked Sendable {
    private let signal = PlatformSignal()

    deinit { signal.destroy() }

    func raise() { signal.raise() }
    func wait() { signal.wait() }
}

extension Key {
    /// The type that a type's key was made from.
    var type: Any.Type? { isValueKey ? nil : unsafeBitCast(raw & ~Key.kindMask, to: Any.Type.self) }
}

// MARK: - Interned keys
//
// The table of all value keys, found by the addresses of their places: two words, then `mask + 1` slots. An entry is written
// once, under the lock of `ValueKeys`, and published by its slot's `record`; a table that became too small is never freed,
// since a reader may be in it, and neither are records. What a key was made with has the type that the key asks for, since
// the type is part of what is compared.

/// The address of the table, or zero. It is set up by the linker: a lazy global costs more than all else of a hit.
@usableFromInline let internTable = Atomic<UInt>(0)

/// What a value key is found by, and its identity.
@usableFromInline struct InternEntry {
    @usableFromInline let raw: UInt
    @usableFromInline let fileID: UInt
    @usableFromInline let line: UInt
    @usableFromInline let column: UInt
    @usableFromInline let member: UInt
    @usableFromInline let typeWord: UInt
    /// Zero if the place makes one key.
    @usableFromInline let distinction: UInt

    fileprivate init(_ raw: UInt, _ place: KeyPlace, _ distinction: UInt) {
        self.raw = raw
        fileID = UInt(bitPattern: place.fileID.utf8Start)
        line = place.line
        column = place.column
        member = UInt(bitPattern: place.member.utf8Start)
        typeWord = place.typeWord
        self.distinction = distinction
    }

    @inlinable @inline(__always)
    func has(_ place: KeyPlace, _ distinction: UInt) -> Bool {
        fileID == UInt(bitPattern: place.fileID.utf8Start) && line == place.line && column == place.column
            && typeWord == place.typeWord && member == UInt(bitPattern: place.member.utf8Start)
            && self.distinction == distinction
    }

    // Of the keys of a file hardly two share these, so the rest is only compared.
    @inlinable @inline(__always)
    static func hash(_ fileID: UInt, _ line: UInt, _ column: UInt, _ distinction: UInt) -> UInt {
        let mixed = (fileID &+ line &* 0x1_0001 &+ column &+ distinction) &* 0x9E37_79B1
        return mixed ^ mixed >> 15
    }

    fileprivate var hash: UInt { Self.hash(fileID, line, column, distinction) }
}

/// A place in the table.
@usableFromInline struct InternSlot: ~Copyable {
    /// The address of a `ValueKeyRecord`, or zero while the slot is free.
    @usableFromInline let record: Atomic<UInt>
    @usableFromInline var entry: InternEntry
}

/// A value key's identity, and the address of what it was made with.
@frozen @usableFromInline struct InternedKey: Sendable {
    @usableFromInline let raw: UInt
    let record: UInt

    @usableFromInline init(raw: UInt, record: UInt) {
        self.raw = raw
        self.record = record
    }

    init(_ record: ValueKeyRecord) {
        self.init(raw: record.raw, record: UInt(bitPattern: Unmanaged.passUnretained(record).toOpaque()))
    }

    private var object: ValueKeyRecord {
        Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: record)!).takeUnretainedValue()
    }

    /// What the key was made with.
    func descriptor<Descriptor: ValueKeyDescriptor>() -> Descriptor {
        unsafeDowncast(object.descriptor, to: Descriptor.self)
    }
}

extension InternedKey {
    /// The key that was made at this place before, if the place makes no others.
    @inlinable @inline(__always)
    static func find(_ place: KeyPlace) -> InternedKey? {
        find(place, 0) { _ in true }
    }

    /// The key of this name that was made at this place before.
    @usableFromInline
    static func find(_ place: KeyPlace, name: String) -> InternedKey? {
        // Most places have one name, which need not be hashed.
        find(place, KeyDistinction.firstName) { $0.has(name: name) }
            ?? find(place, KeyDistinction.hash(of: name)) { $0.has(name: name) }
    }

    /// The key of this id that was made at this place before.
    static func find(_ place: KeyPlace, id: some Hashable) -> InternedKey? {
        find(place, KeyDistinction.hash(of: id)) { $0.object.descriptor.distinction?.isID(id) == true }
    }

    private func has(name: String) -> Bool {
        Unmanaged<ValueKeyRecord>.fromOpaque(UnsafeRawPointer(bitPattern: record)!)._withUnsafeGuaranteedRef {
            $0.name == name
        }
    }

    @inlinable @inline(__always)
    static func find(_ place: KeyPlace, _ distinction: UInt, _ isIt: (InternedKey) -> Bool) -> InternedKey? {
        let address = internTable.load(ordering: .acquiring)
        guard let header = UnsafePointer<UInt>(bitPattern: address) else { return nil }
        let mask = header.pointee
        let slots = UnsafePointer<InternSlot>(bitPattern: address &+ UInt(2 * MemoryLayout<UInt>.stride))
            .unsafelyUnwrapped
        let fileID = UInt(bitPattern: place.fileID.utf8Start)
        var index = InternEntry.hash(fileID, place.line, place.column, distinction) & mask
        while true {
            let slot = slots + Int(bitPattern: index)
            let record = slot.pointee.record.load(ordering: .acquiring)
            if record == 0 { return nil }
            if slot.pointee.entry.has(place, distinction) {
                let key = InternedKey(raw: slot.pointee.entry.raw, record: record)
                if isIt(key) { return key }
            }
            index = (index &+ 1) & mask
        }
    }

    /// Under the lock of `ValueKeys`: lets the record be found by the addresses of this place.
    static func add(_ record: ValueKeyRecord, at place: KeyPlace, _ hash: UInt) -> InternedKey {
        let key = InternedKey(Unmanaged.passRetained(record).takeUnretainedValue())
        let isFirstName =
            record.descriptor.naming != nil && find(place, KeyDistinction.firstName) { _ in true } == nil
        let entry = InternEntry(key.raw, place, isFirstName ? KeyDistinction.firstName : hash)
        InternTable.withRoom().insert(entry, record: key.record)
        return key
    }
}

/// The table as those who change it see it, under the lock of `ValueKeys`.
private struct InternTable {
    private let header: UnsafeMutablePointer<UInt>
    private let slots: UnsafeMutablePointer<InternSlot>

    private init(at address: UInt) {
        header = UnsafeMutablePointer(bitPattern: address)!
        slots = UnsafeMutablePointer(bitPattern: address + UInt(2 * MemoryLayout<UInt>.stride))!
    }

    private init(slots count: Int) {
        let words = 2 + count * MemoryLayout<InternSlot>.stride / MemoryLayout<UInt>.stride
        let memory = UnsafeMutablePointer<UInt>.allocate(capacity: words)
        memory.initialize(repeating: 0, count: words)
        memory[0] = UInt(count - 1)
        self.init(at: UInt(bitPattern: memory))
    }

    /// The table, or a larger copy of it if it has no room.
    static func withRoom() -> InternTable {
        let address = internTable.load(ordering: .relaxed)
        let old = address == 0 ? nil : InternTable(at: address)
        if let old, old.header[1] * 2 < old.header[0] { return old }
        let new = InternTable(slots: old.map { Int($0.header[0] + 1) * 2 } ?? 64)
        if let old {
            for slot in old.slots..<old.slots + Int(old.header[0] + 1) {
                let record = slot.pointee.record.load(ordering: .relaxed)
                if record != 0 { new.insert(slot.pointee.entry, record: record) }
            }
        }
        internTable.store(UInt(bitPattern: new.header), ordering: .releasing)
        return new
    }

    func insert(_ entry: InternEntry, record: UInt) {
        var index = entry.hash & header[0]
        while slots[Int(index)].record.load(ordering: .relaxed) != 0 { index = (index + 1) & header[0] }
        slots[Int(index)].entry = entry
        slots[Int(index)].record.store(record, ordering: .releasing)
        header[1] += 1
    }
}

#if DEBUG
/// Whether two closures captured something, and not the same: judged by the first word, so that nothing is evaluated where
/// a member makes the same key again. Debug builds only.
func capturesDiffer<Value>(
    _ left: @escaping @Sendable () -> Value, _ right: @escaping @Sendable () -> Value
) -> Bool {
    func captured(_ closure: @escaping @Sendable () -> Value) -> UInt? {
        let context = unsafeBitCast(closure, to: (function: UInt, context: UInt).self).context
        // Behind the object's header of two words.
        return UnsafePointer<UInt>(bitPattern: context)?[2]
    }
    guard let left = captured(left), let right = captured(right) else { return false }
    return left != right
}
#endif
