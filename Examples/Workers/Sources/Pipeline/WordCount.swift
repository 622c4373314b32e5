import Foundation
import Fugu
import FuguFoundation

/// The work itself: counts the words of a document and writes how often each occurs.
struct WordCount {
    let container: Container

    /// Returns the number of words.
    func perform(_ job: Job) async throws -> Int {
        let data = try container.fileAccess.load(URL(filePath: job.path))
        var counts: [Substring: Int] = [:]
        let text = String(decoding: data, as: UTF8.self)
        for line in text.split(whereSeparator: \.isNewline) {
            // A long document must not delay a cancellation.
            try Task.checkCancellation()
            for word in line.split(whereSeparator: { !$0.isLetter }) { counts[word, default: 0] += 1 }
        }
        let scratch = container[Scratch.self]
        for (word, count) in counts.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            try scratch.add("\(count)\t\(word)")
        }
        try publish(scratch, of: job)
        return counts.values.reduce(0, +)
    }

    /// In one step at the end, so that nobody finds half a result.
    private func publish(_ scratch: Scratch, of job: Job) throws {
        let name = URL(filePath: job.path).lastPathComponent + ".words"
        let files = container.fileAccess
        let result = files.exists(scratch.url) ? try files.load(scratch.url) : Data()
        try files.save(result, to: container.outputFolder.appending(path: name, directoryHint: .notDirectory))
    }
}

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
