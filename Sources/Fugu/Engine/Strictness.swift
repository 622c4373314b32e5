/// What makes a container strict: it loads no feature that reaches outside the process and reports who tried.
package final class Strictness: Sendable {
    /// A load that was refused.
    package struct Refusal: Sendable {
        /// What was refused, by whose load it was needed, and what to do.
        package let error: LoadError
        /// What would have been loaded.
        package let feature: Swap
    }

    private let report: @Sendable (Refusal) -> Void
    /// Kept, so that all who read a feature share its placeholder as they would share the feature.
    private let placeholders = Guarded<[Key: Payload]>([:])

    /// - Parameter report: Is given every load that was refused, on the thread that tried, outside of every lock.
    package init(report: @escaping @Sendable (Refusal) -> Void) { self.report = report }

    /// Reports the load and gives the placeholder, or throws if the kind can.
    fileprivate func answer(_ request: Request, _ parent: (any Activity)?) throws -> Payload {
        let error = LoadError.external((parent?.way ?? []) + [request.key])
        report(Refusal(error: error, feature: Swap(key: request.key)))
        guard let placeholder = request.placeholder else { throw error }
        if let kept = placeholders.withLock({ $0[request.key] }) { return kept }
        let made = placeholder()
        return placeholders.withLock { placeholders in
            placeholders[request.key] = placeholders[request.key] ?? made
            return placeholders[request.key] ?? made
        }
    }
}

extension Node {
    /// Answers for an external feature that was not swapped. It counts as read, from the root: a child that swaps it
    /// has its own instance of whatever was made with the placeholder.
    func refuse(
        _ request: Request, by strictness: Strictness, _ recorder: Flight?, _ parent: (any Activity)?
    ) throws -> Payload {
        family.lock.withLock {
            guard let root = path.first(where: { $0.isRoot }) else { return }
            let cell = root.storage.cell(request.key)
            recorder?.record(cell, of: root)
            ownRecorder?.record(cell, of: root)
        }
        return try strictness.answer(request, parent)
    }
}

extension Container {
    /// Makes this container strict, and with it all children and copies, those that are there too.
    package func makeStrict(_ strictness: Strictness) {
        let node = backing.node
        node.family.lock.withLock {
            for node in node.subtree { node.storage.facts.strictness = strictness }
        }
    }
}
