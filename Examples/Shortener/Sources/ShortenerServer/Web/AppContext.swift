import Foundation
import Fugu
import FuguFoundation
import HTTPTypes
import Hummingbird
import HummingbirdAdapter
import Logging
import LoggingAdapter
import NIOCore
import Synchronization

/// The context of a request.
package struct AppContext: ContainerRequestContext {
    package var coreContext: CoreRequestContextStorage
    package let container: Container
    private let channel: any Channel
    package var remoteAddress: SocketAddress? { channel.remoteAddress }
    /// A longer body is refused with 413.
    package var maxUploadSize: Int { 8 * 1024 }
    package var responseEncoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    package init(source: ContainerContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        container = source.container
        channel = source.channel
    }
}

extension ContainerKeys {
    /// The header of this name; set for each request.
    var authorization: PropertyKey<String?> { .init(isSecret: true) }

    /// The user who sends a request.
    ///
    /// It reads what a request sets, and so lives in the request that asks for it.
    package var user: FeatureKey<User> {
        .init { User(authorization: $0.authorization, adminToken: $0.adminToken) }
    }
}

extension Container {
    /// Sets what belongs to a request; this container is the request's.
    ///
    /// The setting is read from the application's container, which knows it. This one would look it up in its parents first.
    func begin(_ request: Request, _ logger: Logger, of application: Container) {
        // Hummingbird has given it the request's identifier already.
        self.requestLogger = logger
        if application.allowsInspection { self.containerName = "\(request.method) \(request.uri.path)" }
        if let header = request.headers[.authorization] { self.authorization = header }
    }
}

/// The user who sends a request.
package enum User: Sendable, Equatable {
    case guest
    case admin
    /// A user with a wrong token.
    case impostor

    package init(authorization: String?, adminToken: String?) {
        guard let authorization else {
            self = .guest
            return
        }
        let token = authorization.hasPrefix("Bearer ") ? authorization.dropFirst("Bearer ".count) : ""
        self.init(token: token, adminToken: adminToken)
    }

    init(token: Substring, adminToken: String?) {
        guard let adminToken, !adminToken.isEmpty else {
            self = .impostor
            return
        }
        self = Self.isSame(Array(token.utf8), Array(adminToken.utf8)) ? .admin : .impostor
    }

    /// The password of a header for basic authentication.
    static func password(authorization: String) -> Substring? {
        guard authorization.hasPrefix("Basic "),
            let bytes = Data(base64Encoded: String(authorization.dropFirst("Basic ".count)))
        else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.firstIndex(of: ":").map { text[text.index(after: $0)...] }
    }

    /// Takes a time that depends on the length of the given token only, and on nothing secret.
    private static func isSame(_ given: [UInt8], _ secret: [UInt8]) -> Bool {
        var difference = given.count ^ secret.count
        for (index, byte) in given.enumerated() { difference |= Int(byte ^ secret[index % secret.count]) }
        return difference == 0
    }
}

extension ContainerKeys {
    /// Shared by all requests, since it reads nothing that belongs to one.
    var rateLimiter: FeatureKey<RateLimiter> { .init { RateLimiter(date: $0.date) } }
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

    private let date: DateGenerator
    private let state = Mutex(State())

    init(date: DateGenerator) { self.date = date }

    /// - Throws: 429 if the address has sent too many requests.
    func admit(_ client: String, limit: UInt) throws {
        let now = date.now.timeIntervalSince1970
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
