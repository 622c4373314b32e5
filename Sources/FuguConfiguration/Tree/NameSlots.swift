/// An open-addressing hash table of node numbers, with linear probing, at most half full.
///
/// It doesn't know the names.
struct NameSlots: Sendable {
    private var slots: [Int32]
    private var count = 0

    init(capacity: Int = 0) {
        slots = Array(repeating: -1, count: capacity)
    }

    var isFull: Bool { count * 2 >= slots.count }
    var ids: some Sequence<Int32> { slots.lazy.filter { $0 >= 0 } }

    /// An empty table with room for twice as many numbers.
    var larger: NameSlots { NameSlots(capacity: max(64, slots.count * 2)) }

    /// Inserts a number; the table must not be full.
    mutating func insert(_ id: Int32, hash: Int) {
        var slot = hash & (slots.count - 1)
        while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = id
        count += 1
    }

    func first(hash: Int, where matches: (Int32) -> Bool) -> Int32? {
        guard !slots.isEmpty else { return nil }
        var slot = hash & (slots.count - 1)
        while slots[slot] >= 0 {
            if matches(slots[slot]) { return slots[slot] }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }
}
