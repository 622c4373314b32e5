public import Fugu

extension Container {
    /// Returns a view of the values under a prefix: its `port` is the container's `database.port`.
    ///
    /// - Parameter prefix: The dotted name of a table.
    public func section(_ prefix: String) -> ConfigurationSection {
        ConfigurationSection(container: self, prefix: prefix)
    }

    /// Reads several values of one moment: none of them is from before a reload and another from after it.
    ///
    ///     let (host, port) = container.snapshot { ($0.host, $0.port) }
    ///
    /// If the sources of the container or of an ancestor are replaced meanwhile, it reads again. Values that code sets at the
    /// same time are not held back; use `update` on the writing side for those.
    ///
    /// - Parameter read: Reads the values; it may run several times.
    public func snapshot<Result>(_ read: (Container) throws -> Result) rethrows -> Result {
        while true {
            let before = allSources
            let result = try read(self)
            if before.elementsEqual(allSources, by: { $0 === $1 }) { return result }
        }
    }
}

/// The values of a container under a prefix.
public struct ConfigurationSection: Sendable {
    /// The container that is read.
    public let container: Container
    /// The dotted name before all names.
    public let prefix: String

    /// Returns what code or a source gives under a name in this section; `nil` if nothing does. See
    /// `property(_:as:)` of the container.
    public func property<Value: Decodable & Sendable>(_ name: String, as type: Value.Type = Value.self) throws -> Value?
    {
        try container.property("\(prefix).\(name)", as: type)
    }

    /// Returns a section of this one.
    public func section(_ name: String) -> ConfigurationSection {
        ConfigurationSection(container: container, prefix: "\(prefix).\(name)")
    }
}
