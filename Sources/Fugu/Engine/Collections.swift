// Lists, tables, and sets whose functions the compiler writes once.

/// A list in the order of additions, from which removing an element takes constant time on average.
struct SparseList<Element: WordIdentifier> {
    /// The elements, with holes where some were removed.
    private(set) var slots: [Element?] = []
    /// The indices of the elements, once there are many.
    private var indices = WordTable<UInt, Int>()
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var all: [Element] { slots.compactMap(\.self) }
    var last: Element? { slots.last ?? nil }

    private func index(of element: Element) -> Int? {
        slots.count > 8 ? indices[element.word] : slots.firstIndex { $0?.word == element.word }
    }

    mutating func append(_ element: Element) {
        slots.append(element)
        count += 1
        if slots.count <= 8 { return }
        let first = slots.count == 9 ? 0 : slots.count - 1
        if first == 0 { indices = WordTable() }
        for index in first..<slots.count { if let element = slots[index] { indices[element.word] = index } }
    }

    /// Adds an element that isn't there yet, and returns whether it did.
    mutating func append(unlessThere element: Element) -> Bool {
        if index(of: element) != nil { return false }
        append(element)
        return true
    }

    /// Removes an element, and returns whether it was there.
    @discardableResult
    mutating func remove(_ element: Element) -> Bool {
        guard let index = index(of: element), index < slots.count, slots[index]?.word == element.word else {
            return false
        }
        count -= 1
        if slots.count > 8 { indices[element.word] = nil }
        slots[index] = nil
        while case .some(nil) = slots.last { slots.removeLast() }
        if slots.count > 2 * count, count == 0 || slots.count > 16 { for element in takeAll() { append(element) } }
        return true
    }

    mutating func takeAll() -> [Element] { take().all }

    mutating func take() -> SparseList {
        defer { self = SparseList() }
        return self
    }
}

/// What a word tells apart from others of its kind.
protocol WordIdentifier: Sendable { var word: UInt { get } }

extension WordIdentifier where Self: AnyObject { var word: UInt { ObjectIdentifier(self).word } }

extension UInt: WordIdentifier { var word: UInt { self } }
extension Key: WordIdentifier { var word: UInt { raw } }
extension ObjectIdentifier: WordIdentifier { var word: UInt { UInt(bitPattern: self) } }

/// A dictionary by keys, or by objects, for what few containers have.
///
/// The compiler writes the functions of a dictionary once for each type of values; these all use the same ones.
struct WordTable<ID: WordIdentifier, Value: Sendable>: Sendable {
    private var payloads: [UInt: Payload] = [:]

    var isEmpty: Bool { payloads.isEmpty }
    var count: Int { payloads.count }
    var values: [Value] { payloads.values.map { $0.value(as: Value.self) } }

    func contains(_ id: ID) -> Bool { payloads.find(id.word) != nil }

    subscript(id: ID) -> Value? {
        get { payloads.find(id.word)?.value(as: Value.self) }
        set { payloads.put(newValue.map { Payload($0) }, at: id.word) }
    }
}

extension [UInt: Payload] {
    // Not a part of each function that has a table.
    @inline(never) fileprivate func find(_ word: UInt) -> Payload? { self[word] }
    @inline(never) fileprivate mutating func put(_ payload: Payload?, at word: UInt) { self[word] = payload }
}

typealias KeyTable<Value: Sendable> = WordTable<Key, Value>

extension WordTable where ID == Key {
    var keys: [Key] { payloads.keys.map { Key(raw: $0) } }
    /// The keys with their values.
    var entries: [(key: Key, value: Value)] {
        payloads.map { (Key(raw: $0.key), $0.value.value(as: Value.self)) }
    }
}

extension KeyTable<Set<Key>> {
    /// Adds a key to the set of another one, and returns whether it's new.
    mutating func insert(_ key: Key, for other: Key) -> Bool {
        var known = self[other] ?? []
        defer { self[other] = known }
        return known.insert(key).inserted
    }
}

/// A set of objects, which it doesn't keep.
typealias ObjectSet = WordTable<ObjectIdentifier, Void>

extension ObjectSet {
    init(_ objects: [some AnyObject]) { for object in objects { insert(object) } }

    func contains(_ object: AnyObject) -> Bool { contains(ObjectIdentifier(object)) }

    /// Adds an object, and returns whether it's new.
    @discardableResult
    mutating func insert(_ object: AnyObject) -> Bool {
        if contains(object) { return false }
        self[ObjectIdentifier(object)] = ()
        return true
    }
}

/// A key, and the object by which what it names is told apart from others of that key.
struct KeyOfObject: Hashable {
    let key: Key
    let object: ObjectIdentifier?
}
