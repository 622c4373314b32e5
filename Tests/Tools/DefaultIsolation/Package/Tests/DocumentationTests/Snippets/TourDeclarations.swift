import Fugu

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

struct UserName: Property {
    static var defaultValue: String { "guest" }
}

struct Greeter: Feature {
    let text: String

    static func load(in container: any FeatureContainer) -> Greeter {
        Greeter(text: "Hello, \(container[UserName.self])!")
    }
}

extension ContainerKeys {
    var greeter: FeatureKey<Greeter> { .init(Greeter.self) }
}

extension ContainerKeys {
    var farewell: FeatureKey<String> { .init { "Goodbye, \($0[UserName.self])!" } }
}

struct Doorman {
    @Injected(\.greeter) var greeter
    @Injected(\.timestamp) var timestamp

    func report() -> String { "\(greeter.text) It is second \(Int(timestamp.now))." }
}

extension ContainerKeys {
    var requestNumber: PropertyKey<Int> { .init(defaultValue: 0) }
}

final class Pool: Feature, Sendable {
    static func load(in container: any FeatureContainer) -> Pool { Pool() }
}

struct RequestLog: Feature {
    let pool: Pool
    let prefix: String

    static func load(in container: any FeatureContainer) -> RequestLog {
        RequestLog(pool: container[Pool.self], prefix: "request \(container.requestNumber)")
    }
}

struct Address: ThrowingFeature {
    struct NoUser: Error {}
    let text: String

    static func load(in container: any FeatureContainer) throws -> Address {
        guard container[UserName.self] != "guest" else { throw NoUser() }
        return Address(text: "\(container[UserName.self])@example.org")
    }
}

struct Connection: AsyncFeature {
    let address: Address

    static func load(in container: any FeatureContainer) async throws -> Connection {
        let connection = Connection(address: try container[Address.self])
        container.onClose { print("closed the connection of \(connection.address.text)") }
        return connection
    }
}

/// Declarations that the page takes for granted.
nonisolated private func deliver(_ text: String) { print(text) }

struct Mailer: Feature, External {
    var send: @Sendable (_ text: String) -> Void

    static func load(in container: any FeatureContainer) -> Mailer { Mailer { deliver($0) } }
    static var placeholder: Mailer { Mailer(send: unimplemented("Mailer.send")) }
}
