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
