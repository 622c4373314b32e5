// This example teaches what you do with a container: read, set, observe, and isolate. Each part prints what it shows.
//
// Run it with `swift run QuickStart`.
import Foundation
import Fugu
import FuguFoundation

func heading(_ text: String) { print("\n\(text)") }

// Declare a property in one line and a feature as a type. Nothing is created before you read it.

extension ContainerKeys {
    var greeting: PropertyKey<String> { .init(defaultValue: "Hello") }
}

struct Greeter: Feature {
    let greeting: String

    static func load(in container: any FeatureContainer) -> Greeter {
        print("   (a greeter is loaded)")
        return Greeter(greeting: container.greeting)
    }

    func greet(_ name: String) -> String { "\(greeting), \(name)!" }
}

extension ContainerKeys {
    var greeter: FeatureKey<Greeter> { .init(Greeter.self) }
}

print("1. Read: a container loads a feature once, from its other keys.")
let container = Container()
print("   \(container.greeter.greet("Ada"))")
print("   \(container.greeter.greet("Grace"))")

heading("2. Set: use something repeatable instead of what reaches outside.")
container.timestamp = .constant(1_000_000_000)
container.uuid = .incrementing
container.randomness = .linearCongruential(withSeed: 2025)
container.greeter = Greeter(greeting: "Ahoj")
print("   the date   \(container.date.now.formatted(.iso8601))")
print("   two ids    \(container.uuid()), \(container.uuid())")
let dice = (1...5).map { _ in container.randomness { Int.random(in: 1...6, using: &$0) } }
print("   five dice  \(dice.map(String.init).joined(separator: " "))")
print("   \(container.greeter.greet("Ada"))")

heading("3. Observe: hear of every change, in order, until you cancel the token.")
let token = container.observe(\.greeting) { print("   the greeting is now \($0)") }
container.greeting = "Good morning"
container.greeting = "Good evening"
token.cancel()
container.greeting = "Good night"

heading("4. Isolate: two containers share nothing.")
let other = Container()
print("   here   \(container.greeting)")
print("   there  \(other.greeting)")

// Code that receives no container reads from the one that is current where it runs.
struct Doorman {
    @Injected(\.greeting) var greeting
    @Injected(\.timestamp) var timestamp

    func report() -> String { "\(greeting), it is \(Int(timestamp.now)) seconds since 1970" }
}

let report = Container.with {
    $0.greeting = "Welcome"
    $0.timestamp = .constant(86_400)
} operation: {
    Doorman().report()
}
print("   within \(report)")
print("   after  \(Container.current.greeting)")
