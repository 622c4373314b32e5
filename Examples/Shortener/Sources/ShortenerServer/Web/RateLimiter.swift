import Fugu
import HTTPTypes
import Hummingbird
import Synchronization

extension ContainerKeys {
    /// Shared by all requests, since it reads nothing that belongs to one.
    var rateLimiter: FeatureKey<RateLimiter> { .init { RateLimiter(timestamp: $0.timestamp) } }
}

/// Counts the requests of each address in the present minute.
final class RateLimiter: Sendable {
    /// The number of addresses that it remembers.
    ///
    /// When it's full, new addresses have to wait for the next minute.
    private static let capacity = 100_000

    private struct State {
        var minute = 0
        var counts: [String: UInt] = [:]
    }

    private let timestamp: Timestamp
    private let state = Mutex(State())

    init(timestamp: Timestamp) { self.timestamp = timestamp }

    /// - Throws: 429 if the address has sent too many requests.
    func admit(_ client: String, limit: UInt) throws {
        let now = timestamp.now
        let minute = Int((now / 60).rounded(.down))
        let isAdmitted = state.withLock { state in
            if state.minute != minute { state = State(minute: minute) }
            let count = state.counts[client] ?? 0
            guard count < limit, count > 0 || state.counts.count < Self.capacity else { return false }
            state.counts[client] = count + 1
            return true
        }
        guard !isAdmitted else { return }
        let wait = max(1, (minute + 1) * 60 - Int(now))
        throw HTTPError(
            .tooManyRequests, headers: [.retryAfter: "\(wait)"], message: "Too many requests; try again in a minute.")
    }
}
