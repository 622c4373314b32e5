import Foundation
import Fugu
import FuguConfiguration
import Support
import Testing

extension ContainerKeys {
    fileprivate var timeout: PropertyKey<Int> { .init("api.timeout", defaultValue: 30) }
    fileprivate var api: PropertyKey<[String: Int]> { .init("api", defaultValue: [String: Int]()) }
    fileprivate var hosts: PropertyKey<[String]> { .init("api.hosts", defaultValue: [String]()) }
    fileprivate var limit: PropertyKey<Int?> { .init("api.limit") }
}

private struct API: Encodable {
    struct Inner: Encodable { var timeout = 5 }
    var api = Inner()
}

@Suite struct Law24NamesTests {
    static let cases: [Case<Law24NamesTests>] = [
        Case("A layer answers with its whole table: tables are never merged (law 24)", tables),
        Case("Arrays are replaced as a whole too (law 24)", arrays),
        Case(
            "null is a value: it hides what earlier layers have, and does not fit a type without nil (laws 24, 25)",
            null),
        Case("A value in place of a table, and a table in place of a value, is what the layer has", shapes),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law24NamesTests>) async throws { try await stated.run(self) }

    private let container = Container()

    @Test(
        "The same dotted name is meant in every format (law 24)",
        arguments: [
            JSONSource(text: #"{"api": {"timeout": 5}}"#, name: "x"),
            JSONSource(text: #"{"api.timeout": 5}"#, name: "x"),
            TOMLSource(text: "[api]\ntimeout = 5", name: "x"), TOMLSource(text: "api.timeout = 5", name: "x"),
            DictionarySource(["api": ["timeout": 5]], name: "x"), StructSource(reflecting: API()),
            EnvironmentSource(prefix: "APP", environment: ["APP_API_TIMEOUT": "5"]),
            ArgumentsSource(["--api-timeout", "5"]), ArgumentsSource(["--api.timeout=5"]),
        ] as [any PropertySource])
    func formats(source: any PropertySource) throws {
        try container.apply(source)
        expect(container.timeout, equals: 5)
        try expect(container.property("api.timeout", as: Int.self), equals: 5)
        try expect(container.require(\.timeout), equals: 5)
    }

    func tables() throws {
        try container.apply(JSONSource(text: #"{"api": {"timeout": 1, "limit": 2, "retries": 3}}"#, name: "base"))
        try container.apply(TOMLSource(text: "[api]\ntimeout = 9\nretries = 3", name: "local"))
        expect(container.api, equals: ["timeout": 9, "retries": 3])
        // A name is asked of each layer on its own, so what the later one lacks comes from the earlier one.
        expect(container.timeout, equals: 9)
        expect(container.limit, equals: 2)
    }

    func arrays() throws {
        try container.apply(JSONSource(text: #"{"api": {"hosts": ["a", "b", "c"]}}"#, name: "base"))
        try container.apply(ArgumentsSource(["--api-hosts", "z"]))
        expect(container.hosts, equals: ["z"])
    }

    func null() throws {
        let reports = container.reports()
        try container.apply(JSONSource(text: #"{"api": {"limit": 1, "timeout": 1}}"#, name: "base"))
        expect(container.limit, equals: 1)
        expect(container.timeout, equals: 1)
        try container.apply(JSONSource(text: #"{"api": {"limit": null, "timeout": null}}"#, name: "local"))
        expect(container.limit == nil)
        expect(container.timeout, equals: 30)
        expect(reports.all, equals: ["local:1:36: api.timeout: expected Int, found null"])
    }

    func shapes() throws {
        let reports = container.reports()
        // A name of its own, since values are hidden of tables in which anything in the process declares a secret.
        let (table, member) = (
            PropertyKey("shape", defaultValue: [String: Int]()), PropertyKey("shape.size", defaultValue: 30)
        )
        try container.apply(JSONSource(text: #"{"shape": {"size": 1}}"#, name: "base"))
        try container.apply(JSONSource(text: #"{"shape": 5}"#, name: "local"))
        // The later layer has nothing under shape.size.
        expect(container[member], equals: 1)
        expect(container[table], equals: [:])
        expect(reports.all, equals: ["local:1:11: shape: expected table, found integer 5"])
    }
}
