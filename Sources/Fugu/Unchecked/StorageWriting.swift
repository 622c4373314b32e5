import Synchronization

extension StorageReference {
    private static var slotsOffset: Int { MemoryLayout<Table>.size }
    /// The offset from the header's address.
    ///
    /// Both types have the alignment of a word.
    private static var ledgerOffset: Int { MemoryLayout<Header>.stride }
    private static var stateOffset: Int { ledgerOffset + MemoryLayout<Ledger>.stride }

    private var ledger: UnsafeMutablePointer<Ledger> {
        unsafe (UnsafeMutableRawPointer(header) + Self.ledgerOffset).assumingMemoryBound(to: Ledger.self)
    }

    /// Creates storage for a container: one allocation for the header, a table of four slots, and two cells.
    static func make(branch: StorageReference?, lock: FamilyLock) -> StorageReference {
        let slots = 4
        let cells = 2
        let headerOffset = MemoryLayout<UInt>.size
        let tableOffset = headerOffset + stateOffset + MemoryLayout<NodeState>.stride
        let cellsOffset = (tableOffset + slotsOffset + slots * MemoryLayout<UInt>.size + 7) & ~7
        let chunk = unsafe PlatformMemory.allocate(cellsOffset + cells * MemoryLayout<Cell>.stride)
        unsafe chunk.storeBytes(of: 0, as: UInt.self)
        let header = unsafe (chunk + headerOffset).bindMemory(to: Header.self, capacity: 1)
        let table = unsafe initializeTable(at: chunk + tableOffset, slots: slots)
        unsafe header.initialize(
            to: Header(
                table: Atomic(UInt(bitPattern: table)), epoch: Atomic(0), deepEpoch: Atomic(0),
                branch: branch?.header ?? header, stripes: Stripes.shared, releaseStripe: Stripes.release,
                lock: lock))
        unsafe (chunk + headerOffset + ledgerOffset).initializeMemory(
            as: Ledger.self,
            to: Ledger(
                spareCount: UInt32(cells), spare: (chunk + cellsOffset).bindMemory(to: Cell.self, capacity: cells),
                chunks: chunk))
        unsafe (chunk + headerOffset + stateOffset).initializeMemory(as: NodeState.self, to: NodeState())
        return unsafe StorageReference(header: header)
    }

    /// Storage that's always empty, for views, so that they take the slow path.
    static let empty = make(branch: nil, lock: FamilyLock())

    /// The storage of the ancestor (or self) that is a child of the root.
    var branch: StorageReference { unsafe StorageReference(header: header.pointee.branch!) }

    /// The rest of a container's state.
    subscript(_: LockToken) -> NodeState {
        @inline(__always) unsafeAddress { unsafe UnsafePointer(statePointer) }
        @inline(__always) nonmutating unsafeMutableAddress { unsafe statePointer }
    }

    /// The same without proof of the lock: before other threads can reach the container, or for what never changes from
    /// then on.
    var unshared: NodeState {
        @inline(__always) unsafeAddress { unsafe UnsafePointer(statePointer) }
    }

    private var statePointer: UnsafeMutablePointer<NodeState> {
        unsafe (UnsafeMutableRawPointer(header) + Self.stateOffset).assumingMemoryBound(to: NodeState.self)
    }

    /// Frees all memory, when no thread can reach it anymore; the values must already be released.
    func free() {
        for cell in cells { cell.takePlace()?.free() }
        var next = unsafe ledger.pointee.chunks
        unsafe statePointer.deinitialize(count: 1)
        unsafe ledger.deinitialize(count: 1)
        unsafe header.deinitialize(count: 1)
        while let chunk = unsafe next {
            unsafe next = UnsafeMutableRawPointer(bitPattern: chunk.load(as: UInt.self))
            unsafe PlatformMemory.free(chunk)
        }
    }

    private static func initializeTable(at address: UnsafeMutableRawPointer, slots: Int) -> UnsafeMutableRawPointer {
        let shift = UInt(UInt.bitWidth - slots.trailingZeroBitCount)
        unsafe address.initializeMemory(as: Table.self, to: Table(mask: UInt(slots - 1), shift: shift))
        let first = unsafe (address + slotsOffset).bindMemory(to: Atomic<UInt>.self, capacity: slots)
        for index in 0..<slots { unsafe (first + index).initialize(to: Atomic(0)) }
        return unsafe address
    }

    private func allocateChunk(_ bytes: Int) -> UnsafeMutableRawPointer {
        let chunk = unsafe PlatformMemory.allocate(bytes + MemoryLayout<UInt>.size)
        unsafe chunk.storeBytes(of: UInt(bitPattern: ledger.pointee.chunks), as: UInt.self)
        unsafe ledger.pointee.chunks = chunk
        return unsafe chunk + MemoryLayout<UInt>.size
    }

