import Foundation
import Fugu

/// A document whose words are to be counted.
package struct Job: Sendable, Hashable {
    package let id: Int
    package let path: String

    package init(id: Int, path: String) {
        self.id = id
        self.path = path
    }
}

/// The result of a job.
package struct Outcome: Sendable {
    package enum Result: Sendable {
        case words(Int)
        case failed(any Error)
        case cancelled
    }

    package let job: Job
    package let attempts: Int
    package let result: Result
}

extension ContainerKeys {
    /// The job; set in the container of each attempt.
    package var job: PropertyKey<Job?> { .init() }
    package var attempt: PropertyKey<Int> { .init(defaultValue: 1) }

    package var workerCount: PropertyKey<Int> { .init(defaultValue: 4) }
    package var attemptLimit: PropertyKey<Int> { .init(defaultValue: 3) }
    /// The pause before the second attempt; it doubles with each further one.
    package var firstPause: PropertyKey<Duration> { .init(defaultValue: .seconds(1)) }
    /// The destination of the counts.
    package var outputFolder: PropertyKey<URL> { .init(defaultValue: URL(filePath: "words")) }
}
