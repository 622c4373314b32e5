import Foundation
import Fugu
import FuguFoundation

/// A file for the partial result of an attempt.
///
/// It's deleted when the attempt ends, even if that fails.
package struct Scratch: Feature, Sendable {
    package let url: URL
    private let files: FileAccess

    /// Each attempt has its own, and closes it. (It would live there anyhow, since it reads the job, which is set for each
    /// attempt; what has a closer says so, or debug builds ask whether that is meant.)
    package static var home: Home { .local }

    package static func load(in container: any FeatureContainer) -> Scratch {
        let name = "Job-\(container.job?.id ?? 0)-\(container.attempt)-\(container.uuid()).txt"
        let scratch = Scratch(
            url: container.outputFolder.appending(path: name, directoryHint: .notDirectory), files: container.fileAccess
        )
        container.onClose { try scratch.remove() }
        return scratch
    }

    package func add(_ line: String) throws { try files.append(Data((line + "\n").utf8), to: url) }

    private func remove() throws {
        do { try files.delete(url) } catch  where error.isMissingFile {}  // Nothing was written.
    }
}