    /// Returns the cell of a key, creating it if necessary.
    func cell(_: LockToken, _ key: Key) -> CellReference {
        if let cell = unsafe find(key.raw) { return unsafe CellReference(cell) }
        if unsafe ledger.pointee.spareCount == 0 {
            let wanted = unsafe Swift.max(2, Swift.min(64, Int(ledger.pointee.count) / 2))
            unsafe ledger.pointee.spare = allocateChunk(wanted * MemoryLayout<Cell>.stride)
                .bindMemory(to: Cell.self, capacity: wanted)
            unsafe ledger.pointee.spareCount = UInt32(wanted)
        }
        let cell = unsafe ledger.pointee.spare
        unsafe cell.initialize(to: Cell(key: key.raw, status: Atomic(0), word: Atomic(0), place: nil))
        unsafe ledger.pointee.spare = cell + 1
        unsafe ledger.pointee.spareCount -= 1
        unsafe ledger.pointee.count += 1
        growIfNeeded()
        unsafe Self.insert(cell, into: header.pointee.table.load(ordering: .relaxed))
        return unsafe CellReference(cell)
    }

    private func growIfNeeded() {
        let old = unsafe header.pointee.table.load(ordering: .relaxed)
        let slots = unsafe Int(UnsafePointer<Table>(bitPattern: old)!.pointee.mask) + 1
        guard unsafe Int(ledger.pointee.count) * 8 > slots * 7 - 4 else { return }
        let bytes = Self.slotsOffset + slots * 2 * MemoryLayout<UInt>.size
        let table = unsafe UInt(bitPattern: Self.initializeTable(at: allocateChunk(bytes), slots: slots * 2))
        for cell in cells { unsafe Self.insert(cell.pointer, into: table) }
        unsafe header.pointee.table.store(table, ordering: .releasing)
    }

    private static func insert(_ cell: UnsafeMutablePointer<Cell>, into table: UInt) {
        let fixed = unsafe UnsafePointer<Table>(bitPattern: table)!.pointee
        let slots = unsafe UnsafeMutablePointer<Atomic<UInt>>(bitPattern: table + UInt(slotsOffset))!
        var index = unsafe (cell.pointee.key &* Table.spread) >> fixed.shift
        while unsafe slots[Int(index)].load(ordering: .relaxed) != 0 { index = (index + 1) & fixed.mask }
        unsafe slots[Int(index)].store(UInt(bitPattern: cell), ordering: .releasing)
    }

    /// Returns the cell of a key, if there is one.
    func existingCell(_: LockToken, _ key: Key) -> CellReference? { unsafe find(key.raw).map(CellReference.init) }

    /// Returns all cells, in no particular order.
    ///
    /// Cells that are made meanwhile may be included or not.
    package func cells(_: LockToken) -> Cells { cells }

    private var cells: Cells {
        let table = unsafe header.pointee.table.load(ordering: .relaxed)
        let mask = unsafe UnsafePointer<Table>(bitPattern: table)!.pointee.mask
        let slots = unsafe UnsafeMutablePointer<Atomic<UInt>>(bitPattern: table + UInt(Self.slotsOffset))!
        return unsafe Cells(slots: slots, count: Int(mask) + 1)
    }

    /// The cells of one table.
    @safe package struct Cells: Sequence, IteratorProtocol {
        fileprivate let slots: UnsafeMutablePointer<Atomic<UInt>>
        fileprivate let count: Int
        private var index = 0

        fileprivate init(slots: UnsafeMutablePointer<Atomic<UInt>>, count: Int) {
            unsafe self.slots = slots
            self.count = count
        }

        package mutating func next() -> CellReference? {
            while index < count {
                defer { index += 1 }
                let address = unsafe slots[index].load(ordering: .relaxed)
                if let cell = unsafe UnsafeMutablePointer<Cell>(bitPattern: address) {
                    return unsafe CellReference(cell)
                }
            }
            return nil
        }
    }

    /// Replaces a value that code set, if nothing depends on it.
    ///
    /// It takes the lock. Returns whether it replaced the value, or `nil` if something certainly depends on it.
    func exchangeAlone(_ key: UInt, _ payload: Payload) -> Bool? {
        guard let cell = unsafe find(key) else { return false }
        if unsafe cell.pointee.status.load(ordering: .relaxed) & CellFlags.noticed != 0 { return nil }
        let replaced: Garbage? = unsafe header.pointee.lock.withLock { _ in
            let cell = unsafe CellReference(cell)
            let concerns =
                CellFlags.fast | CellFlags.held | CellFlags.noticed | CellFlags.automatic | CellFlags.loaded
            return cell.status & concerns == CellFlags.fast | CellFlags.held ? cell.exchange(payload) : nil
        }
        replaced?.dispose()
        return replaced != nil
    }

    /// Makes every link past this container that was made before `time` invalid.
    func raiseEpoch(_: LockToken, to time: UInt64, reachesDescendants: Bool) {
        unsafe header.pointee.epoch.store(time, ordering: .relaxed)
        if reachesDescendants { unsafe header.pointee.branch!.pointee.deepEpoch.store(time, ordering: .relaxed) }
    }
}
