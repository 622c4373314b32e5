import Fugu

/// A source of the values of a Swift instance, by the names of its stored properties.
///
/// Structs and classes become tables, including inherited properties. An optional becomes its value, and is left out if
/// it's `nil`, also from an array. Arrays stay arrays, sets become arrays, and dictionaries with string keys become tables. An
/// enumeration becomes its raw value or the name of its case. A property with a wrapper becomes its `wrappedValue` if the wrapper
/// stores that, and otherwise what the wrapper stores. `Date`, `URL`, `UUID`, `Decimal`, `Data`, and `Duration` are values
/// themselves, as are `DateComponents` of a day, a time, or both; dates are kept to the nanosecond. A type that decodes
/// from its `description`, or from what its only property holds, but not from a table, becomes that.
public struct StructSource: CountedSource {
    private let values: Result<[String: PropertyValue], PropertyError>
    /// The name of the type, unless you gave another.
    public let name: String

    /// Creates a source of the values of an instance.
    ///
    /// - Parameters:
    ///   - value: An instance of a struct or a class. It's read at this call and not kept.
    ///   - name: The name of the source in errors. The default is the name of the type.
    /// - Complexity: O(*n*) for *n* stored properties and elements.
    public init(reflecting value: Any, name: String? = nil) {
        let name = name ?? "\(type(of: value))"
        self.name = name
        values = Result { () throws(PropertyError) in
            var reflection = Reflection(source: name)
            return try reflection.table(of: value)
        }
    }

    var valueCount: Int { (try? values.get().count) ?? 0 }

    /// Returns the values.
    ///
    /// - Returns: The values.
    /// - Throws: ``PropertyError`` if an instance refers to itself or holds something that can't be a configuration
    ///   value.
    public func load() throws(PropertyError) -> PropertySnapshot { try PropertySnapshot(values.get(), source: name) }
}

/// A source of values from Swift: `["api": ["timeout": 30]]` or `["api.timeout": 30]`.
public struct DictionarySource: CountedSource {
    private let values: [String: PropertyValue]
    /// The name of the source in errors.
    public let name: String

    /// Creates a source of values.
    ///
    /// - Parameters:
    ///   - values: The values. A name with dots answers like a nested one.
    ///   - name: The name of the source in errors.
    public init(_ values: [String: PropertyValue], name: String) {
        self.values = values
        self.name = name
    }

    var valueCount: Int { values.count }

    /// Returns the values.
    ///
    /// - Returns: The values.
    /// - Throws: ``PropertyError`` if a dotted name also occurs nested.
    /// - Complexity: O(*n*) for *n* values.
    public func load() throws(PropertyError) -> PropertySnapshot { try PropertySnapshot(values, source: name) }
}

/// Converts the stored properties of an instance to values.
struct Reflection {
    let source: String
    /// Whether to leave out members that can't be configuration values.
    private let leavesOut: Bool
    private var path: [String] = []
    /// The class instances that are being converted, which reveal one that refers back to itself.
    private var owners: [ObjectIdentifier] = []

    init(source: String, leavesOut: Bool = false) {
        self.source = source
        self.leavesOut = leavesOut
    }

    mutating func table(of value: Any) throws(PropertyError) -> [String: PropertyValue] {
        guard case .table(let members)? = try propertyValue(of: value) else {
            throw failure(ErrorText.notConfiguration("\(type(of: value))"))
        }
        return members
    }

    /// Returns the configuration value of a Swift value, or `nil` if it can't be one or is an empty optional.
    static func value(of value: Any) -> PropertyValue? {
        var reflection = Reflection(source: "", leavesOut: true)
        return (try? reflection.propertyValue(of: value)) ?? nil
    }

    /// Returns the configuration value, or `nil` for an empty optional.
    private mutating func propertyValue(of value: Any) throws(PropertyError) -> PropertyValue? {
        guard path.count < NodeStore.depthLimit else { throw failure(ErrorText.nestedTooDeep) }
        if let scalar = try scalar(value) ?? foundationPropertyValue(of: value) { return scalar }
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional {
            guard let wrapped = mirror.children.first else { return nil }
            return try propertyValue(of: wrapped.value)
        }
        if let raw = value as? any RawRepresentable { return try propertyValue(of: raw.rawValue) }
        switch mirror.displayStyle {
        case .collection: return .array(try elements(mirror))
        case .set: return .array(Self.sorted(try elements(mirror)))
        case .dictionary: return try dictionary(value, mirror)
        case .enum where mirror.children.isEmpty: return .string(caseName(of: value))
        case .struct where !Self.isOfLibrary(value): return readable(.table(try members(mirror)), value)
        case .class where !Self.isOfLibrary(value):
            return readable(.table(try instance(value as AnyObject, mirror)), value)
        default: throw failure(ErrorText.notConfiguration("\(type(of: value))"))
        }
    }

    /// Returns the table, or the text or the only member in its place if the type decodes only from that.
    private func readable(_ table: PropertyValue, _ value: Any) -> PropertyValue {
        guard let value = value as? any Decodable else { return table }
        let type: any Decodable.Type = type(of: value)
        if TypeShape.hasMembers(type) { return table }
        var candidates = [table]
        // Not the description that every value has: nobody wrote it to be read.
        if let text = (value as? any CustomStringConvertible)?.description {
            candidates.append(.string(text))
        }
        if case .table(let members) = table, members.count == 1 { candidates += members.values }
        return candidates.first { TOMLText.isRead($0, as: value) } ?? table
    }

