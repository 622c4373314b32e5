// The page shows the declarations without comments.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
public import Fugu
import FuguTesting
import Testing

/// Declarations that the page takes for granted.
nonisolated private func downloadRate(_ currency: String) async throws -> Double { 1 }

extension ContainerKeys {
    public var language: PropertyKey<String> { .init(defaultValue: "en") }
}

public struct Rates: Feature, External, Sendable {
    public var rate: @Sendable (_ currency: String) async throws -> Double

    public init(rate: @escaping @Sendable (_ currency: String) async throws -> Double) { self.rate = rate }

    public static func load(in container: any FeatureContainer) -> Rates { Rates { try await downloadRate($0) } }
    public static var placeholder: Rates { Rates(rate: unimplemented("Rates.rate")) }
}

/// A namespace: `Dictionary` has a meaning elsewhere.
public enum PublicPage {
    public protocol Dictionary: Sendable {
        func meaning(of word: String) -> String?
    }

    public enum Words: Feature {
        public static func load(in container: any FeatureContainer) -> any Dictionary { EmptyDictionary() }
    }

    nonisolated struct EmptyDictionary: Dictionary {
        func meaning(of word: String) -> String? { nil }
    }

    struct LanguageDictionary: Dictionary {
        let language: String
        func meaning(of word: String) -> String? { "\(word) in \(language)" }
    }
}

extension ContainerKeys {
    public typealias Dictionary = PublicPage.Dictionary
    private typealias EmptyDictionary = PublicPage.EmptyDictionary
}

extension ContainerKeys {
    public var phrasebook: FeatureKey<any Dictionary> { .required(placeholder: EmptyDictionary()) }
}

extension ContainerKeys {
    public var greetings: FeatureKey<[String]> { .init { _ in ["Hello"] } }
}

extension Snippets {
    private typealias Words = PublicPage.Words
    private typealias LanguageDictionary = PublicPage.LanguageDictionary

    @Test("Features of a library: an app supplies what implements a protocol")
    func implementation() async throws {
        #expect(Container()[Words.self].meaning(of: "fugu") == nil)
        try await run {
            let container = Container()
            container.replace(Words.self) { LanguageDictionary(language: $0.language) }
            container.language = "no"
            print(container[Words.self].meaning(of: "fugu") ?? "unknown")  // fugu in no
        }
    }

    @Test("Features of a library: what the program forgets to supply is reported when it starts", .liveContainer)
    func requiredFeatures() async throws {
        try await run {
            let container = Container()
            do {
                try await container.warmUp { $0.load(\.phrasebook) }
            } catch let error as WarmUpError {
                print(error.failures.map { $0.path.joined(separator: " → ") })  // ["\\.phrasebook"]
            }
            container.replace(\.phrasebook) { LanguageDictionary(language: $0.language) }
            print(container.phrasebook.meaning(of: "fugu") ?? "unknown")  // fugu in en
        }
    }

    @Test("Features of a library: modules and children add to a list")
    func contributions() async throws {
        try await run {
            let container = Container()
            container.contribute(to: \.greetings) { "Hello in \($0.language)" }
            container.contribute(to: \.greetings) { _ in "Ahoy" }
            let child = container.child { $0.language = "no" }
            child.contribute(to: \.greetings) { _ in "Hei" }
            print(container.greetings)  // ["Hello", "Hello in en", "Ahoy"]
            print(child.greetings)  // ["Hello", "Hello in no", "Ahoy", "Hei"]
        }
    }
}

extension ContainerKeys {
    /// How often a request is tried again.
    public var retries: PropertyKey<Int> { .init(defaultValue: 3) }
}
