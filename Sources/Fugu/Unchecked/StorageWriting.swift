import Synchronization

extension StorageReference {
    private static var slotsOffset: Int { MemoryLayout<Table>.size }
    /// From the header's address.
    ///
    /// Both have the alignment of a word.
    private static var ledgerOffset: Int { MemoryLayout<Header>.stride }
    private static var stateOffset: Int { ledgerOffset + MemoryLayout<Ledger>.stride }

    private var ledger: UnsafeMutablePointer<Ledger> {
        (UnsafeMutableRawPointer(header) + Self.ledgerOffset).assumingMemoryBound(to: Ledger.self)
    }

    /// Storage for a container: the header, a table of four and two cells in one piece.
    static func make(branch: StorageReference?, lock: FamilyLock) -> StorageReference {
        let slots = 4
        let cells = 2
        let headerOffset = MemoryLayout<UInt>.size
        let tableOffset = headerOffset + stateOffset + MemoryLayout<NodeState>.stride
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
        (chunk + headerOffset + stateOffset).initializeMemory(as: NodeState.self, to: NodeState())
        return StorageReference(header: header)
    }

    /// Storage in which nothing is ever found, for views: they answer by the slow way.
    static let empty = make(branch: nil, lock: FamilyLock())

    /// The storage of the ancestor (or self) that is a child of the root.
    var branch: StorageReference { StorageReference(header: header.pointee.branch!) }

    /// What else is known of a container.
    subscript(_: LockToken) -> NodeState {
        @inline(__always) unsafeAddress { UnsafePointer(statePointer) }
        @inline(__always) nonmutating unsafeMutableAddress { statePointer }
    }

    /// The same without proof: before others can reach the container, or what never changes from then on.
    var unshared: NodeState {
        @inline(__always) unsafeAddress { UnsafePointer(statePointer) }
    }

    private var statePointer: UnsafeMutablePointer<NodeState> {
        (UnsafeMutableRawPointer(header) + Self.stateOffset).assumingMemoryBound(to: NodeState.self)
    }

    /// Frees all memory, when nobody can touch it any more; the values must be gone already.
    func free() {
        for cell in cells { cell.takePlace()?.free() }
        var next = ledger.pointee.chunks
        statePointer.deinitialize(count: 1)
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

    /// Returns the cell of a key, made if there is none.
    func cell(_: LockToken, _ key: Key) -> CellReference {
        if let cell = find(key.raw) { return CellReference(cell) }
        if ledger.pointee.spareCount == 0 {
            let wanted = Swift.max(2, Swift.min(64, Int(ledger.pointee.count) / 2))
            ledger.pointee.spare = allocateChunk(wanted * MemoryLayout<Cell>.stride)
                .bindMemory(to: Cell.self, capacity: wanted)
            ledger.pointee.spareCount = UInt32(wanted)
        }
        let cell = ledger.pointee.spare
        cell.initialize(to: Cell(key: key.raw, status: Atomic(0), word: Atomic(0), place: nil))
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

    /// Returns the number of cells.
    func cellCount(_: LockToken) -> Int { Int(ledger.pointee.count) }

    /// Returns the cell of a key, if there is one.
    func existingCell(_: LockToken, _ key: Key) -> CellReference? { find(key.raw).map(CellReference.init) }

    /// Returns all cells, in no order.
    ///
    /// Cells may be made meanwhile; whether those are met too is open.
    func cells(_: LockToken) -> Cells { cells }

    private var cells: Cells {
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

    /// Replaces a value that code set, if nobody but readers is concerned with it.
    ///
    /// Takes the lock. Returns whether it was done, or nil if others are certainly concerned.
    func exchangeAlone(_ key: UInt, _ payload: Payload) -> Bool? {
        guard let cell = find(key) else { return false }
        if cell.pointee.status.load(ordering: .relaxed) & CellFlags.kept != 0 { return nil }
        let replaced: UInt64? = header.pointee.lock.withLock { _ in
            let status = cell.pointee.status.load(ordering: .relaxed)
            let concerns =
                CellFlags.fast | CellFlags.held | CellFlags.kept | CellFlags.layered | CellFlags.loaded
            guard status & concerns == CellFlags.fast | CellFlags.held else { return nil }
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

    /// Makes every link invalid that passes this container and was made before now.
    func raiseEpoch(_: LockToken, to time: UInt64, reachesDescendants: Bool) {
        header.pointee.epoch.store(time, ordering: .relaxed)
        if reachesDescendants { header.pointee.branch!.pointee.deepEpoch.store(time, ordering: .relaxed) }
    }
}
