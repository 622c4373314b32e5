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
    /// The list begins with what the container had or inherited before the first call: what was set, or what its load creates. The
    /// elements follow in the order of the calls. As with `decorate`, the list has one load, which creates all elements, and a
    /// decoration of the list wraps the elements that were added before.
    ///
    /// A list with contributions counts as set: what changes above later doesn't reach it, `reset` removes those of this container,
    /// and setting the list discards them.
    ///
    /// - Parameters:
    ///   - list: A key path to the list: `\.routes`.
    ///   - load: A closure that creates the element, like `load(in:)`.
    /// - Complexity: O(*d* + *m*) for *d* ancestors, and *m* observers and instances that the change concerns.
    public func contribute<Element: Sendable>(
        to list: (ContainerKeys) -> FeatureKey<[Element]>, load: @escaping @Sendable (any FeatureContainer) -> Element
    ) {
        let key = list(ContainerKeys())
        addLayer(to: TypedKey(key), over: key._key.own) { (list: inout [Element], handle) in
            list.append(load(handle))
        }
    }

    /// Adds an element to a list, here and in all descendants that don't set the list themselves.
    ///
    /// See `contribute(to:load:)`.
    ///
    /// - Parameters:
    ///   - list: The type of a feature whose instance is an array.
    ///   - load: A closure that creates the element, like `load(in:)`.
    /// - Complexity: O(*d* + *m*) for *d* ancestors, and *m* observers and instances that the change concerns.
    @_alwaysEmitIntoClient
    public func contribute<List: Feature, Element: Sendable>(
        to list: List.Type, load: @escaping @Sendable (any FeatureContainer) -> Element
    ) where List.Instance == [Element] {
        contribute(to: { _ in FeatureKey(List.self) }, load: load)
    }
}
