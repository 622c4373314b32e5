/// The state of a key as it is seen from somewhere: where the value stands, and when it last changed there.
struct Stamp: Equatable {
    let cell: CellReference
    private let changed: UInt64

    /// Makes a stamp of a cell, whose changes are counted from now on.
    init(_ token: LockToken, of cell: CellReference) {
        self.cell = cell
        changed = cell.makeState()[token].changed
    }
}
