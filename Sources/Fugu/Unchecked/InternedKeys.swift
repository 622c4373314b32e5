public import Synchronization

// The table of all value keys, found by the addresses of their places: two words, then `mask + 1` slots. An entry is
// written once, under the lock of `ValueKeys`, and published by its slot's `record`. Outgrown tables are never freed,
// because a reader may still use one, and neither are records. A key's descriptor has the type that the key asks for,
// because the type is compared, too.

/// The address of the table, or zero.
///
/// It's initialized statically, because a lazy global would cost more than the rest of a lookup.
@usableFromInline let internTable = Atomic<UInt>(0)

/// The key's identity, and the parts that a lookup compares.
///
/// The distinction is zero if the place makes only one key. It's a tuple, since each member of a type that inlined code reads takes place in every program.
@usableFromInline typealias InternEntry = (
    raw: UInt, fileID: UInt, line: UInt, column: UInt, member: UInt, typeWord: UInt, distinction: UInt
)

/// The place where a value key is created and its value type, which together identify a key without a name.
@frozen @usableFromInline package struct KeyPlace: Sendable {
    @usableFromInline let fileID: StaticString
    @usableFromInline let line: UInt
    @usableFromInline let column: UInt
    @usableFromInline let member: StaticString
    /// The address of the value type, with the kind in the two low bits.
    @usableFromInline let typeWord: UInt
}

/// A slot of the table.
@usableFromInline struct InternSlot: ~Copyable {
    /// The address of a `ValueKeyRecord`, or zero while the slot is free.
    @usableFromInline let record: Atomic<UInt>
    @usableFromInline var entry: InternEntry

    @inlinable @inline(__always)
    func has(_ place: KeyPlace, _ distinction: UInt) -> Bool {
        unsafe entry.fileID == UInt(bitPattern: place.fileID.utf8Start) && entry.line == place.line
            && entry.column == place.column && entry.typeWord == place.typeWord
            && entry.member == UInt(bitPattern: place.member.utf8Start) && entry.distinction == distinction
    }

    // Hardly two keys of a file share these parts, so the others are only compared.
    @inlinable @inline(__always)
    static func hash(_ fileID: UInt, _ line: UInt, _ column: UInt, _ distinction: UInt) -> UInt {
        let mixed = (fileID &+ line &* 0x1_0001 &+ column &+ distinction) &* 0x9E37_79B1
        return mixed ^ mixed >> 15
    }
}

/// A value key's identity, and the address of its record.
@frozen @usableFromInline package struct InternedKey: Hashable, Sendable {
    @usableFromInline let raw: UInt
    /// The address of its record, or zero for the key that a type is.
    @usableFromInline let record: UInt

    @inlinable init(raw: UInt, record: UInt) {
        self.raw = raw
        self.record = record
    }

    // Keys with the same name and type are equal, even if they're made at different places.
    @usableFromInline package static func == (left: Self, right: Self) -> Bool { left.raw == right.raw }
    @usableFromInline package func hash(into hasher: inout Hasher) { hasher.combine(raw) }

    init(_ record: ValueKeyRecord) {
        unsafe self.init(raw: record.raw, record: UInt(bitPattern: Unmanaged.passUnretained(record).toOpaque()))
    }

    var object: ValueKeyRecord {
        unsafe Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: record)!).takeUnretainedValue()
    }

    /// The arguments that made the key.
    func descriptor<Descriptor: AnyObject>() -> Descriptor {
        unsafe unsafeDowncast(object.descriptor, to: Descriptor.self)
    }
}

extension InternedKey {
    /// Returns the key that was made at this place, if the place makes no others.
    @inlinable @inline(__always)
    static func find(_ place: KeyPlace) -> InternedKey? {
        find(place, 0) { _ in true }
    }

    func has(name: String) -> Bool {
        unsafe Unmanaged<ValueKeyRecord>.fromOpaque(UnsafeRawPointer(bitPattern: record)!)._withUnsafeGuaranteedRef {
            $0.name == name
        }
    }

