/// A list that keeps its first element without an allocation, since most lists have one element or none.
struct SmallList<Element> {
    private(set) var first: Element?
    private var others: [Element] = []

    init() {}
    init(only element: Element) { first = element }

    init(_ elements: [Element]) {
        first = elements.first
        if elements.count > 1 { others = Array(elements.dropFirst()) }
    }

    var isEmpty: Bool { first == nil }
    var count: Int { first == nil ? 0 : 1 + others.count }
    var last: Element? { others.last ?? first }

    subscript(index: Int) -> Element {
        get { index == 0 ? first! : others[index - 1] }
        set { if index == 0 { first = newValue } else { others[index - 1] = newValue } }
    }

    mutating func append(_ element: Element) { if first == nil { first = element } else { others.append(element) } }

    @discardableResult
    mutating func removeLast() -> Element { others.popLast() ?? first.take()! }

    @inline(__always)
    func forEach(_ body: (Element) -> Void) {
        guard let first else { return }
        body(first)
        for element in others { body(element) }
    }
}
