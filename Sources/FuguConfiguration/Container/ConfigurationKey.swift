public import Fugu

/// A key whose value can be checked without being read: every ``Fugu/PropertyKey`` of a decodable value.
///
/// Functions that take keys have a separate parameter for types that conform to `NamedProperty`.
public protocol ConfigurationKey: Sendable {
    /// The dotted path that sources look up, if the key has one.
    var name: String? { get }
    /// Returns the problem with the value that a read would take from a source.
    ///
    /// You can call the method from any thread.
    ///
    /// - Parameter container: The container that would be read.
    /// - Returns: The problem, or `nil` if there is none or if code, a rule, or the default gives the value. That nothing
    ///   gives the value of a required key is a problem.
    func mistake(in container: Container) -> PropertyError?
}

extension PropertyKey: ConfigurationKey where Value: Decodable {
    /// Returns the problem with the value that a read would take from a source.
    ///
    /// You can call the method from any thread.
    ///
    /// - Parameter container: The container that would be read.
    /// - Returns: The problem, or `nil` if there is none or if code, a rule, or the default gives the value. That nothing
    ///   gives the value of a required key is a problem.
    public func mistake(in container: Container) -> PropertyError? {
        let answer = container.origins(of: self).answer()
        if isRequired, case .nothing = answer { return container.missing(name, label: name ?? label) }
        return answer.mistake
    }
}

extension SourceAnswer {
    /// The error, if the answer is one.
    var mistake: PropertyError? {
        if case .failure(let error) = self { error as? PropertyError ?? PropertyError("\(error)") } else { nil }
    }
}
