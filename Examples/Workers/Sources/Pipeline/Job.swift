import Foundation
public import Fugu

/// A document whose words are to be counted.
public struct Job: Sendable, Hashable {
    public let id: Int
    public let path: String

    public init(id: Int, path: String) {
        self.id = id
        self.path = path
    }
}

/// What became of a job.
public struct Outcome: Sendable {
    public enum Result: Sendable {
        case words(Int)
        case failed(any Error)
        case cancelled
    }

    public let job: Job
    public let attempts: Int
    public let result: Result
}

extension ContainerKeys {
    /// The job; set in the container of each attempt.
    public var job: PropertyKey<Job?> { .init() }
    public var attempt: PropertyKey<Int> { .init(defaultValue: 1) }

    public var workerCount: PropertyKey<Int> { .init(defaultValue: 4) }
    public var attemptLimit: PropertyKey<Int> { .init(defaultValue: 3) }
    /// The pause before the second attempt; it doubles with each further one.
    public var firstPause: PropertyKey<Duration> { .init(defaultValue: .seconds(1)) }
    /// Where the counts go.
    public var outputFolder: PropertyKey<URL> { .init(defaultValue: URL(filePath: "words")) }
}