    @inlinable @inline(__always)
    static func find(_ place: KeyPlace, _ distinction: UInt, _ isIt: (InternedKey) -> Bool) -> InternedKey? {
        let address = internTable.load(ordering: .acquiring)
        guard let header = unsafe UnsafePointer<UInt>(bitPattern: address) else { return nil }
        let mask = unsafe header.pointee
        let slots = unsafe UnsafePointer<InternSlot>(bitPattern: address &+ UInt(2 * MemoryLayout<UInt>.stride))
            .unsafelyUnwrapped
        let fileID = unsafe UInt(bitPattern: place.fileID.utf8Start)
        var index = InternSlot.hash(fileID, place.line, place.column, distinction) & mask
        while true {
            let slot = unsafe slots + Int(bitPattern: index)
            let record = unsafe slot.pointee.record.load(ordering: .acquiring)
            if record == 0 { return nil }
            if unsafe slot.pointee.has(place, distinction) {
                let key = unsafe InternedKey(raw: slot.pointee.entry.raw, record: record)
                if isIt(key) { return key }
            }
            index = (index &+ 1) & mask
        }
    }

    /// Under the lock of `ValueKeys`: adds a record, to be found by the addresses of this place.
    static func add(_ record: ValueKeyRecord, at place: KeyPlace, _ distinction: UInt) -> InternedKey {
        let key = unsafe InternedKey(Unmanaged.passRetained(record).takeUnretainedValue())
        let entry = unsafe InternEntry(
            key.raw, UInt(bitPattern: place.fileID.utf8Start), place.line, place.column,
            UInt(bitPattern: place.member.utf8Start), place.typeWord, distinction)
        InternTable.withRoom().insert(entry, record: key.record)
        return key
    }
}

/// The table as its writers see it, under the lock of `ValueKeys`.
@safe private struct InternTable {
    private let header: UnsafeMutablePointer<UInt>
    private let slots: UnsafeMutablePointer<InternSlot>

    private init(at address: UInt) {
        unsafe header = UnsafeMutablePointer(bitPattern: address)!
        unsafe slots = UnsafeMutablePointer(bitPattern: address + UInt(2 * MemoryLayout<UInt>.stride))!
    }

    private init(slots count: Int) {
        let words = 2 + count * MemoryLayout<InternSlot>.stride / MemoryLayout<UInt>.stride
        let memory = UnsafeMutablePointer<UInt>.allocate(capacity: words)
        unsafe memory.initialize(repeating: 0, count: words)
        unsafe memory[0] = UInt(count - 1)
        self.init(at: UInt(bitPattern: memory))
    }

    /// Returns the table, or a larger copy if it has no room.
    static func withRoom() -> InternTable {
        let address = internTable.load(ordering: .relaxed)
        let old = address == 0 ? nil : InternTable(at: address)
        if let old, unsafe old.header[1] * 2 < old.header[0] { return old }
        let new = InternTable(slots: old.map { unsafe Int($0.header[0] + 1) * 2 } ?? 64)
        if let old {
            let count = unsafe Int(old.header[0] + 1)
            for index in 0..<count {
                let slot = unsafe old.slots + index
                let record = unsafe slot.pointee.record.load(ordering: .relaxed)
                if record != 0 { unsafe new.insert(slot.pointee.entry, record: record) }
            }
        }
        unsafe internTable.store(UInt(bitPattern: new.header), ordering: .releasing)
        return new
    }

    func insert(_ entry: InternEntry, record: UInt) {
        var index = unsafe InternSlot.hash(entry.fileID, entry.line, entry.column, entry.distinction) & header[0]
        while unsafe slots[Int(index)].record.load(ordering: .relaxed) != 0 { index = unsafe (index + 1) & header[0] }
        unsafe slots[Int(index)].entry = entry
        unsafe slots[Int(index)].record.store(record, ordering: .releasing)
        unsafe header[1] += 1
    }
}
