import Foundation
import Fugu
import FuguConfiguration
import Support
import Testing

extension ContainerKeys {
    fileprivate var debug: PropertyKey<Bool> { .init("law25a.debug", defaultValue: false) }
    fileprivate var link: PropertyKey<URL?> { .init("law25a.link") }
    fileprivate var level: PropertyKey<Loudness> { .init("law25a.level", defaultValue: .info) }
    fileprivate var many: PropertyKey<Many> { .init("law25a.many", defaultValue: .c0) }
    fileprivate var shape: PropertyKey<Shape?> { .init("law25a.shape") }
    fileprivate var api: PropertyKey<String?> { .init("law25a.api.url") }
}

private enum Loudness: String, Decodable, CaseIterable { case debug, info }

private enum Many: String, Decodable, CaseIterable {
    case c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12
}

private enum Shape: Decodable, CaseIterable, Sendable { case round, square }

private func problems(_ body: () throws -> Void) -> String {
    do {
        try body()
        return ""
    } catch {
        return "\(error)"
    }
}

/// Errors say what to do.
struct Law25AdviceTests {
    @Test(
        "An error about a Boolean value in a usual spelling says how to accept it (law 25)",
        arguments: ["1", "yes", "OFF"])
    func booleans(text: String) throws {
        let container = Container()
        try container.apply(EnvironmentSource(environment: ["LAW25A_DEBUG": text]))
        #expect(
            problems { try container.validate(\.debug) }
                == "environment variable LAW25A_DEBUG: law25a.debug: expected Bool (true or false; a key with form: .anyBoolean takes yes, on, and 1, too), found text \"\(text)\""
        )
    }

    @Test("An error about a URL says what would be accepted (law 25)")
    func urls() throws {
        let container = Container()
        try container.apply(TOMLSource(text: "law25a.link = 'https://example.org/a b'", name: "x"))
        #expect(
            problems { try container.validate(\.link) }
                == "x:1:15: law25a.link: expected URL (percent-encode spaces and the like, as in a%20b), found string \"https://example.org/a b\""
        )
    }

    @Test("An error about an enumeration lists its cases, and says that there are more than a dozen (law 25)")
    func cases() throws {
        let container = Container()
        try container.apply(
            TOMLSource(text: "law25a.level = 'x'\nlaw25a.many = 'x'\nlaw25a.shape = {oval = {}}", name: "x"))
        #expect(
            problems { try container.validate(\.level, \.many, \.shape) } == """
                x:1:16: law25a.level: expected Loudness (debug, info), found string "x"
                x:2:15: law25a.many: expected Many (c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, …), found string "x"
                x:3:16: law25a.shape: expected one case of Shape (round, square), found oval
                """)
    }

    @Test("An unknown name that resembles none says that keys must be declared (law 25)")
    func declared() throws {
        let container = Container()
        try container.apply(TOMLSource(text: "[law25a.api]\nurl = 'x'", name: "app.toml"))
        let text = problems { try container.validate() }
        #expect(
            text
                == "app.toml:1:2: law25a: unknown name\(undeclared)"
        )
        container.declare(\.api)
        expect(problems { try container.validate() }, equals: "")
    }
}
