/// Values of a Swift instance, by the names of its stored properties.
///
/// Structs and classes become tables, inherited properties among their own; an optional is what it holds, and left out
/// if that is nil; arrays stay as they are, sets become arrays, dictionaries with string keys tables, enumerations
/// their raw value or the name of their case, whatever they say in their `description`; of a property with a wrapper what
/// the wrapper holds as `wrappedValue`. `Date`, `URL`, `UUID`, `Decimal`, `Data` and `Duration` are values
/// themselves.
public struct StructSource: CountedSource {
    private let values: Result<[String: PropertyValue], PropertyError>
    /// The name of the type, unless another was given.
    public let name: String

    /// - Parameters:
    ///   - value: an instance of a struct or a class. It is read now and not kept: what changes in it later is not
    ///     seen.
    ///   - name: what the source is called in errors, the name of the type unless said.
    public init(reflecting value: Any, name: String? = nil) {
        let name = name ?? "\(type(of: value))"
        self.name = name
        values = Result { () throws(PropertyError) in
            var reflection = Reflection(source: name)
            return try reflection.table(of: value)
        }
    }

    var valueCount: Int { (try? values.get().count) ?? 0 }

    /// Throws if an instance leads back to itself or holds something that has no form as a configuration value.
    public func load() throws(PropertyError) -> PropertySnapshot { try PropertySnapshot(values.get(), source: name) }
}
