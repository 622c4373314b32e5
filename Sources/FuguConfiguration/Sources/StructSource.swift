/// A source of the values of a Swift instance, by the names of its stored properties.
///
/// Structs and classes become tables, including inherited properties. An optional becomes its value, and is left out if
/// it's `nil`, also from an array. Arrays stay arrays, sets become arrays, and dictionaries with string keys become tables. An
/// enumeration becomes its raw value or the name of its case. A property with a wrapper becomes its `wrappedValue` if the wrapper
/// stores that, and otherwise what the wrapper stores. `Date`, `URL`, `UUID`, `Decimal`, `Data`, and `Duration` are values
/// themselves; dates are kept to the nanosecond. A type that decodes from its `description`, or from what its only property
/// holds, but not from a table, becomes that.
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
