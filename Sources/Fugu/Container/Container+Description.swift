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
            node.isEnded(token) ? (Messages.endedName, 0, false, 0, 0, 0) : Self.summary(token, of: node)
        }
        if case .handle(let load) = role, !load.isFinished {
            summary.name = Messages.handleName(load.key.name) + summary.name
        }
        return summary
    }

    private static func summary(_ token: LockToken, of node: Node) -> ContainerSummary {
        var (setCount, loadedCount, failedCount) = (0, 0, 0)
        let failures = node.storage[token].rare?.failures ?? KeyTable()
        for cell in node.storage.cells(token) where cell.key != Key.containerName {
            // A replaced feature whose load has failed counts as failed.
            if let failure = failures[cell.key], !failure.isPast, !cell.has(CellFlags.hasWord) { continue }
            if cell.has(CellFlags.loaded) { loadedCount += 1 } else if cell.has(CellFlags.held) { setCount += 1 }
        }
        for (key, failure) in failures.entries where !failure.isPast {
            if case .found = node.look(token, key) { continue }
            failedCount += 1
        }
        return (
            node.displayName(token), node.childCount(token), node.storage[token].isClosed, setCount, loadedCount,
            failedCount
        )
    }
}
