import Fugu
import FuguConfiguration
import Support
import Testing

extension ContainerKeys {
    fileprivate var limit24: PropertyKey<Int> { .init("law24.limit", defaultValue: 0) }
}

/// A variable has one spelling, however its prefix is written, and whatever wraps its source (law 24).
@Suite struct Law24VariablesTests {
    static let cases: [Case<Law24VariablesTests>] = [
        Case("An element of a list in a file of variables has the place of its line", elements),
        Case("The reference spells variables as the source that was applied does, whatever wraps it", reference),
        Case("An empty variable counts, unless its source is told that it doesn't", empty),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law24VariablesTests>) async throws {
        try await stated.run(self)
    }

    @Test("A prefix is read as a name is", arguments: ["APP", "APP_", "App", "app", "app_", " APP "])
    func prefixes(prefix: String) throws {
        let container = Container()
        container.declare(\.limit24)
        let environment = ["APP_LAW24_LIMIT": "7", "APP_LAW24_LIMT": "8"]
        try container.apply(EnvironmentSource(prefix: prefix, environment: environment))
        expect(container.limit24, equals: 7)
        expect(thrown { try container.validate() }.contains("did you mean APP_LAW24_LIMIT?"))
        expect(EnvironmentSource(prefix: prefix, environment: [:]).name, equals: "environment APP_")
        expect(container.reference().entries[0].variable, equals: "APP_LAW24_LIMIT")
        expect(container.reference(prefix: prefix).entries[0].variable, equals: "APP_LAW24_LIMIT")
        let lines = Container()
        try lines.apply(DotEnvSource(text: "APP_LAW24_LIMIT=7", name: ".env", prefix: prefix))
        expect(lines.limit24, equals: 7)
    }

    func elements() throws {
        let container = Container()
        try container.apply(DotEnvSource(text: "A=1\n\nLAW24_LIST=1,x,3", name: ".env"))
        let message = thrown { _ = try container.property("law24.list", as: [Int].self) }
        expect(message.hasPrefix(".env:3:") && message.contains("LAW24_LIST[1]: expected Int"), "\(message)")
    }

    @Test(
        "A prefix of several words is read as a name is", arguments: ["MY_APP", "MY-APP", "my.app", "myApp", "MyApp"])
    func words(prefix: String) throws {
        let container = Container()
        try container.apply(EnvironmentSource(prefix: prefix, environment: ["MY_APP_LAW24_LIMIT": "7"]))
        expect(container.limit24, equals: 7)
    }

    func reference() throws {
        func variable(_ source: some PropertySource) throws -> String {
            let container = Container()
            container.declare(\.limit24)
            try container.apply(source)
            return container.reference().entries[0].variable
        }
        let source = EnvironmentSource(prefix: "APP", environment: [:])
        try expect(variable(source.markingSecrets("*password")), equals: "APP_LAW24_LIMIT")
        try expect(variable(source.scoped(to: "tenant")), equals: "APP_TENANT_LAW24_LIMIT")
        try expect(variable(DotEnvSource(text: "", name: ".env", prefix: "APP")), equals: "APP_LAW24_LIMIT")
        try expect(variable(DictionarySource([:], name: "x")), equals: "LAW24_LIMIT")
    }

    func empty() throws {
        let word = PropertyKey("law24.word", defaultValue: "default")
        let container = Container()
        let source = EnvironmentSource(prefix: "APP", environment: ["APP_LAW24_WORD": "", "APP_LAW24_LIMIT": ""])
        try container.apply(source)
        expect(container[word], equals: "")
        #expect(throws: PropertyError.self) { try container.require(\.limit24) }
        let other = Container()
        try other.apply(DictionarySource(["law24.limit": 3], name: "base"))
        try other.apply(source.ignoringEmptyTexts())
        expect(other[word], equals: "default")
        expect(other.limit24, equals: 3)
    }

    @Test(
        "A line of a .env file without a prefix that almost has a name is reported, and those of others aren't",
        arguments: ["exportLAW24_LIMIT=1", "LAW24-LIMIT=1", "LAW24_LIMT=1", "law24.limt=1"])
    func nearLines(line: String) throws {
        let container = Container()
        container.declare(\.limit24)
        try container.apply(DotEnvSource(text: "PATH=x\nEDITOR=y\n\(line)", name: ".env"))
        let text = thrown { try container.validate() }
        expect(text.hasPrefix(".env:3:1: ") && text.hasSuffix("unknown name; did you mean LAW24_LIMIT?"), "\(text)")
    }
}
