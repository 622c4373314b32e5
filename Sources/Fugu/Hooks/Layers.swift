/// One of the places that a value can come from.
package enum ValueLayer<Value: Sendable>: Sendable {
    case code(Value)
    case rule(Value)
    case sources(any ValueSources, SourceAnswer<Value>)
}

extension Container {
    /// All that may have a value for the key, in the order in which a read heeds them.
    ///
    /// It does not count as a read.
    package func layers<Value>(of key: PropertyKey<Value>) -> [ValueLayer<Value>] { layers(of: Request(key)) }

    /// All that may have a value for the property, in the order in which a read heeds them.
    ///
    /// It does not count as a read.
    package func layers<P: Property>(of property: P.Type) -> [ValueLayer<P.Value>] { layers(of: Request(property)) }

    private func layers<Value: Sendable>(of request: Request) -> [ValueLayer<Value>] {
        let node = backing.node
        node.prepareScopes()
        var held: [(payload: Payload?, isRule: Bool, sources: (any ValueSources)?)] = []
        node.family.lock.withLock {
            for node in node.path {
                let cell = node.storage.existingCell(request.key)
                let payload = cell?.standing == CellState.held ? cell?.payload : nil
                held.append((payload, node.storage.facts.scopes?.layer != nil, node.storage.facts.sources))
            }
        }
        var layers: [ValueLayer<Value>] = []
        for (payload, isRule, sources) in held {
            if let value = payload?.value(as: Value.self) { layers.append(isRule ? .rule(value) : .code(value)) }
            if let sources { layers.append(.sources(sources, request.naming?.answer(of: sources) ?? .nothing)) }
        }
        return layers
    }

    /// The sources of this container and its ancestors, nearest first.
    package var allSources: [any ValueSources] {
        let node = backing.node
        return node.family.lock.withLock { node.path.compactMap { $0.storage.facts.sources } }
    }

    /// The names of this container's family that were read or are observed.
    package var knownNames: [String] {
        let family = backing.node.family
        return family.lock.withLock { family.namings.values.map(\.name) }
    }
}

extension PropertyNaming {
    /// What sources say, as the type of the key's value, which `Value` must be.
    fileprivate func answer<Value: Sendable>(of sources: any ValueSources) -> SourceAnswer<Value> {
        switch ask(sources) {
        case .nothing: .nothing
        case .value(let payload): .value(payload.value(as: Value.self))
        case .failure(let error): .failure(error)
        }
    }
}
