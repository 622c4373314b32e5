/// What makes a container strict: it loads no feature that reaches outside the process and reports who tried.
package final class Strictness: Sendable {
    private let report: @Sendable (Refusal) -> Void

    /// A load that was refused.
    package struct Refusal: Sendable {
        /// The features on the way to the external one, which is the last.
        package let path: [String]
        /// What to paste to swap it.
        package let remedy: String
    }

    package init(report: @escaping @Sendable (Refusal) -> Void) { self.report = report }

    /// Reports the load and gives the placeholder, or throws if the kind can.
    func answer(_ request: Request, _ parent: (any Activity)?) throws -> Payload {
        let way = (parent?.way ?? []) + [request.key]
        report(Refusal(path: way.map(\.name), remedy: Messages.remedy(for: request.key)))
        guard let placeholder = request.placeholder else { throw LoadError.external(way) }
        return placeholder()
    }
}

extension Container {
    /// Makes this container strict, and with it all children and copies that are made from now on.
    package func makeStrict(_ strictness: Strictness) {
        let node = backing.node
        node.family.lock.withLock { node.storage.facts.strictness = strictness }
    }
}
