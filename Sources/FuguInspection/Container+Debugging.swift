public import Fugu

/// A description for debuggers, which contains the names of keys but never values.
extension Container: CustomDebugStringConvertible {
    /// The description with the parent and the names of the keys that are set, were loaded, or failed to load.
    public var debugDescription: String {
        let snapshot = GraphSnapshot(of: self, isAlone: true)
        let (own, parent) = (snapshot.containers.last, snapshot.containers.dropLast().last)
        func names(_ states: GraphSnapshot.State...) -> [String] {
            snapshot.entries.filter { $0.place.container == own?.id && states.contains($0.state) }.map(\.place.key.name)
                .sorted()
        }
        return Messages.containerInDetail(
            description, parent: parent?.name,
            [
                ("set", names(.set, .replaced, .supplied)), ("loaded", names(.loaded, .defaultValue)),
                ("failed", names(.failed)),
            ])
    }
}
