/// How a named key is asked of sources. Made by this library for named keys; there is nothing to do with it outside.
public struct PropertyNaming: Sendable {
    /// The dotted path.
    package let name: String
    /// Whether the value must never be printed.
    package let isSecret: Bool
    let equal: Equality
    let ask: @Sendable (any ValueSources) -> SourceAnswer<Payload>

    init<Value: Decodable & Sendable>(_ name: String, _: Value.Type, isSecret: Bool) {
        self.name = name
        self.isSecret = isSecret
        equal = Request.equality(of: Value.self)
        ask = { sources in
            switch sources.answer(name, as: Value.self, isSecret: isSecret) {
            case .nothing: .nothing
            case .value(let value): .value(Payload(value))
            case .failure(let error): .failure(error)
            }
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
