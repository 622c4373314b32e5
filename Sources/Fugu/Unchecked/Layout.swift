public import Synchronization

/// The bits of `Cell.status`: flags in the low 9, in the others the time on the family's clock at which the value came
/// or the link was made.
///
/// The clock ticks with every change and never comes round.
@usableFromInline enum CellFlags {
    /// `word` is this container's own value and may be read.
    @usableFromInline static let fast: UInt64 = 1
    /// `word` is the address of the ancestor's cell whose value is inherited, as long as nothing between has changed since.
    @usableFromInline static let link: UInt64 = 2
    /// Something was set here (a value, a replaced loader, a rule's or source's value): descendants see it.
    static let held: UInt64 = 4
    /// The value comes from a default or a load; for a load, its state has what it was made from.
    static let loaded: UInt64 = 8
    /// Writing it concerns others (observers, dependents, an exclusion): no short cut.
    static let special: UInt64 = 16
    /// `word` is the address of a retained box.
    static let boxed: UInt64 = 32
    /// The held value comes from a rule or a source, not from code.
    static let layered: UInt64 = 64
    /// There is a value in `word`.
    static let hasWord: UInt64 = 128

    /// An instance was made from the value, so that setting an equal one must be distinguished from a change.
    static let input: UInt64 = 256

    static let flags: UInt64 = 0x1FF
    /// The flags that stay when a value comes or goes.
    static let kept: UInt64 = special | input

    @inlinable @inline(__always) static func time(_ status: UInt64) -> UInt64 { status >> 9 }
    static func at(_ time: UInt64) -> UInt64 { time << 9 }
}

/// One container's record of one key.
@usableFromInline struct Cell: ~Copyable {
    @usableFromInline let key: UInt
    @usableFromInline let status: Atomic<UInt64>
    @usableFromInline let word: Atomic<UInt64>
    /// The engine's record of the key beside its value, touched under the lock only.
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

/// State behind the header, touched under the lock only.
///
/// It is no part of the header, since changing a field in place counts as an access to the whole for the thread
/// sanitizer, which readers of the header would then race with.
@safe struct Ledger {
    var count: UInt32 = 0
    /// Cells not given out yet.
    var spareCount: UInt32
    var spare: UnsafeMutablePointer<Cell>
    /// What `free` frees, each starts with the next's address.
    var chunks: UnsafeMutableRawPointer?
}
