import Dispatch
package import Fugu
import ShopInterface

/// Where code runs, as `MainActor.preconditionIsolated` knows it; on Linux, the main actor has no thread of its own.
package nonisolated enum Here {
    private static let mark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    package static var isOnMainActor: Bool { DispatchQueue.getSpecific(key: mark) == true }
}

/// Whether the main actor evaluates the default.
package struct DefaultOnMain: Property {
    package static var defaultValue: Bool { Here.isOnMainActor }
}

package struct Greeter: Feature, Equatable, Sendable {
    package let text: String
    package let loadedOnMain: Bool

    package init(text: String) { (self.text, loadedOnMain) = (text, Here.isOnMainActor) }

    package static func load(in container: any FeatureContainer) -> Greeter {
        Greeter(text: "Hello, \(container.userName)")
    }
    package static var reloadsWhenInputsChange: Bool { true }
}

package struct Catalog: ThrowingFeature, Sendable {
    package struct Missing: Error {}
    package let titles: [String]
    package let loadedOnMain: Bool

    package static func load(in container: any FeatureContainer) throws -> Catalog {
        guard container.tenant != "missing" else { throw Missing() }
        return Catalog(titles: ["tea of \(container.tenant)"], loadedOnMain: Here.isOnMainActor)
    }
    package static var reloadsWhenInputsChange: Bool { true }
}

/// A connection for each tenant.
package struct Connection: AsyncFeature, Sendable {
    package let tenant: String

    package static func load(in container: any FeatureContainer) async throws -> Connection {
        precondition(#isolation == nil && !Here.isOnMainActor, "an async load belongs to no actor")
        container.onClose {}
        return Connection(tenant: container.tenant)
    }
    package static var home: Home { .with(\.tenant) }
}

/// Belongs to the main actor, as everything does here that says nothing.
package final class Screen: MainActorFeature {
    package var title: String
    package var visits = 0

    package init(title: String) { self.title = title }

    package static func load(in container: any FeatureContainer) -> Screen {
        MainActor.preconditionIsolated()
        return Screen(title: container.greeter.text)
    }
    package static var reloadsWhenInputsChange: Bool { true }
}

/// Loads on the main actor, though its load suspends.
@MainActor package final class Basket: AsyncFeature {
    package let screen: Screen
    init(screen: Screen) { self.screen = screen }

    @MainActor package static func load(in container: any FeatureContainer) async throws -> Basket {
        MainActor.preconditionIsolated()
        return Basket(screen: container.screen)
    }
}

extension ContainerKeys {
    package var greeter: FeatureKey<Greeter> { .init(Greeter.self) }
    package var screen: MainActorFeatureKey<Screen> { .init(Screen.self) }
}

package final class Window {
    private let container = Container.current
    package var screen: Screen { container.screen }
    @Injected(\.greeter) package var greeter
    package private(set) var titles: [String] = []

    package init() {}

    package func follow(_ container: Container) -> Task<Void, Never> {
        let screens = container.values(of: \.screen)
        return Task { [weak self] in
            for await screen in screens {
                MainActor.preconditionIsolated()
                self?.titles.append(screen.title)
            }
        }
    }
}

package nonisolated struct Receipts: PaymentService {
    let payer: String

    package func pay(_ amount: Int) async throws -> String { "\(payer) pays \(amount)" }
}

/// What the program supplies and adds when it starts.
package func start(_ container: Container) {
    container.replace(\.payments) { Receipts(payer: $0.userName) }
    container.contribute(to: \.routes) { "/users/\($0.userName)" }
    container.contribute(to: \.routes) { _ in "/health" }
}
