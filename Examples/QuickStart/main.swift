// This example teaches what the README promises: override one value, and exactly what depends on it is created anew.
//
// Run it with `swift run QuickStart`.
import Foundation
import Fugu
import FuguInspection

struct Orders: Feature, External {
    var text: @Sendable (_ user: String) throws -> String

    static func load(in container: any FeatureContainer) -> Orders {
        Orders { try String(contentsOfFile: "/srv/orders/\($0)", encoding: .utf8) }
    }
    static var placeholder: Orders { Orders(text: unimplemented("Orders.text")) }
}
func page(for user: String) throws -> String {
    "\(user) ordered \(try Container.current[Orders.self].text(user))"
}

extension ContainerKeys {
    var user: PropertyKey<String> { .init(defaultValue: "guest") }
}

struct OrderPage: Feature {
    let orders: Orders
    let user: String

    static func load(in container: any FeatureContainer) -> OrderPage {
        OrderPage(orders: container[Orders.self], user: container.user)
    }
}

/// Prints the graph of the program's container and its children.
func printGraph() {
    for line in "\(Container.shared.graph)".split(separator: "\n") { print("   \(line)") }
}

print("1. Container.shared is the program's container. Here, its orders are in memory, not in files.")
Container.shared[Orders.self] = Orders { user in user == "ada" ? "tea" : "nothing" }
print("   \(try page(for: "ada"))")

print("\n2. Nothing else is registered: the first read of a page creates it from the orders and the user.")
print("   The page of \(Container.current[OrderPage.self].user)")
printGraph()

print("\n3. A request overrides the user. It has its own page, and shares the orders.")
try await Container.current.withChild {
    $0.user = "ada"
} operation: { request in
    print("   The page of \(request[OrderPage.self].user)")
    printGraph()
}

print("\n4. The child is closed. A child that overrides the orders, such as a preview, has its own page, too.")
let preview = Container.current.child { $0[Orders.self] = Orders { _ in "honey" } }
print("   The page of \(preview[OrderPage.self].user) has \(try preview[OrderPage.self].orders.text("guest"))")
printGraph()
