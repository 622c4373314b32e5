/// Descriptions for debuggers and logs, which contain names and counts but never values.
extension Container: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name of the container and the numbers of its values and instances.
    public var description: String { summary.line }

    /// The same text with the parent and the names of the keys that are set.
    public var debugDescription: String { summary.lines }

    /// A mirror with the names of the keys that the container has, grouped by how each got there.
    public var customMirror: Mirror {
        let summary = summary
        return Mirror(
            self,
            children: [
                "name": summary.name, "parent": summary.parent as Any, "children": summary.childCount,
                "isClosed": summary.isClosed, "set": summary.set, "loaded": summary.loaded, "failed": summary.failed,
            ], displayStyle: .class)
    }

    private var summary: ContainerSummary { ContainerSummary(of: self) }
}

/// A summary of a container for descriptions.
///
/// Creating one runs no rule and loads nothing.
struct ContainerSummary {
    let name: String
    let parent: String?
    let childCount: Int
    let isClosed: Bool
    let set: [String]
    let loaded: [String]
    let failed: [String]

    fileprivate init(of container: Container) {
        let node = container.node
        let snapshot = GraphSnapshot(of: node, isAlone: true)
        let own = snapshot.containers.last
        var handle = ""
        if case .handle(let load) = container.role, !load.isFinished { handle = Messages.handleName(load.key!.name) }
        name = handle + (own?.name ?? Messages.endedName)
        parent = snapshot.containers.dropLast().last?.name
        childCount = own?.childCount ?? 0
        isClosed = own?.isClosed ?? false
        func names(_ isWanted: (GraphSnapshot.State) -> Bool) -> [String] {
            snapshot.entries.filter { $0.place.container == own?.id && isWanted($0.state) }.map {
                $0.place.key.name
            }
            .sorted()
        }
        set = names { $0 == .set || $0 == .replaced || $0 == .supplied }
        loaded = names { $0 == .loaded || $0 == .defaultValue }
        failed = names { $0 == .failed }
    }

    fileprivate var line: String { Messages.container(self) }
    fileprivate var lines: String { Messages.containerInDetail(self) }
}
