/// An origin of a value.
package enum ValueOrigin<Value: Sendable>: Sendable {
    case code(Value)
    case rule(Value)
    case sources(any ValueSources, SourceAnswer<Value>)
}

extension Array {
    /// The answer of the first layer that has one.
    package func answer<Value>() -> SourceAnswer<Value> where Element == ValueOrigin<Value> {
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
    package func origins<Value>(of key: PropertyKey<Value>) -> [ValueOrigin<Value>] {
        let (node, request) = (node, Request(key))
        var held: [(code: Payload?, rule: Payload?, sources: (any ValueSources)?)] = []
        node.family.lock.withLock { token in
            for node in node.path {
                let cell = node.storage.existingCell(token, request.key)
                let code = cell?.heldFlags == CellFlags.held ? cell?.payload : nil
                held.append((code, cell?.place?[token].rare?.rule.value, node.storage[token].rare?.sources.value))
            }
        }
        var origins: [ValueOrigin<Value>] = []
        for (code, rule, sources) in held {
            if let value = code?.value(as: Value.self) { origins.append(.code(value)) }
            if let value = rule?.value(as: Value.self) { origins.append(.rule(value)) }
            if let sources { origins.append(.sources(sources, request.naming?.answer(of: sources) ?? .nothing)) }
        }
        return origins
    }

    /// Makes a key an input of the load that reads here, or lets an observable container track it, so that a failure
    /// because of a missing or wrong value is tried again when the value changes.
    package func recordInput<Value>(_ key: PropertyKey<Value>) {
        let (node, reader, request) = (node, recorder, Request(key))
        let load = node.family.lock.withLock { token in reader ?? node.ownRecorder(token) { Frame.current } }
        // Otherwise nothing would try again, so the name need not be learned yet.
        guard load != nil || isTracking, present(request.key, request.naming) == nil else { return }
        node.family.lock.withLock { token in load?.recordMissing(token, of: request.key) }
    }

    /// The sources of this container and its ancestors, nearest first.
    package var allSources: [any ValueSources] {
        let node = node
        return node.family.lock.withLock { token in node.path.compactMap { $0.storage[token].rare?.sources.value } }
    }

    /// The names that were read or are observed in this container's family.
    package var knownNames: [String] {
        let family = node.family
        return family.lock.withLock { token in family.state[token].namings.values.map(\.name) }
    }
}

extension PropertyNaming {
    /// Returns the answer of sources as the type of the key's value, which `Value` must be.
    fileprivate func answer<Value: Sendable>(of sources: any ValueSources) -> SourceAnswer<Value> {
        switch ask(sources) {
        case .nothing: .nothing
        case .value(let payload): .value(payload.value(as: Value.self))
        case .failure(let error): .failure(error)
        }
    }
}
