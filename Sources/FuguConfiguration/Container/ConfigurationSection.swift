public import Fugu

extension PropertyContainer {
    /// Returns a view of the values under a prefix: its `port` is the container's `database.port`.
    ///
    /// - Parameter prefix: The dotted name of a table, or nothing for a view of all values.
    /// - Returns: The view.
    public func section(_ prefix: String = "") -> ConfigurationSection {
        ConfigurationSection(container: _container, prefix: prefix)
    }

    /// Reads several values from the same moment, without a reload in between.
    ///
    ///     let (host, port) = container.snapshot { ($0.host, $0.port) }
    ///
    /// If the sources of the container or of an ancestor are replaced in the meantime, it reads again. It doesn't hold
    /// back values that code sets at the same time.
    ///
    /// Call it on the handle of a load to create an instance from values that belong together, such as a certificate and its
    /// key. The values count as inputs of the load like all that it reads, even if it reads again.
    ///
    /// - Parameter read: A closure that reads the values from the container that it receives. It may run several times; the
    ///   last result counts, whether it's returned or thrown.
    /// - Returns: What `read` returns.
    /// - Throws: What `read` throws.
    /// - Complexity: Besides the closure, O(*d*) for *d* ancestors.
    public func snapshot<Result, E>(_ read: (Self) throws(E) -> Result) throws(E) -> Result {
        try _container.atOneMoment { () throws(E) in try read(self) }
    }
}

/// The values of a container under a prefix.
///
/// Pass one to a library that takes a `PropertyReader`.
public struct ConfigurationSection: PropertyReader {
    /// The container to read from.
    let container: Container
    /// The dotted name that precedes all names, or nothing.
    let prefix: String

    /// Returns the value that code or a source gives under a name in this section.
    ///
    /// - Parameters:
    ///   - name: The dotted path within the section.
    ///   - type: The type of the value.
    /// - Returns: The value, or `nil` if nothing gives one.
    /// - Throws: ``PropertyError`` if the value has another type.
    public func property<Value: Decodable & Sendable>(_ name: String, as type: Value.Type) throws -> Value? {
        try container.property(full(name), as: type)
    }

    /// Returns a section of this section.
    ///
    /// - Parameter name: The dotted name of a table within this one.
    /// - Returns: The section.
    public func section(_ name: String) -> ConfigurationSection {
        ConfigurationSection(container: container, prefix: full(name))
    }

    private func full(_ name: String) -> String { prefix.isEmpty ? name : "\(prefix).\(name)" }
}

/// A key that a list for `declare` and `validate` can hold: a `PropertyKey` of a
/// decodable value.
///
/// Only `PropertyKey` conforms to it.
public protocol ConfigurationKey: Sendable {}

extension PropertyKey: ConfigurationKey where Value: Decodable {}

extension Result where Failure == any Error {
    /// The error, if the answer is one.
    var mistake: PropertyError? {
        if case .failure(let error) = self { error as? PropertyError ?? PropertyError("\(error)") } else { nil }
    }
}
