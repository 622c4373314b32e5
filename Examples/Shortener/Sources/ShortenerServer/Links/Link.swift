import Foundation
import Fugu

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

/// An address that a link may lead to.
struct Target: Equatable {
    let text: String

    /// The reason why an address is refused, for the person who entered it.
    struct Refusal: Error, Equatable, CustomStringConvertible {
        let description: String
    }

    /// Checks an address.
    ///
    /// - `text`: The address.
    /// - `ownHosts`: The names of this server, in small letters: a link to itself could lead in circles.
    init(_ text: String, ownHosts: Set<String>) throws(Refusal) {
        guard text.utf8.count <= 2048 else { throw Refusal(description: "The address is longer than 2048 bytes.") }
        // Control characters and spaces have no place in an address, and must not get into a header.
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), let url = URLComponents(string: text) else {
            throw Refusal(description: "This is not an address. Letters beyond ASCII must be encoded.")
        }
        guard let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme) else {
            throw Refusal(description: "The address must begin with http:// or https://.")
        }
        guard url.user == nil, url.password == nil else {
            throw Refusal(description: "The address must not contain a user name or a password.")
        }
        guard var host = url.host?.lowercased(), !host.isEmpty else {
            throw Refusal(description: "The address names no host.")
        }
        if host.hasSuffix(".") { host.removeLast() }
        guard !ownHosts.contains(host) else { throw Refusal(description: "The address leads back to this server.") }
        self.text = text
    }
}

/// Makes codes of seven letters and digits, without those that look alike.
package enum CodeMaker {
    static let length = 7
    private static let letters = Array("23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz".utf8)

    /// Draws a code.
    ///
    /// There are 1.7 × 10¹² of them, so that they can't be guessed one after the other.
    static func code(from randomness: Randomness) -> String {
        randomness { generator in
            String(decoding: (0..<length).map { _ in letters.randomElement(using: &generator)! }, as: UTF8.self)
        }
    }

    /// Looks at bytes, since every redirect asks.
    package static func isCode(_ text: some StringProtocol) -> Bool {
        text.utf8.count == length && text.utf8.allSatisfy(letters.contains)
    }
}

/// A store of links.
///
/// Everything else is written against this protocol. A second store is one more type that conforms, and one more line in
/// ``Links``: PostgreSQL, for several machines behind a balancer.
package protocol LinkRepository: Sendable {
    /// Adds a link, and returns once it would survive the end of the process.
    ///
    /// - Returns: Whether the code was free.
    func add(_ link: Link) async throws -> Bool
    func link(_ code: String) async throws -> Link?
    /// Returns links, newest first.
    func links(limit: Int) async throws -> [Link]
    /// - Returns: Whether there was one.
    func delete(_ code: String) async throws -> Bool
    /// Adds hits to links. The hits of a deleted link are dropped.
    func add(_ hits: [Hit: Int]) async throws
    /// Returns the hits of a link by day, oldest first.
    func hits(of code: String) async throws -> [Hits]
}

/// The totals.
package struct Hit: Sendable, Hashable {
    package let code: String
    package let day: Int
}

/// The links of the program.
package enum Links: AsyncFeature {
    /// All requests share it: a store that depended on a request would be opened for each of them, which Fugu refuses.
    package static var home: Home { .shared }

    package static func load(in container: any FeatureContainer) async throws -> any LinkRepository {
        guard container.databaseURL != nil else { return SQLiteLinks(pool: try await container[Database.self]) }
        #if PostgreSQL
        return PostgresLinks(pool: try await container[Postgres.self])
        #else
        throw NoPostgres()
        #endif
    }

    struct NoPostgres: Error, CustomStringConvertible {
        var description: String {
            "database.url is set, but the program was built without PostgreSQL: swift build --traits PostgreSQL"
        }
    }
}
