// This example teaches what the README promises: override one value, and exactly what depends on it is created anew.
//
// Run it with `swift run QuickStart`.
import Foundation
import Fugu
import FuguInspection

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

struct OrderPage: Sendable {
    let orders: Orders
    let user: String
}

extension ContainerKeys {
    var user: PropertyKey<String> { .init(defaultValue: "guest") }
    var orderPage: FeatureKey<OrderPage> { .init { OrderPage(orders: $0.orders, user: $0.user) } }
}

/// Prints the graph of the program's container and its children.
func printGraph() {
    for line in "\(Container.shared.graph)".split(separator: "\n") { print("   \(line)") }
}

print("1. Container.shared is the program's container. Here, its orders are in memory, not in files.")
Container.shared.orders = Orders { user in user == "ada" ? "tea" : "nothing" }
print("   \(try Container.current.orders.text("ada"))")

print("\n2. Nothing else is registered: the first read of a page creates it from the orders and the user.")
print("   The page of \(Container.current.orderPage.user)")
printGraph()

print("\n3. A request overrides the user. It has its own page, and shares the orders.")
try await Container.current.withChild {
    $0.user = "ada"
} operation: { request in
    print("   The page of \(request.orderPage.user)")
    printGraph()
}

print("\n4. The child is closed. A child that overrides the orders, such as a preview, has its own page, too.")
let preview = Container.current.child { $0.orders = Orders { _ in "honey" } }
print("   The page of \(preview.orderPage.user) has \(try preview.orderPage.orders.text("guest"))")
printGraph()
