/// What debuggers and logs show of a container: names and numbers, never values.
extension Container: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name of the container and the numbers of what it holds.
    public var description: String { summary.line }

    /// The same, with its parent and the names of what is set in it.
    public var debugDescription: String { summary.lines }

    /// The names of what the container holds, by the way in which each got there.
    public var customMirror: Mirror {
        let summary = summary
        return Mirror(
            self,
            children: [
                "name": summary.name, "parent": summary.parent as Any, "children": summary.childCount,
                "isClosed": summary.isClosed, "set": summary.set, "loaded": summary.loaded, "failed": summary.failed,
            ], displayStyle: .class)
    }

    private var summary: ContainerSummary { ContainerSummary(of: backend) }
}

/// A container in words.
///
/// No rule runs for it, and nothing is loaded.
struct ContainerSummary {
    let name: String
    let parent: String?
    let childCount: Int
    let isClosed: Bool
    let set: [String]
    let loaded: [String]
    let failed: [String]

    fileprivate init(of backend: any Backend) {
        let node = backend.node
        let snapshot = GraphSnapshot(of: node, isAlone: true)
        let boxes = snapshot.boxes
        let own = boxes.last
        let handle = (backend as? Load).map { $0.isFinished ? "" : Messages.handleName($0.requested.name) } ?? ""
        name = handle + (boxes.last?.name ?? Messages.endedName)
        parent = boxes.dropLast().last?.name
        childCount = own?.childCount ?? 0
        isClosed = own?.isClosed ?? false
        func names(_ isWanted: (ContainerGraph.Entry.State) -> Bool) -> [String] {
            snapshot.entries.filter { $0.place.container == own?.number && isWanted($0.state) }.map {
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
