import Support
import Testing

@testable import FuguConfiguration

@Suite struct LocatedErrorTests {
    static let cases: [Case<LocatedErrorTests>] = [
        Case("A missing member is named at the place of its table", missing),
        Case("An array that is too short is named at the place of its next element", short),
        Case(
            "What a type itself says against a value is reported with its place, unless it is secret (law 26)",
            ownReasons),
        Case("An error about a secret has the kind of the value and never the value (law 26)", secrets),
        Case("A long string is cut in an error", long),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<LocatedErrorTests>) async throws { try await stated.run(self) }

    private struct Server: Decodable {
        struct Limits: Decodable { var load: Double }
        var host: String
        var port: UInt16
        var limits: Limits?
    }

    private static let servers = """
        # 🐡
        [[servers]]
        host = "a"
        port = 80

        [[servers]]
        host = "b"
        port = 80000

        [servers.limits]
        load = 1
        """

    @Test("An error deep inside an array of tables carries the place and the dotted name (law 25)")
    func deep() {
        let error = #expect(throws: PropertyError.self) { try readTOML("servers", Self.servers, as: [Server].self) }
        expect(error?.description, equals: "x:8:8: servers[1].port: expected UInt16 (0...65535), found integer")
        expect(error?.line == 8 && error?.column == 8 && error?.name == "servers[1].port")
        expect(error?.expected, equals: "UInt16 (0...65535)")
        expect(error?.found, equals: "integer")
        expect(error?.source, equals: "x")
    }

    func missing() {
        let text = "{\"a\": [{\"host\": \"h\", \"port\": 1}, {\"host\": \"h\"}], \"b\": {}}"
        let error = #expect(throws: PropertyError.self) { try read("a", text, as: [Server].self) }
        expect(error?.description, equals: "x:1:34: a[1].port: missing; expected UInt16")
        struct Deep: Decodable { var limits: Server.Limits }
        let other = #expect(throws: PropertyError.self) { try read("b", text, as: Deep.self) }
        expect(other?.description, equals: "x:1:55: b.limits: missing; expected Limits")
    }

    func short() {
        struct Pair: Decodable {
            init(from decoder: any Decoder) throws {
                var list = try decoder.unkeyedContainer()
                _ = (try list.decode(Int.self), try list.decode(Int.self))
            }
        }
        expect(message("[1]", Pair.self), equals: "x:1:7: a[1]: missing; expected Int")
    }

    func ownReasons() throws {
        struct Port: Decodable {
            struct Reserved: Error, CustomStringConvertible {
                var port: Int; var description: String { "port \(port) is reserved" }
            }
            init(from decoder: any Decoder) throws {
                throw Reserved(port: try decoder.singleValueContainer().decode(Int.self))
            }
        }
        expect(message("[22]", [Port].self), equals: "x:1:8: a[0]: port 22 is reserved")
        let value = try #require(try JSONSource(text: "{\"a\": 22}", name: "x").load().value(named: "a"))
        let error = #expect(throws: PropertyError.self) { try value.decode(Port.self, quotesValues: false) }
        expect(error?.description, equals: "x:1:7: a: the value is invalid")
    }

    func secrets() throws {
        let snapshot = try TOMLSource(text: "a = 'hunter2'\nb = ['hunter2']\nm = 'hunter2'", name: "x").load()
        let value = try #require(snapshot.value(named: "a"))
        let error = #expect(throws: PropertyError.self) { try value.decode(Int.self, quotesValues: false) }
        expect(error?.description, equals: "x:1:5: a: expected Int, found string")
        let list = try #require(snapshot.value(named: "b"))
        let listError = #expect(throws: PropertyError.self) { try list.decode([Int].self, quotesValues: false) }
        expect(listError?.description, equals: "x:2:6: b[0]: expected Int, found string")
        let mode = try #require(snapshot.value(named: "m"))
        let modeError = #expect(throws: PropertyError.self) { try mode.decode(Mode.self, quotesValues: false) }
        expect(modeError?.description, equals: "x:3:5: m: expected Mode (slow, fast), found string")
        for error in [error, listError, modeError] {
            expect(!String(reflecting: error as Any).contains("hunter2"))
        }
        let quoted = try #require(#expect(throws: PropertyError.self) { try value.decode(Int.self) })
        expect(quoted.description, equals: "x:1:5: a: expected Int, found string \"hunter2\"")
        expect(quoted.masked.description, equals: "x:1:5: a: expected Int, found something else")
        expect(!String(reflecting: quoted.masked).contains("hunter2"))
    }

    func long() {
        let text = String(repeating: "x", count: 50)
        expect(message("\"\(text)\"", Int.self), equals: "x:1:7: a: expected Int, found string \"\(text.prefix(40))…\"")
    }
}
