import Foundation
import Fugu
import FuguConfiguration
import Support
import Testing

extension ContainerKeys {
    fileprivate var endpoint: PropertyKey<Endpoint?> { .init("invented.endpoint") }
    fileprivate var endpoints: PropertyKey<[Endpoint]> { .init("invented.endpoints", defaultValue: []) }
    fileprivate var numbered: PropertyKey<Numbered?> { .init("invented.numbered") }
    fileprivate var merged: PropertyKey<Numbered?> { .init("invented.merged", form: .merged) }
    fileprivate var pool: PropertyKey<Pool> { .init("invented.pool", defaultValue: Pool(size: 1), form: .merged) }
}

/// Stops the program if it's decoded from something that nobody wrote.
private struct Endpoint: Codable, Sendable, Equatable {
    let url: URL
    let share: Int

    enum CodingKeys: String, CodingKey { case url, share }

    init(share: Int) { (url, self.share) = (URL(filePath: "/"), share) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        url = URL(string: try container.decode(String.self, forKey: .url))!
        share = 100 / (try container.decodeIfPresent(Int.self, forKey: .share) ?? 1)
    }
}

/// Asks for one member after the other until one is missing.
private struct Numbered: Decodable, Sendable {
    var values: [Int] = []

    struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Name.self)
        func name() -> Name { Name(stringValue: "n\(values.count)") }
        while container.contains(name()), let next = try container.decodeIfPresent(Int.self, forKey: name()) {
            values.append(next)
        }
    }
}

private struct Pool: Codable, Sendable {
    var size: Int
    var hosts: [String]?
    var limits: [String: Int]?
    var parts: [Part]?

    struct Part: Codable, Sendable { var name: String }
}

/// Decodes from text, but not from every text.
private struct Digits: Codable, Sendable {
    let number: Int
    let extra: Int

    init(number: Int) { (self.number, extra) = (number, 0) }
    init(from decoder: any Decoder) throws {
        number = Int(try decoder.singleValueContainer().decode(String.self))!
        extra = 0
    }
}

private struct Holder {
    var digits = Digits(number: 5)
    var endpoint = Endpoint(share: 0)
    lazy var later = 7
}

@Suite("What nobody wrote is decoded only where the documentation says so (law 16)", .timeLimit(.minutes(5)))
struct InventedValuesTests {}

extension InventedValuesTests {
    private static let text = """
        [invented.endpoint]
        url = 'http://one'
        [[invented.endpoints]]
        url = 'http://two'
        share = 50
        [invented.numbered]
        n0 = 1
        n1 = 2
        """

    @Test("Checks, changes, and explanations decode a type only from values that a source has (law 16)")
    func onlyWhatIsThere() throws {
        let container = Container()
        try container.validate(\.endpoint, \.endpoints, \.numbered)
        try container.apply(TOMLSource(text: Self.text, name: "a.toml"))
        let child = container.child()
        try child.apply(TOMLSource(text: "[invented.endpoint]\nurl = 'http://child'", name: "b.toml"))
        try child.validate(\.endpoint, \.endpoints, \.numbered)
        let values = MutableSource(["invented": ["numbered": ["n0": 2]]], name: "values")
        try container.apply(values)
        container.declare(\.endpoint, \.endpoints, \.numbered)
        values["invented"] = ["numbered": ["n0": 3]]
        expect(container.numbered?.values, equals: [3])
        container.endpoint = child.endpoint
        expect(container.explain(\.endpoint).description.contains("url"))
        // The advice for a variable asks which keys are tables.
        try container.apply(EnvironmentSource(prefix: "APP", environment: ["APP_INVENTED_ENDPOINT_URL": "x"]))
        let error = #expect(throws: PropertyErrors.self) { try container.validate() }
        expect("\(error!)".contains("APP_INVENTED_ENDPOINT_URL"))
    }

    @Test("A type that asks for any number of members ends, and a merged one reads what is there (laws 16 and 20)")
    func anyNumber() throws {
        let container = Container()
        try container.apply(TOMLSource(text: "[invented.merged]\nn0 = 1\nn1 = 2", name: "a.toml"))
        expect(container.merged?.values, equals: [1, 2])
        try container.validate(\.merged)
        container.declare(\.merged)
        expect(container.reference().helpText.contains("--invented-merged"))
    }

    @Test("A source of an instance decodes no description that the type doesn't write itself")
    func descriptions() throws {
        var holder = Holder()
        _ = holder.later
        let container = Container()
        try container.apply(StructSource(reflecting: holder))
        try expect(container.property("digits.number", as: Int.self), equals: 5)
        try expect(container.property("later", as: Int.self), equals: 7)
        try expect(container.property("endpoint.share", as: Int.self), equals: 0)
        container.endpoint = holder.endpoint
        expect(container.explain(\.endpoint).description.contains("{url, share}"))
    }

    @Test("Members that no text can hold have no variable and no argument")
    func members() {
        let container = Container()
        container.declare(\.pool)
        let help = container.reference(prefix: "APP").helpText
        expect(help.contains("APP_INVENTED_POOL_SIZE") && help.contains("APP_INVENTED_POOL_HOSTS"), "\(help)")
        expect(!help.contains("APP_INVENTED_POOL_LIMITS") && !help.contains("APP_INVENTED_POOL_PARTS"), "\(help)")
    }
}
