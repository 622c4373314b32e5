import Fugu
import FuguTesting
import StrictnessCases
import Support
import Testing

/// Law 29: what a type declares for tests in a way that isn't used.
struct StrictLeftoverTests {
    /// Lack `External`.
    struct Radio: Feature {
        var name = "real"
        static func load(in container: any FeatureContainer) -> Radio { Radio() }
        static var placeholder: Radio { Radio(name: "placeholder") }
    }
    enum Paper: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> String { "real" }
        static let preview = "preview"
    }
    enum Depot: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> String { "real" }
        static var placeholder: String { "placeholder" }
        static var preview: String { "preview" }
    }
    struct Press: Feature {
        let text: String
        static func load(in container: any FeatureContainer) -> Press {
            Press(text: container[Radio.self].name + container[Icons.self])
        }
    }

    /// Mean something else.
    enum Icons: Feature {
        static func load(in container: any FeatureContainer) -> String { "real" }
        static let placeholder = 7
        static let preview = 8
    }
    enum Named: Feature {
        static func load(in container: any FeatureContainer) -> String { "real" }
        static func placeholder(_ number: Int) -> String { "\(number)" }
        static func testValue(in container: any FeatureContainer) -> String { "for tests" }
        static let preview = "preview"
    }

    /// Are external, and declare variables as other libraries have them.
    struct Mail: Feature, External {
        var name = "real"
        static func load(in container: any FeatureContainer) -> Mail { Mail() }
        static var placeholder: Mail { Mail(name: "placeholder") }
        static let testValue = Mail(name: "for tests")
    }
    enum Ledger: ThrowingFeature, External {
        static func load(in container: any FeatureContainer) throws -> String { "real" }
        static let testValue = "for tests"
    }
    enum Bank: AsyncFeature, External {
        static func load(in container: any FeatureContainer) async throws -> String { "real" }
        static let testValue = 1
    }
    struct Stamp: Feature, External {
        static func load(in container: any FeatureContainer) -> Stamp { Stamp() }
        static var placeholder: Stamp { Stamp() }
    }

    @Test("A strict container reports the load of a type with a placeholder or a preview but without External (law 29)")
    func withoutExternal() async throws {
        @Sendable func readAll(in container: Container) async throws {
            expect(container[Press.self].text, equals: "realreal")
            try await expect(container[Paper.self] + container[Depot.self], equals: "realreal")
            expect(container[Named.self], equals: container === Container.current ? "for tests" : "real")
        }
        let found = await issues {
            try await readAll(in: .program())
            try await runCase(.container) {
                try await readAll(in: .current)
                Container.current.reset(Radio.self)
                _ = Container.current[Radio.self]
            }
        }
        expect(
            found.map { String($0.text.prefix { $0 != "\n" }) },
            equals: [("Radio", "placeholder"), ("Paper", "preview"), ("Depot", "placeholder")].map {
                "Fugu: \($0) was loaded for real, since it isn't External, so its static \($1) isn't used."
            })
        let rest = "\nPath: Press → Radio\nFix: conform StrictLeftoverTests.Radio to External, "
        expect(found.first?.text.contains(rest) == true, "\(found)")
    }

    @Test("A refusal names the static testValue of an external type, which isn't used (law 29)")
    func variable() async throws {
        let found = await issues {
            try await runCase(.container) {
                let container = Container.current
                expect(container[Mail.self].name, equals: "placeholder")
                #expect(throws: LoadError.self) { try container[Ledger.self] }
                await #expect(throws: LoadError.self) { try await container[Bank.self] }
                _ = container[Stamp.self]
            }
        }
        let line =
            "\n(Its static testValue isn't used: declare static func testValue(in container: any FeatureContainer) in its place.)"
        expect(found.map { $0.text.hasSuffix(line) }, equals: [true, true, true, false], "\(found)")
    }
}
