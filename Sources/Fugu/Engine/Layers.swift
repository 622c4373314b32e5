/// One of the places that a value can come from.
package enum ValueLayer<Value: Sendable>: Sendable {
    case code(Value)
    case rule(Value)
    case sources(any ValueSources)
}

extension Container {
    /// All that has or may have a value for the key, in the order in which a read heeds them. From now on the key counts
    /// as read.
    package func layers<Value>(of key: PropertyKey<Value>) -> [ValueLayer<Value>] { layers(of: Request(key)) }

    /// All that has or may have a value for the property, in the order in which a read heeds them. From now on it counts
    /// as read.
    package func layers<P: Property>(of property: P.Type) -> [ValueLayer<P.Value>] { layers(of: Request(property)) }

    private func layers<Value: Sendable>(of request: Request) -> [ValueLayer<Value>] {
        let node = backing.node
        node.prepareScopes()
        var held: [(payload: Payload?, isRule: Bool, sources: (any ValueSources)?)] = []
        node.family.lock.withLock {
            node.family.note(request.naming, of: request.key)
            for node in node.path {
                var payload: Payload?
                if let cell = node.storage.existingCell(request.key), cell.standing == CellState.held {
                    payload = cell.payload
                }
                held.append((payload, node.storage.facts.scopes?.layer != nil, node.storage.facts.sources))
            }
        }
        var layers: [ValueLayer<Value>] = []
        for (payload, isRule, sources) in held {
            if let value = payload?.value(as: Value.self) { layers.append(isRule ? .rule(value) : .code(value)) }
            if let sources { layers.append(.sources(sources)) }
        }
        return layers
    }

    /// The names of this container's family that were read or are observed.
    package var knownNames: [String] {
        let family = backing.node.family
        return family.lock.withLock { family.records.compactMap { $0.facts.value.naming?.name } }
    }
}

extension PropertyNaming {
    /// Why what the sources have for the name is not what is asked for, if so.
    package func mistake(in sources: any ValueSources) -> (any Error)? {
        if case .failure(let error) = ask(sources) { error } else { nil }
    }
}
