/// A short link.
package struct Link: Sendable, Equatable, Codable {
    package let code: String
    package let target: String
    /// Seconds since 1970.
    package let created: Int

    package init(code: String, target: String, created: Int) {
        self.code = code
        self.target = target
        self.created = created
    }
}

/// The number of times that a link was followed on a day.
package struct Hits: Sendable, Equatable, Codable {
    /// Days since 1970, in UTC.
    package let day: Int
    package let count: Int
}

/// Returns the day of a moment.
package func day(of seconds: Double) -> Int { Int((seconds / 86_400).rounded(.down)) }
