/// A list that keeps its first two elements without an allocation, since most lists have no more.
struct SmallList<Element> {
    private(set) var first: Element?
    private var second: Element?
    private var others: [Element] = []

    init() {}
    init(only element: Element) { first = element }
    init(_ elements: [Element]) { for element in elements { append(element) } }

    var isEmpty: Bool { first == nil }

    mutating func append(_ element: Element) {
        if first == nil { first = element } else if second == nil { second = element } else { others.append(element) }
    }

    /// Removes and returns all elements.
    mutating func take() -> SmallList {
        defer { self = SmallList() }
        return self
    }

    @inline(__always)
    func forEach(_ body: (Element) -> Void) {
        guard let first else { return }
        body(first)
        guard let second else { return }
        body(second)
        for element in others { body(element) }
    }
}
