public import Configuration
public import Fugu
import FuguConfiguration

/// A reader, for libraries that take `any PropertyReader`.
///
///     let pool = try Pool(settings: ConfigReader(provider: EnvironmentVariablesProvider()).scoped(to: "pool"))
///
/// It gives texts, numbers, Boolean values, and lists of them, but no tables.
extension ConfigReader: @retroactive PropertyReader {
    /// Returns the value that the providers have under a name now.
    public func property<Value: Decodable & Sendable>(_ name: String, as type: Value.Type) throws -> Value? {
        try ConfigReaderSource(self).load().property(name, as: type)
    }
}
