extension Container {
    /// Adds an element to a list, here and in all descendants that don't set the list themselves.
    ///
    /// Declare the list as a feature whose instance is an array. The modules of a program, its tests, and children add elements,
    /// and none of them knows of the others:
    ///
    /// ```swift
    /// extension ContainerKeys {
    ///     var routes: FeatureKey<[Route]> { .init { _ in [] } }
    /// }
    ///
    /// container.contribute(to: \.routes) { Route("/links", store: $0[LinkStore.self]) }
    /// container.contribute(to: \.routes) { _ in Route("/health") }
    /// ```
    ///
    /// The list begins with what its own load creates, followed by the elements of the root, and so on down to those of the
    /// container that you ask, each in the order of the calls. Each element is loaded by itself, once, and lives where its own
    /// inputs live, so a child that overrides an input of one element gets a list in which only that element is its own. In graphs,
    /// an element has the place of its call.
    ///
    /// What `decorate` adds to the list in this container is around all its elements, whatever the order of the calls.
    ///
    /// A list with contributions counts as set: `reset` removes those of this container, and setting the list discards
    /// them. If an ancestor sets the list or adds to it later, the next read in the child has the new elements, and those that
    /// stay aren't loaded again. A read of the list nests a load for each container on the way that has contributions.
    ///
    /// - Parameters:
    ///   - list: A key path to the list: `\.routes`.
    ///   - fileID: The file of the call, for graphs.
    ///   - line: The line of the call, for graphs.
    ///   - load: A closure that creates the element, like `load(in:)`.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func contribute<Element: Sendable>(
        to list: (ContainerKeys) -> FeatureKey<[Element]>, fileID: StaticString = #fileID, line: UInt = #line,
        load: @escaping @Sendable (any FeatureContainer) -> Element
    ) {
        let list = Decorated(list(ContainerKeys()))
        let layer = Layer(
            .element(
                SourcePlace(fileID, line), Replacement(load: { Payload(load($0)) }),
                list: { within, elements in
                    Replacement(load: { handle in
                        var instances = try list.read(within, in: handle).value(as: [Element].self)
                        instances.reserveCapacity(instances.count + elements.count)
                        for element in elements.all.reversed() {
                            instances.append(try handle.read(element).value(as: Element.self))
                        }
                        return Payload(instances)
                    })
                }))
        add(layer, to: list.key)
    }

    /// Adds an element to a list, here and in all descendants that don't set the list themselves.
    ///
    /// See `contribute(to:fileID:line:load:)`.
    ///
    /// - Parameters:
    ///   - list: The type of a feature whose instance is an array.
    ///   - fileID: The file of the call, for graphs.
    ///   - line: The line of the call, for graphs.
    ///   - load: A closure that creates the element, like `load(in:)`.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    @_alwaysEmitIntoClient
    public func contribute<List: Feature, Element: Sendable>(
        to list: List.Type, fileID: StaticString = #fileID, line: UInt = #line,
        load: @escaping @Sendable (any FeatureContainer) -> Element
    ) where List.Instance == [Element] {
        contribute(to: { _ in FeatureKey(List.self) }, fileID: fileID, line: line, load: load)
    }
}

extension Container {
    fileprivate func read(_ layer: Layers) throws -> Payload {
        guard case .element(_, let loader, _) = layer.layer.kind, let key = layer.element else {
            throw CancellationError()
        }
        // An element reloads if the list that reads it does.
        let reloads = recorder?.facts.followed == .all
        // If the list was reset meanwhile, nothing else has the loader.
        return try read(key, nil, { Request(key.raw, reloads: reloads) }, loader.load)
    }
}
