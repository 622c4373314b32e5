/// How a named key is asked of sources. Made by this library for named keys; there is nothing to do with it outside.
public struct PropertyNaming: Sendable {
    /// The dotted path.
    package let name: String
    private let isSecretItself: Bool
    /// Whether the value must never be printed: a key of this name, or of one within it or around it, says so.
    package var isSecret: Bool { isSecretItself || SecretNames.concern(name) }
    let equal: Equality
    let ask: @Sendable (any ValueSources) -> SourceAnswer<Payload>

    /// - Parameter isDeclared: Whether `isSecret` was said of the name and so holds for others of that name; not if it is
    ///   only meant to be on the safe side.
    init<Value: Decodable & Sendable>(_ name: String, _: Value.Type, isSecret: Bool, isDeclared: Bool = true) {
        self.name = name
        isSecretItself = isSecret
        if isSecret, isDeclared { SecretNames.add(name) }
        equal = Equality(of: Value.self)
        ask = { sources in
            let isSecret = isSecret || SecretNames.concern(name)
            return switch sources.answer(name, as: Value.self, isSecret: isSecret) {
            case .nothing: .nothing
            case .value(let value): .value(Payload(value))
            case .failure(let error): .failure(error)
            }
        }
    }
}

/// The names that some key of the process calls secret.
private enum SecretNames {
    private static let names = Guarded<Set<String>>([])

    static func add(_ name: String) { names.withLock { _ = $0.insert(name) } }

    /// Whether the value of the name is a secret, holds one or is part of one.
    static func concern(_ name: String) -> Bool {
        names.withLock { names in
            names.contains { $0 == name || $0.hasPrefix(name + ".") || name.hasPrefix($0 + ".") }
        }
    }
}

/// All that a container is given from outside, as the one thing that it asks: a name and a type in, a value or an error
/// out. Asked on any thread, outside every lock; one object always answers the same.
package protocol ValueSources: AnyObject, Sendable {
    func answer<Value: Decodable & Sendable>(_ name: String, as: Value.Type, isSecret: Bool) -> SourceAnswer<Value>
    /// These and behind them `others`.
    func over(_ others: any ValueSources) -> any ValueSources
}

/// What sources say to a name.
package enum SourceAnswer<Value: Sendable>: Sendable {
    case nothing
    case value(Value)
    /// There is something, but not what was asked for: whoever reads gets the default, and this is reported once.
    case failure(any Error)
}
