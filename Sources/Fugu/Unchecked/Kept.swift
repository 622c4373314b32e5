// What the lock of a family protects and may be the last to refer to something of the user's. Releasing that runs a `deinit`,
// which may use the family. So nothing is removed or overwritten here: it leaves into garbage, or moves to the caller.
//
// The types can be copied, because `dump` of an object that keeps a container crashes at a stored property that can't be.

/// A variable that may keep something of the user's.
@safe struct Kept<Value: Sendable> {
    private(set) var value: Value

    init(_ value: Value) { self.value = value }

    /// Replaces the value, and moves the former one into the garbage.
    mutating func replace(by new: Value, _ garbage: inout Garbage) {
        garbage.add(Retained(value))
        value = new
    }

    /// Replaces the object, and moves the former one into the garbage, which allocates nothing for it.
    @inline(__always)
    mutating func set<Object: AnyObject>(_ new: Object?, _ garbage: inout Garbage) where Value == Object? {
        if let value { garbage.add(value) }
        value = new
    }

    /// Replaces the payload, and moves the former one into the garbage.
    mutating func set(_ new: Payload?, _ garbage: inout Garbage) where Value == Payload? {
        garbage.add(value?.box)
        value = new
    }

    /// Adds to a collection; `body` must remove nothing.
    mutating func grow(_ body: (inout Value) -> Void) { body(&value) }

    /// Adds an element.
    mutating func append<Element>(_ element: Element) where Value == [Element] { value.append(element) }

    /// Moves all elements to the caller, who lets them go outside the lock.
    mutating func takeAll<Element>() -> [Element] where Value == [Element] {
        var all: [Element] = []
        swap(&all, &value)
        return all
    }
}

/// A queue of what may keep something of the user's.
struct Queue<Element: Sendable> {
    /// The elements, after empty slots of those that were taken.
    private var slots: [Element?] = []
    private var start = 0

    var isEmpty: Bool { start == slots.count }
    var last: Element? { slots.last ?? nil }
    /// Returns a part of the first element, which isn't copied.
    @inline(__always)
    func first<Part>(_ part: (Element) -> Part) -> Part? { isEmpty ? nil : slots[start].map(part) }
    func contains(_ isMeant: (Element) -> Bool) -> Bool { slots[start...].contains { isMeant($0!) } }

    mutating func append(_ element: Element) { slots.append(element) }

    /// Moves the first element to the caller, who lets it go outside the lock.
    mutating func takeFirst() -> Element {
        // Nearly always the case, and cheaper.
        if slots.count == 1 { return slots.removeLast()! }
        let element = slots[start].take()!
        start += 1
        if isEmpty || start >= 64 && start * 2 > slots.count {
            slots.removeFirst(start)
            start = 0
        }
        return element
    }

    /// Moves all elements into the garbage.
    mutating func removeAll(_ garbage: inout Garbage) {
        garbage.add(Retained(slots))
        (slots, start) = ([], 0)
    }
}
