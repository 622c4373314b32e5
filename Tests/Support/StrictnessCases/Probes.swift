package import Fugu
import FuguConfiguration

/// Reaches outside the process.
package struct Mailer: Feature, External {
    package var name: String
    package init(name: String) { self.name = name }
    package static func load(in container: any FeatureContainer) -> Mailer { Mailer(name: "live") }
    package static var placeholder: Mailer { Mailer(name: "placeholder") }
}

/// Needs the mailer.
package struct Signup: Feature {
    package let mailer: Mailer
    package static func load(in container: any FeatureContainer) -> Signup { Signup(mailer: container[Mailer.self]) }
}

/// Needs what needs the mailer.
package struct Account: Feature {
    package let signup: Signup
    package init(signup: Signup) { self.signup = signup }
    package static func load(in container: any FeatureContainer) -> Account { Account(signup: container[Signup.self]) }
}

/// Stands around a feature.
package enum Network {
    /// Reaches outside and may fail; nested in a type, which a line to paste must name.
    package struct Socket: ThrowingFeature, External {
        package let name: String
        package init(name: String) { self.name = name }
        package static func load(in container: any FeatureContainer) throws -> Socket { Socket(name: "live") }
    }
}

/// Reaches outside and suspends.
package struct Database: AsyncFeature, External {
    package let name: String
    package init(name: String) { self.name = name }
    package static func load(in container: any FeatureContainer) async throws -> Database { Database(name: "live") }
}

/// The values set in a container, and the features made from them.
package struct Number: Property { package static var defaultValue: Int { 0 } }

/// Made from the number.
package struct Doubled: Feature {
    package let value: Int
    package static func load(in container: any FeatureContainer) -> Doubled {
        Doubled(value: 2 * container[Number.self])
    }
}

extension ContainerKeys {
    /// An external feature by key.
    package var printer: FeatureKey<String> { .init(placeholder: { "no printer" }) { _ in "live" } }
}

extension ContainerKeys {
    package var port: PropertyKey<Int> { .init("strictness.port", defaultValue: 80) }
}

/// A struct of functions.
package struct Sender: Sendable {
    package var check: @Sendable (String) -> Bool = unimplemented("Sender.check", placeholder: true)
    package var count: @Sendable () -> Int = unimplemented("Sender.count", placeholder: 7)
    package var note: @Sendable (String, Int, Double) -> Void = unimplemented("Sender.note")
    package var send: @Sendable (String, Int) throws -> Int = unimplemented("Sender.send")
    package var flush: @Sendable () throws -> Void = unimplemented("Sender.flush")
    package var fetch: @Sendable (Int) async throws -> String = unimplemented("Sender.fetch")
    package var wait: @Sendable (Int) async -> Void = unimplemented("Sender.wait")
    package var ask: @MainActor @Sendable (Int) async -> Int? = unimplemented("Sender.ask", placeholder: nil)
    package init() {}
}
