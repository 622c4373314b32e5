import Fugu

/// An origin of a value.
enum ValueOrigin<Value: Sendable>: Sendable {
    case code(Value)
    case rule(Value)
    case sources(any ValueSources, SourceAnswer<Value>)
}

extension Array {
    /// The answer of the first layer that has one.
    func answer<Value>() -> SourceAnswer<Value> where Element == ValueOrigin<Value> {
        for layer in self {
            switch layer {
            case .code(let value), .rule(let value): return .value(value)
            case .sources(_, .nothing): continue
            case .sources(_, let answer): return answer
            }
        }
        return .nothing
    }
}

extension Container {
    /// Returns everything that has a value for the key, in order of precedence.
    ///
    /// It doesn't count as a read.
    func origins<Value>(of key: PropertyKey<Value>) -> [ValueOrigin<Value>] {
        heldValues(of: key._key).flatMap { held in
            var origins: [ValueOrigin<Value>] = []
            if let code = held.code { origins.append(.code(code.value(as: Value.self))) }
            if let rule = held.rule { origins.append(.rule(rule.value(as: Value.self))) }
            if let (sources, answer) = held.supplied { origins.append(.sources(sources, answer.typed())) }
            return origins
        }
    }
}

extension SourceAnswer<Payload> {
    /// Returns the answer as the type of the key's value, which `Value` must be.
    fileprivate func typed<Typed: Sendable>() -> SourceAnswer<Typed> {
        switch self {
        case .nothing: .nothing
        case .value(let payload): .value(payload.value(as: Typed.self))
        case .failure(let error): .failure(error)
        }
    }
}
