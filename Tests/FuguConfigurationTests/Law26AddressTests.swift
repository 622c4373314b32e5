import Foundation
import Fugu
import FuguConfiguration
import Support
import FuguInspection
import Testing

extension ContainerKeys {
    fileprivate var database: PropertyKey<String?> { .init("law26.address") }
    fileprivate var link: PropertyKey<URL?> { .init("law26.link") }
    fileprivate var limit: PropertyKey<Int> { .init("law26.limit", defaultValue: 1) }
    fileprivate var replicas: PropertyKey<[String]> { .init("law26.replicas", defaultValue: []) }
    fileprivate var fallback: PropertyKey<URL> {
        .init("law26.fallback", defaultValue: URL(string: "redis://:hunter2@cache.example:6379")!)
    }
}

/// The user's part of a URL is never printed, secret or not.
struct Law26AddressTests {
    @Test(
        "A printed URL has no user and no password (law 26)",
        arguments: [
            ("postgres://user:hunter2@db.example:5432/app", "postgres://…@db.example:5432/app"),
            ("https://hunter2@example.org", "https://…@example.org"),
            ("redis://:hunter2@cache/0?a=b@c", "redis://…@cache/0?a=b@c"),
            ("amqp://u:hunter/2#?@host/x", "amqp://…@host/x"),
            ("mongodb://u:hunter2@a:1,b:2/x", "mongodb://…@a:1,b:2/x"),
            ("a://u:hunter2@b c://v:hunter2@d", "a://…@b c://…@d"),
            ("https://u:p@hunter2@example.org", "https://…@example.org"),
            ("https://example.org/@user", "https://example.org/@user"), ("user@example.org", "user@example.org"),
            ("https://example.org", "https://example.org"), ("://", "://"), ("é://ü:hunter2@ö/@", "é://…@ö/@"),
        ])
    func texts(text: String, expected: String) throws {
        let quoted = "\"\(expected)\""
        expect(PropertyValue.string(text).description, equals: quoted)
        expect(PropertyError("it's \(text)").description, equals: "it's \(expected)")
        expect(PropertyOrigin(source: text).description, equals: expected)
        let container = Container()
        try container.apply(
            DictionarySource(["law26.address": .string(text), "law26.limit": .string(text)], name: "x"))
        expect(container.explain(\.database).winner.value, equals: quoted)
        let error = #expect(throws: PropertyError.self) { try container.require(\.limit) }
        #expect(error?.found?.contains("hunter2") == false && error?.description.contains("hunter2") == false)
    }

    @Test("A long URL is cut after its user is left out, so that no part of it is seen (law 26)")
    func long() throws {
        let container = Container()
        let text = "postgres://user:hunter2\(String(repeating: "hunter2", count: 20))@db.example/app"
        try container.apply(EnvironmentSource(environment: ["LAW26_LIMIT": text]))
        let error = #expect(throws: PropertyError.self) { try container.require(\.limit) }
        expect(error?.found, equals: "text \"postgres://…@db.example/app\"")
    }

    @Test("Explanations, references, and graphs print no user of a URL, in lists and defaults, too (law 26)")
    func everywhere() throws {
        let container = Container()
        container.declare(\.database, \.link, \.replicas, \.fallback)
        let text = "postgres://user:hunter2@db.example/app"
        try container.apply(
            TOMLSource(text: "law26.replicas = ['\(text)', '\(text)']\nlaw26.link = '\(text)'", name: "x.toml"))
        try container.apply(ArgumentsSource(["--law26-address", text]))
        container.link = URL(string: text)
        _ = (container.database, container.replicas, container.fallback)
        let reference = container.reference()
        let texts =
            container.explain().map(\.description) + [
                reference.helpText, reference.toml, reference.markdown,
                "\(container.graph(includingValues: true))", "\(container)",
            ]
        for text in texts { #expect(!text.contains("hunter2"), "\(text)") }
        #expect(container.explain(\.replicas).winner.value?.contains("postgres://…@db.example/app") == true)
    }
}
