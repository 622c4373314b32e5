package import Fugu

// What other modules may know: keys, a feature that the app must supply, and a list that modules add to.

package protocol PaymentService: Sendable {
    nonisolated func pay(_ amount: Int) async throws -> String
}

package nonisolated struct NoPayments: PaymentService {
    package struct Unpaid: Error {}

    package func pay(_ amount: Int) async throws -> String { throw Unpaid() }
}

package nonisolated struct Stock: AsyncFeature, External, Sendable {
    package var count: @Sendable (_ article: String) async throws -> Int

    package init(count: @escaping @Sendable (_ article: String) async throws -> Int) { self.count = count }

    package static func load(in container: any FeatureContainer) async throws -> Stock {
        precondition(#isolation == nil, "an async load belongs to no actor")
        let tenant = container.tenant
        return Stock { "\(tenant) \($0)".count }
    }
}

extension ContainerKeys {
    package var userName: PropertyKey<String> { .init(defaultValue: "guest") }
    package var tenant: PropertyKey<String> { .init(defaultValue: "nobody") }
    package var payments: FeatureKey<any PaymentService> { .required(placeholder: NoPayments()) }
    package var routes: FeatureKey<[String]> { .init { _ in [] } }
}
