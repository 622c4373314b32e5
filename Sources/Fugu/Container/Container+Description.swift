/// Descriptions for logs, which contain a name and counts but never values; FuguInspection adds the names of keys for debuggers.
extension Container: CustomStringConvertible, CustomReflectable {
    /// The name of the container and the numbers of its values and instances.
    public var description: String { Messages.container(summary) }

    /// A mirror with the description, and without what the container holds.
    public var customMirror: Mirror { Mirror(self, children: ["description": description], displayStyle: .class) }
}

/// A summary of a container for descriptions.
typealias ContainerSummary = (
    name: String, childCount: Int, isClosed: Bool, setCount: Int, loadedCount: Int, failedCount: Int
)

extension Container {
    /// The summary, for which no rule runs and nothing is loaded.
    private var summary: ContainerSummary {
        let (node, role) = (node, role)
        var summary = node.family.lock.withLock { token -> ContainerSummary in
            node.isEnded(token) ? (Messages.endedName, 0, false, 0, 0, 0) : node.summary(token)
        }
        if case .handle(let load) = role, !load.isFinished {
            summary.name = Messages.handleName(load.key!.name) + summary.name
        }
        return summary
    }
}

extension Node {
    fileprivate func summary(_ token: LockToken) -> ContainerSummary {
        var (setCount, loadedCount, failedCount) = (0, 0, 0)
        let failures = storage[token].rare?.failures ?? KeyTable()
        for cell in storage.cells(token) where cell.key != Key.containerName {
            // A replaced feature whose load has failed counts as failed.
            if let failure = failures[cell.key], !failure.isPast, !cell.has(CellFlags.hasWord) { continue }
            if cell.has(CellFlags.loaded) { loadedCount += 1 } else if cell.has(CellFlags.held) { setCount += 1 }
        }
        for (key, failure) in failures.entries where !failure.isPast {
            if case .found = look(token, key) { continue }
            failedCount += 1
        }
        return (
            displayName(token), childCount(token), storage[token].isClosed, setCount, loadedCount, failedCount
        )
    }
}

extension Key {
    /// The key of a container's own name.
    static let containerName = Key(raw: ContainerKeys().containerName.raw)
}

extension Node {
    /// Returns the name that was set for the container itself, the path of its scope, or its number.
    func displayName(_ token: LockToken) -> String {
        if let cell = storage.existingCell(token, Key.containerName), cell.has(CellFlags.held),
            let name = cell.payload?.string
        {
            return name
        }
        return storage[token].rare?.scope?.path ?? Messages.boxName(number)
    }

    func childCount(_ token: LockToken) -> Int {
        var count = 0
        var child = storage[token].firstChild?.object
        while let next = child {
            count += 1
            child = next.storage[token].nextSibling?.object
        }
        return count
    }
}
