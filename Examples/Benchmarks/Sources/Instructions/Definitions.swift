import Fugu

/// A property declared as a type.
enum Limit: Property {
    static let defaultValue = 30
}

extension ContainerKeys {
    /// A property declared as a member.
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

/// An object with a number, to read.
final class Number: Sendable {
    let value: Int

    init(_ value: Int) {
        self.value = value
    }
}

/// The usual form of a dependency: a struct with a closure that captures an object.
struct Greeter: Feature {
    let greet: @Sendable () -> Int

    static func load(in container: any FeatureContainer) -> Greeter {
        let object = Number(container[Limit.self])
        return Greeter { object.value }
    }
}

/// A feature with no inputs, which children inherit.
enum Pool: Feature {
    static func load(in container: any FeatureContainer) -> Number { Number(1) }
}

/// A feature that reads the value that a child sets.
enum Counter: Feature {
    static func load(in container: any FeatureContainer) -> Number { Number(container[Limit.self]) }
}

/// A feature that reads another one.
enum Doubled: Feature {
    static func load(in container: any FeatureContainer) -> Number { Number(container[Counter.self].value &* 2) }
}

/// A feature that reads another one, which may do so, too.
enum Link<Below: Feature>: Feature where Below.Instance == Number {
    static func load(in container: any FeatureContainer) -> Number { Number(container[Below.self].value &+ 1) }
}

typealias FiveLinks<Below: Feature> = Link<Link<Link<Link<Link<Below>>>>> where Below.Instance == Number
/// Ten features that read one another, and twenty.
typealias Ten = FiveLinks<Link<Link<Link<Link<Pool>>>>>
typealias Twenty = FiveLinks<FiveLinks<Ten>>

/// An asynchronous load that never suspends.
enum RemoteCounter: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Number { Number(container[Limit.self]) }
}
