/// Those who wait for a load, in the order in which they came.
///
/// Leaving takes the same time however many there are.
struct WaiterQueue {
    private var slots: [Waiter?] = []
    private var places: [ObjectIdentifier: Int] = [:]
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ waiter: Waiter) {
        // Only tasks leave; a thread waits to the end.
        if case .task(let task) = waiter { places[ObjectIdentifier(task)] = slots.count }
        slots.append(waiter)
        count += 1
    }

    mutating func remove(_ task: TaskWaiter) {
        guard let place = places.removeValue(forKey: ObjectIdentifier(task)) else { return }
        slots[place] = nil
        count -= 1
        if slots.count > 16, slots.count > 2 * count { compact() }
    }

    private mutating func compact() {
        let waiting = takeAll()
        for waiter in waiting { append(waiter) }
    }

    mutating func takeAll() -> [Waiter] {
        let waiting = slots.compactMap { $0 }
        self = WaiterQueue()
        return waiting
    }
}
