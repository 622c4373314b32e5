import Foundation
import Fugu
import FuguFoundation
import FuguTesting
import Testing

struct Orders: Sendable {
    var text: @Sendable (_ user: String) throws -> String
}

extension ContainerKeys {
    var orders: FeatureKey<Orders> {
        .init(placeholder: { Orders(text: unimplemented("Orders.text")) }) { _ in
            Orders { try String(contentsOfFile: "/srv/orders/\($0)", encoding: .utf8) }
        }
    }
}

@Test(.container { $0.orders = Orders { _ in "tea" } }) func orders() throws {
    #expect(try Container.current.orders.text("ada") == "tea")
}

struct OrderPage: Sendable {
    let orders: Orders
    let user: String
}

extension ContainerKeys {
    var user: PropertyKey<String> { .init(defaultValue: "guest") }
    var orderPage: FeatureKey<OrderPage> { .init { OrderPage(orders: $0.orders, user: $0.user) } }
}

/// A namespace: other pages have other databases.
struct ReadmePage {
    /// A connection of a driver.
    final class Connection: Sendable {
        static func open(_ url: String) async throws -> Connection { Connection() }
        func close() async throws {}
        func count(of user: String) async throws -> Int { user.count }
    }

    struct Database: AsyncFeature, External {
        let connection: Connection
        static func load(in container: any FeatureContainer) async throws -> Database {
            let connection = try await Connection.open(container.databaseURL)
            container.onClose { try await connection.close() }
            return Database(connection: connection)
        }
    }
    func count(in request: Container) async throws -> Int {
        try await request[Database.self].connection.count(of: request.user)
    }
}

// A declaration that other pages share.

extension ContainerKeys {
    var city: PropertyKey<String> { .init(defaultValue: "Oslo") }
}

extension Snippets {
    @Test("README: a request has its own instance of what reads its value", .liveContainer)
    func first() async throws {
        try await run {
            try await Container.current.withChild {
                $0.user = "ada"
            } operation: { request in
                print(request.orderPage.user)  // ada
            }
        }
    }

    @Test("README: a detached task takes the container along")
    func carry() async throws {
        try await Container.with(Container()) {
            try await run {
                let container = Container.current
                await Task.detached {
                    Container.with(container) { print(Container.current === container) }  // true
                }.value
            }
        }
    }
}

protocol LinkRepository: Sendable {
    func link(_ id: Int) -> String
}

nonisolated struct SavedLinks: LinkRepository {
    func link(_ id: Int) -> String { "saved/\(id)" }
}

enum Links: Feature {
    static func load(in container: any FeatureContainer) -> any LinkRepository { SavedLinks() }
}

nonisolated struct StubLinks: LinkRepository {
    func link(_ id: Int) -> String { "stub/\(id)" }
}

extension Snippets {
    @Test("One page: an instance of another type, and setting what suspends")
    func otherTypes() async throws {
        try await run {
            let container = Container()
            container[Links.self] = StubLinks()
            print(container[Links.self].link(7))  // stub/7
            container.set(Connection.self, to: Connection(address: Address(text: "eve@example.org")))
            print(try await container[Connection.self].address.text)  // eve@example.org
        }
    }
}

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
    @Injected(\.date.now) var now

    func report() -> String { "\(greeter.text) It is second \(Int(now.timeIntervalSince1970))." }
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
