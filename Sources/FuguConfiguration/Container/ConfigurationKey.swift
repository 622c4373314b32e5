public import Fugu

/// A key whose value can be checked without being read: every ``Fugu/PropertyKey`` of a decodable value. A type that is a
/// `NamedProperty` is passed as such where keys are.
public protocol ConfigurationKey: Sendable {
    /// The dotted path under which sources are asked, if there is one.
    var name: String? { get }
    /// Returns what is wrong with the value that a read in `container` would take from a source; `nil` if nothing is, or if
    /// code, a rule or only the default gives the value. May be called from any thread.
    func mistake(in container: Container) -> PropertyError?
}

extension PropertyKey: ConfigurationKey where Value: Decodable {
    /// Returns what is wrong with the value that a read in `container` would take from a source; `nil` if nothing is, or if
    /// code, a rule or only the default gives the value.
    public func mistake(in container: Container) -> PropertyError? { answer(container.layers(of: self)).mistake }
}

/// Returns what the first of the layers says that says anything.
func answer<Value>(_ layers: [ValueLayer<Value>]) -> SourceAnswer<Value> {
    for layer in layers {
        switch layer {
        case .code(let value), .rule(let value): return .value(value)
        case .sources(_, .nothing): continue
        case .sources(_, let answer): return answer
        }
    }
    return .nothing
}

extension SourceAnswer {
    /// What is wrong, if something is.
    var mistake: PropertyError? {
        if case .failure(let error) = self { error as? PropertyError ?? PropertyError("\(error)") } else { nil }
    }
}
