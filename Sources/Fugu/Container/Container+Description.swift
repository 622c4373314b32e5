/// Descriptions for logs, which contain a name and counts but never values; FuguInspection adds the names of keys for debuggers.
extension Container: CustomStringConvertible, CustomReflectable {
    /// The name of the container and the numbers of its values and instances, in one line.
    public var description: String { Messages.container(summary) }

    /// A mirror with the description, and without what the container holds.
    public var customMirror: Mirror { Mirror(self, children: ["description": description], displayStyle: .class) }
}

extension Container {
    /// The summary, for which no rule runs and nothing is loaded.
    private var summary: ContainerSummary {
        let (node, role) = (node, role)
        var summary = node.family.lock.withLock { token -> ContainerSummary in
            if node.isEnded(token) { return (Messages.endedName, 0, false, 0, 0) }
            let cells = node.storage.cells(token).filter { $0.key != Key.containerName }
            let loadedCount = cells.count { $0.has(CellFlags.loaded) }
            let setCount = cells.count { !$0.has(CellFlags.loaded) && $0.has(CellFlags.held) }
            return (node.displayName(token), node.childCount(token), node.isClosed(token), setCount, loadedCount)
        }
        if case .handle(let load) = role, !load.isFinished {
            summary.name = Messages.handleName(load.key.name) + summary.name
        }
        return summary
    }
}
