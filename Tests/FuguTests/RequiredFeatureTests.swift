import Fugu
import Support
import Testing

private protocol Payment: Sendable { var name: String { get } }
private struct Named: Payment { let name: String }

extension ContainerKeys {
    fileprivate var currency: PropertyKey<String> { .init(defaultValue: "EUR") }
    fileprivate var payments: FeatureKey<any Payment> { .required { _ in Named(name: "for tests") } }
    fileprivate var receipts: FeatureKey<any Payment> { .required(placeholder: Named(name: "placeholder")) }
}

/// Required features: declared in one module, supplied by another.
struct RequiredFeatureTests {}

extension RequiredFeatureTests {
    private struct Checkout: Feature {
        let text: String
        static func load(in container: any FeatureContainer) -> Checkout {
            Checkout(text: container.payments.name + container.receipts.name)
        }
    }
    private struct Shop: AsyncFeature {
        let text: String
        static func load(in container: any FeatureContainer) async throws -> Shop {
            Shop(text: container[Checkout.self].text)
        }
    }

    @Test(
        "A supplied feature loads with its container's values; a supply in a child is none of its parent's (laws 10 and 11)"
    )
    func supplied() async throws {
        // A supplied feature loads with the container's values, and in a child with the child's.
        do {
            let container = Container.program()
            container.replace(\.payments) { Named(name: "card in \($0.currency)") }
            container.replace(\.receipts) { Named(name: "paper in \($0.currency)") }
            expect(container.payments.name, equals: "card in EUR")
            expect(container.receipts.name, equals: "paper in EUR")
            expect(container.child { $0.currency = "NOK" }.receipts.name, equals: "paper in NOK")
        }
        // A supply in a child is none of its parent's.
        do {
            let container = Container.program()
            let child = container.child { $0.payments = Named(name: "card") }
            try await child.warmUp { $0.load(\.payments) }
            await #expect(throws: WarmUpError.self) { try await container.warmUp { $0.load(\.payments) } }
        }
    }

    @Test("A read of one that nothing supplies stops the program, with the path and the line to write")
    func forgotten() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = Container.program()[Checkout.self]
        }
        expectMessage(of: result, "nothing supplies it.", "Path: Checkout → \\.payments")
        expectMessage(of: result, "container.replace(\\.payments) { … }")
        let key = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = Container.program().receipts
        }
        expectMessage(of: key, "container.replace(\\.receipts) { … }")
    }

    @Test("A warm-up names each feature that nothing supplies once, however deep it's needed, and keeps no placeholder")
    func warmUp() async throws {
        let container = Container.program()
        let error = await #expect(throws: WarmUpError.self) {
            try await container.warmUp {
                $0.load(Shop.self)
                $0.load(Checkout.self)
            }
        }
        expect(
            error?.failures.map(\.path),
            equals: [
                ["Shop", "Checkout", "\\.payments"], ["Shop", "Checkout", "\\.receipts"],
            ])
        expect(error?.failures.allSatisfy { ($0.error as? LoadError)?.code == .notSupplied }, equals: true)
        expect(container.ifLoaded(Checkout.self) == nil)
        expect(container.ifLoaded(\.payments) == nil)
        expect(container.ifLoaded(Shop.self) == nil)
        container.replace(\.payments) { _ in Named(name: "card") }
        container.receipts = Named(name: " paper")
        try await container.warmUp { $0.load(Shop.self) }
        try await expect(container[Shop.self].text, equals: "card paper")
    }

    @Test("One that nothing supplies can't be decorated into being, and the path names it once")
    func decorated() async {
        let container = Container.program()
        container.decorate(\.payments) { payments, _ in Named(name: "logged \(payments.name)") }
        let error = await #expect(throws: WarmUpError.self) { try await container.warmUp { $0.load(\.payments) } }
        expect(error?.failures.map(\.path), equals: [["\\.payments"]])
        let supplied = Container.program()
        supplied.replace(\.payments) { _ in Named(name: "card") }
        supplied.decorate(\.payments) { payments, _ in Named(name: "logged \(payments.name)") }
        expect(supplied.payments.name, equals: "logged card")
    }
}
