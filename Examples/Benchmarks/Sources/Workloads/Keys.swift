import Fugu

enum Timeout: Property {
    static let defaultValue = 30
}

enum Attempts: Property {
    static let defaultValue = 3
}

extension PropertyContainer {
    /// A handwritten accessor.
    var timeout: Int {
        get { self[Timeout.self] }
        set { self[Timeout.self] = newValue }
    }
}

extension ContainerKeys {
    var limit: PropertyKey<Int> { .init(defaultValue: 100) }
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
    let number: Int
    let greet: @Sendable () -> Int

    static func load(in container: any FeatureContainer) -> Greeter {
        let object = Number(container[Timeout.self])
        return Greeter(number: object.value) { object.value }
    }
}

/// A feature whose instance is an object.
enum Counter: Feature {
    static func load(in container: any FeatureContainer) -> Number { Number(container[Timeout.self]) }
}

/// A feature that keeps its handle and reads through it later.
struct Reader: Feature {
    let container: any FeatureContainer

    static func load(in container: any FeatureContainer) -> Reader { Reader(container: container) }
}

/// The same object as in `Counter`, from an asynchronous load.
enum RemoteCounter: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Number { Number(container[Timeout.self]) }
}
