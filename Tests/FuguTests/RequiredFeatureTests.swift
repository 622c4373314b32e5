import Fugu
import Support
import Testing

private protocol Payment: Sendable { var name: String { get } }
private struct Named: Payment { let name: String }

extension ContainerKeys {
    fileprivate var currency: PropertyKey<String> { .init(defaultValue: "EUR") }
    fileprivate var receipts: FeatureKey<any Payment> { .required(placeholder: Named(name: "placeholder")) }
}

@Suite("Required features: declared in one module, supplied by another") struct RequiredFeatureTests {}

extension RequiredFeatureTests {
    private enum Payments: Feature, Required {
        typealias Instance = any Payment
        static var placeholder: any Payment { Named(name: "placeholder") }
    }
    private struct Ledger: ThrowingFeature, Required {
        let name: String
    }
    private struct Bank: AsyncFeature, Required {
        let name: String
    }
    private struct Checkout: Feature {
        let text: String
        static func load(in container: any FeatureContainer) -> Checkout {
            Checkout(text: container[Payments.self].name + container.receipts.name)
        }
    }
    private struct Shop: AsyncFeature {
        let text: String
        static func load(in container: any FeatureContainer) async throws -> Shop {
            Shop(text: container[Checkout.self].text)
        }
    }

    @Test("A supplied feature loads with the container's values, and in a child with the child's (laws 10 and 11)")
    func supplied() async throws {
        let container = Container.program()
        container.replace(Payments.self) { Named(name: "card in \($0.currency)") }
        container.replace(\.receipts) { Named(name: "paper in \($0.currency)") }
        container.replace(Ledger.self) { _ in Ledger(name: "ledger") }
        container.set(Bank.self, to: Bank(name: "bank"))
        expect(container[Payments.self].name, equals: "card in EUR")
        expect(container.receipts.name, equals: "paper in EUR")
        expect(container.child { $0.currency = "NOK" }.receipts.name, equals: "paper in NOK")
        try expect(container[Ledger.self].name, equals: "ledger")
        try await expect(container[Bank.self].name, equals: "bank")
    }

    @Test("A read of one that nothing supplies stops the program, with the path and the line to write")
    func forgotten() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = Container.program()[Checkout.self]
        }
        expectMessage(of: result, "nothing supplies it.", "Path: Checkout → Payments")
        expectMessage(of: result, "container.replace(Payments.self) { … }")
        let key = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = Container.program().receipts
        }
        expectMessage(of: key, "container.replace(\\.receipts) { … }")
    }

    @Test("A throwing or async one that nothing supplies throws, and can be supplied afterwards (law 4)")
    func throwing() async throws {
        let container = Container.program()
        let error = #expect(throws: LoadError.self) { try container[Ledger.self] }
        expect(error?.path, equals: ["Ledger"])
        expect(error?.description.contains("nothing supplies it"), equals: true)
        let later = await #expect(throws: LoadError.self) { try await container[Bank.self] }
        expect(error?.code, equals: .notSupplied)
        expect(later?.code, equals: .notSupplied)
        expect(later?.path, equals: ["Bank"])
        container.set(Ledger.self, to: Ledger(name: "ledger"))
        try expect(container[Ledger.self].name, equals: "ledger")
    }

    @Test("A warm-up names each feature that nothing supplies once, however deep it's needed, and keeps no placeholder")
    func warmUp() async throws {
        let container = Container.program()
        let error = await #expect(throws: WarmUpError.self) {
            try await container.warmUp {
                $0.load(Shop.self)
                $0.load(Checkout.self)
                $0.load(Ledger.self)
                $0.load(Bank.self)
            }
        }
        expect(
            error?.failures.map(\.path),
            equals: [
                ["Shop", "Checkout", "Payments"], ["Shop", "Checkout", "\\.receipts"], ["Ledger"], ["Bank"],
            ])
        expect(container.ifLoaded(Checkout.self) == nil)
        expect(container.ifLoaded(Payments.self) == nil)
        expect(container.ifLoaded(Shop.self) == nil)
        container.replace(Payments.self) { _ in Named(name: "card") }
        container.receipts = Named(name: " paper")
        try await container.warmUp { $0.load(Shop.self) }
        try await expect(container[Shop.self].text, equals: "card paper")
    }

    @Test("A supply in a child is none of its parent's (law 10)")
    func inChild() async throws {
        let container = Container.program()
        let child = container.child { $0.set(Bank.self, to: Bank(name: "bank")) }
        try await child.warmUp { $0.load(Bank.self) }
        await #expect(throws: WarmUpError.self) { try await container.warmUp { $0.load(Bank.self) } }
    }

    @Test("One that nothing supplies can't be decorated into being, and the path names it once")
    func decorated() async {
        let container = Container.program()
        container.decorate(Payments.self) { payments, _ in Named(name: "logged \(payments.name)") }
        let error = await #expect(throws: WarmUpError.self) { try await container.warmUp { $0.load(Payments.self) } }
        expect(error?.failures.map(\.path), equals: [["Payments"]])
        let supplied = Container.program()
        supplied.replace(Payments.self) { _ in Named(name: "card") }
        supplied.decorate(Payments.self) { payments, _ in Named(name: "logged \(payments.name)") }
        expect(supplied[Payments.self].name, equals: "logged card")
    }
}