    private func scalar(_ value: Any) throws(PropertyError) -> PropertyValue? {
        switch value {
        case let value as PropertyValue: return value
        case let value as Bool: return .bool(value)
        case let value as any BinaryInteger:
            guard let integer = Int128(exactly: value) else {
                throw failure(ErrorText.integerOutOfRange("\(type(of: value))"))
            }
            return .integer(integer)
        case let value as any BinaryFloatingPoint: return .double(Double("\(value)") ?? Double(value))
        case let value as any StringProtocol: return .string(String(value))
        case let value as Character: return .string(String(value))
        case let value as Duration: return .string(DurationWords.seconds(value))
        default: return nil
        }
    }

    /// Returns whether the type belongs to the standard library, whose mirrors show no configuration.
    static func isOfLibrary(_ value: Any) -> Bool {
        let module = String(reflecting: type(of: value)).prefix { $0 != "." }
        return ["Swift", "Foundation", "FoundationEssentials", "FoundationInternationalization"].contains(module)
    }

    // MARK: Containers

    private mutating func elements(_ mirror: Mirror) throws(PropertyError) -> [PropertyValue] {
        var values: [PropertyValue] = []
        for (index, child) in mirror.children.enumerated() {
            if let value = try nested("[\(index)]", child.value) { values.append(value) }
        }
        return values
    }

    /// Returns the elements of a set in an order that is the same in each run.
    static func sorted<Element>(_ elements: [Element]) -> [Element] {
        elements.map { (number: Double("\($0)") ?? 0, text: "\($0)", element: $0) }
            .sorted { ($0.number, $0.text) < ($1.number, $1.text) }.map(\.element)
    }

    private mutating func dictionary(_ value: Any, _ mirror: Mirror) throws(PropertyError) -> PropertyValue {
        var members: [String: PropertyValue] = [:]
        for pair in mirror.children {
            let parts = Array(Mirror(reflecting: pair.value).children)
            guard parts.count == 2, let name = try key(parts[0].value) else {
                throw failure(ErrorText.notConfiguration("\(type(of: value))"))
            }
            if let value = try nested(name, parts[1].value) { members[name] = value }
        }
        return .table(members)
    }

    /// Returns the text from which the key of a dictionary is decoded.
    private mutating func key(_ value: Any) throws(PropertyError) -> String? {
        switch try propertyValue(of: value) {
        case .string(let text)?: text
        case .integer(let number)?: "\(number)"
        default: nil
        }
    }

    private mutating func members(_ mirror: Mirror) throws(PropertyError) -> [String: PropertyValue] {
        var members =
            try mirror.superclassMirror.map { (mirror) throws(PropertyError) in try self.members(mirror) } ?? [:]
        for child in mirror.children {
            guard let (name, content) = property(child) else { continue }
            do {
                if let value = try nested(name, content) { members[name] = value }
            } catch {
                guard leavesOut else { throw error }
            }
        }
        return members
    }

    /// Returns the name and the value of a stored property.
    ///
    /// A property with a wrapper is stored as the wrapper, with an underscore before its name; the wrapped value is
    /// used, if the wrapper stores it. A lazy property is stored as an optional.
    private func property(_ child: Mirror.Child) -> (name: String, value: Any)? {
        guard let label = child.label else { return nil }
        let lazy = "$__lazy_storage_$_"
        if label.hasPrefix(lazy) { return (String(label.dropFirst(lazy.count)), child.value) }
        guard label.hasPrefix("_"), label.count > 1,
            let wrapped = Mirror(reflecting: child.value).children.first(where: { $0.label == "wrappedValue" })
        else { return (label, child.value) }
        return (String(label.dropFirst()), wrapped.value)
    }

    private mutating func instance(_ object: AnyObject, _ mirror: Mirror) throws(PropertyError) -> [String:
        PropertyValue]
    {
        let id = ObjectIdentifier(object)
        guard !owners.contains(id) else { throw failure(ErrorText.cycle([source] + path)) }
        owners.append(id)
        defer { owners.removeLast() }
        return try members(mirror)
    }

    private mutating func nested(_ name: String, _ value: Any) throws(PropertyError) -> PropertyValue? {
        path.append(name)
        defer { path.removeLast() }
        return try propertyValue(of: value)
    }

    private func failure(_ reason: String) -> PropertyError {
        let name = path.reduce("") { $0 + ($0.isEmpty || $1.hasPrefix("[") ? "" : ".") + $1 }
        return PropertyError(reason, source: source, name: name.isEmpty ? nil : name)
    }
}

/// Returns the runtime's name for the case of a value, which a type's `description` can't change.
@_silgen_name("swift_EnumCaseName")
private func runtimeCaseName<Value>(_ value: Value) -> UnsafePointer<CChar>?

private func caseName(of value: Any) -> String {
    func name<Value>(_ value: Value) -> String? {
        unsafe runtimeCaseName(value).flatMap { unsafe String(validatingCString: $0) }
    }
    return _openExistential(value, do: name) ?? "\(value)"
}
