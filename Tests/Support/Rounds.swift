import Foundation
import Synchronization
package import Testing

/// How often a test repeats what it does: `all` where `FUGU_THOROUGH` is set, as in the steps `release`, `optimized`, `address`,
/// and `thread-…` of `.ci/run`, and `few` in a plain `swift test`, which somebody waits for.
package func rounds(_ all: Int, few: Int) -> Int {
    ProcessInfo.processInfo.environment["FUGU_THOROUGH"] == nil ? few : all
}

/// The time for which this thread has run on a processor while it ran `body`.
package func threadTime(_ body: () throws -> Void) rethrows -> Duration {
    let start = ThisProcess.threadTime
    try body()
    return ThisProcess.threadTime - start
}

/// Expects that what `measure` returns for four times the size is less than eight times as much (law 30).
///
/// Linear growth takes four times as much, and quadratic growth sixteen times. Of three rounds the best
/// counts, and what takes next to nothing is in proportion. Under the thread sanitizer only little is done, for its races.
package func expectProportion(
    _ size: Int, sourceLocation: SourceLocation = #_sourceLocation,
    isolation: isolated (any Actor)? = #isolation, _ measure: (Int) async throws -> Duration
) async rethrows {
    guard !ThisProcess.isThreadSanitized else {
        _ = try await measure(size / 4)
        return
    }
    var measured: [String] = []
    for _ in 0..<3 {
        let small = try await measure(size)
        let large = try await measure(4 * size)
        if large < .milliseconds(20) || large < small * 8 { return }
        measured.append("\(small) and \(large)")
    }
    Issue.record("\(size) and \(4 * size) took \(measured)", sourceLocation: sourceLocation)
}

/// The same for what does not suspend.
package func expectProportion(
    _ size: Int, sourceLocation: SourceLocation = #_sourceLocation, _ measure: (Int) throws -> Duration
) rethrows {
    guard !ThisProcess.isThreadSanitized else {
        _ = try measure(size / 4)
        return
    }
    var measured: [String] = []
    for _ in 0..<3 {
        let (small, large) = (try measure(size), try measure(4 * size))
        if large < .milliseconds(20) || large < small * 8 { return }
        measured.append("\(small) and \(large)")
    }
    Issue.record("\(size) and \(4 * size) took \(measured)", sourceLocation: sourceLocation)
}

/// Distinguishes keys that a test makes repeatedly at one place.
package struct UniqueID: Hashable, Sendable {
    private static let count = Atomic(0)
    private let number: Int

    /// Creates one that equals no other.
    package init() { number = Self.count.add(1, ordering: .relaxed).newValue }
}
