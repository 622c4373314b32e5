import Foundation
import Fugu
import Hummingbird
import HummingbirdAdapter
import Logging
import LoggingAdapter
import NIOCore

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
