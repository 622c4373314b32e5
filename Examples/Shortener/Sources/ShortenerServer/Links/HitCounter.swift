import Fugu
import Synchronization

/// Counts hits in memory, and writes them now and then, and at the end.
///
/// A redirect doesn't wait for a write. A process that is killed loses the hits since the last one.
package final class HitCounter: AsyncFeature, Sendable {
    package static var home: Home { .shared }

    private let links: any LinkRepository
    private let counts = Mutex<[Hit: Int]>([:])

    package init(links: any LinkRepository) { self.links = links }

    package static func load(in container: any FeatureContainer) async throws -> HitCounter {
        let counter = HitCounter(links: try await container[Links.self])
        // Runs before the closer of the database, which this was made from.
        container.onClose { try await counter.flush() }
        return counter
    }

    package func count(_ code: String, on day: Int) {
        counts.withLock { $0[Hit(code: code, day: day), default: 0] += 1 }
    }

    /// Writes the hits since the last time.
    ///
    /// If writing fails, the hits are kept for the next time.
    package func flush() async throws {
        let hits = counts.withLock { counts in
            defer { counts = [:] }
            return counts
        }
        guard !hits.isEmpty else { return }
        do {
            try await links.add(hits)
        } catch {
            counts.withLock { $0.merge(hits, uniquingKeysWith: +) }
            throw error
        }
    }
}
