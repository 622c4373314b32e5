public import Fugu

/// A key that a list for `declare` and `validate` can hold: a `PropertyKey` of a
/// decodable value.
///
/// Only `PropertyKey` conforms to it.
public protocol ConfigurationKey: Sendable {}

extension PropertyKey: ConfigurationKey where Value: Decodable {}

extension SourceAnswer {
    /// The error, if the answer is one.
    var mistake: PropertyError? {
        if case .failure(let error) = self { error as? PropertyError ?? PropertyError("\(error)") } else { nil }
    }
}
