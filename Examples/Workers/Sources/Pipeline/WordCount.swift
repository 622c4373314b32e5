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
