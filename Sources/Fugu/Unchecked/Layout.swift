public import Synchronization

/// The bits of `Cell.status`: flags in the low 9 bits, and in the others the time of the family's clock at which the value
/// came or the link was made.
///
/// The clock ticks with every change and never wraps around.
@usableFromInline package enum CellFlags {
    /// `word` is this container's own value and may be read.
    @_alwaysEmitIntoClient static var fast: UInt64 { 1 }
    /// `word` is the address of the ancestor's cell whose value is inherited, unless something in between has changed.
    @_alwaysEmitIntoClient static var link: UInt64 { 2 }
    /// The key is held here, by a value, a replaced loader, a rule, or a source: descendants see it.
    package static let held: UInt64 = 4
    /// The value comes from a default or a load; the place of a loaded instance has its provenance.
    package static let loaded: UInt64 = 8
    /// Writes take the slow path, because they affect observers or dependents.
    static let special: UInt64 = 16
    /// `word` is the address of a retained box.
    static let boxed: UInt64 = 32
    /// The held value comes from a rule or a source, not from code.
    static let automatic: UInt64 = 64
    /// There is a value in `word`.
    package static let hasWord: UInt64 = 128

    /// An instance was made from the value, so that setting an equal one must be distinguished from a change.
    package static let input: UInt64 = 256

    static let flags: UInt64 = 0x1FF
    /// The flags of what notices a change: they stay when a value comes or goes.
    static let noticed: UInt64 = special | input

    @_alwaysEmitIntoClient @inline(__always) static func time(_ status: UInt64) -> UInt64 { status >> 9 }
    static func at(_ time: UInt64) -> UInt64 { time << 9 }
}

/// The identity of a key, in one word.
///
/// For a type, the word is the type's address with the kind in the two low bits; for a value key, a number with the
/// highest bit set, which no type's address has.
@frozen @usableFromInline package struct Key: Hashable, Sendable {
    @usableFromInline package let raw: UInt

    @inlinable package init(raw: UInt) { self.raw = raw }

    @inlinable static var kindMask: UInt { 3 }
    static let valueKeyBit: UInt = 1 << UInt(UInt.bitWidth - 1)

    package var isValueKey: Bool { raw & Key.valueKeyBit != 0 }

    /// The type that a type's key was made from.
    package var type: Any.Type? { unsafe isValueKey ? nil : unsafeBitCast(raw & ~Key.kindMask, to: Any.Type.self) }
}

/// One container's record of one key.
@usableFromInline struct Cell: ~Copyable {
    @usableFromInline let key: UInt
    @usableFromInline let status: Atomic<UInt64>
    @usableFromInline let word: Atomic<UInt64>
    /// The engine's record of the key besides its value, accessed only under the lock.
    ///
    /// The cell owns it.
    var place: Place?
}

/// The open-addressing table: this, then `mask + 1` words, each the address of a cell or zero.
@frozen @usableFromInline struct Table {
    @usableFromInline let mask: UInt
    @usableFromInline let shift: UInt

    /// Spreads keys over the high bits, whatever the size of a word.
    @inlinable static var spread: UInt { UInt(truncatingIfNeeded: 0x9E37_79B9_7F4A_7C15 as UInt64) }
}

/// The fixed part of a container's storage.
@safe @usableFromInline struct Header: ~Copyable {
    @usableFromInline let table: Atomic<UInt>
    /// The time at which a key was last set or unset in this container.
    @usableFromInline let epoch: Atomic<UInt64>
    /// The time at which that last happened here or in a descendant, if that had children; kept only by the root's
    /// children.
    @usableFromInline let deepEpoch: Atomic<UInt64>
    /// The header of the ancestor (or self) that is a child of the root; the root's own for the root.
    @usableFromInline let branch: UnsafeMutablePointer<Header>?
    @usableFromInline let stripes: UnsafeMutablePointer<Atomic<UInt64>>
    /// Called through a pointer, so that the optimizer can't see into it: otherwise, it moves the retain of a value read
    /// from a box past the release of the stripe, when the box may be gone.
    @usableFromInline let releaseStripe: @convention(c) (UnsafeMutableRawPointer) -> Void
    let lock: FamilyLock
}

/// State behind the header, accessed only under the lock.
///
/// It isn't part of the header: for the thread sanitizer, changing a field in place accesses the whole value, which would
/// race with readers of the header.
@safe struct Ledger {
    var count: UInt32 = 0
    /// The number of cells that aren't used yet.
    var spareCount: UInt32
    var spare: UnsafeMutablePointer<Cell>
    /// The memory that `free` frees.
    ///
    /// Each chunk begins with the address of the next one.
    var chunks: UnsafeMutableRawPointer?
}
