import Foundation
import Fugu
import FuguConfiguration
import FuguFoundation
import FuguInspection
import Support
import Testing

private struct Server: Decodable, Sendable, Equatable {
    var host: String
    var port: Int
}
private struct Login: Decodable, Sendable, Equatable {
    var user: String
    var password: Int
}
extension ContainerKeys {
    fileprivate var tokenKey: PropertyKey<Int> { .init("probe.token", defaultValue: 0, isSecret: true) }
}
private let port = PropertyKey("probe.port", defaultValue: 1)
private let host = PropertyKey("probe.host", defaultValue: "h")
private let flag = PropertyKey("probe.flag", defaultValue: false)
private let list = PropertyKey<[Int]>("probe.list", defaultValue: [])
private let texts = PropertyKey<[String]>("probe.texts", defaultValue: [])
private let ratio = PropertyKey("probe.ratio", defaultValue: 0.5)
private let wait = PropertyKey<Duration>("probe.wait", defaultValue: .zero)
private let small = PropertyKey<UInt8>("probe.small", defaultValue: 0)
private let servers = PropertyKey<[Server]>("probe.servers", defaultValue: [])
private let login = PropertyKey("probe.login", defaultValue: Login(user: "", password: 0))
private let loginPassword = PropertyKey("probe.login.password", defaultValue: 0, isSecret: true)
private let maybe = PropertyKey<Int?>("probe.maybe")
private let secretText = PropertyKey("probe.secret", defaultValue: "DEFAULTSECRET", isSecret: true)
private let link = PropertyKey<URL?>("probe.link")
private let map = PropertyKey<[String: Int]>("probe.map", defaultValue: [:])

private struct FeatureOfPort: Feature {
    let n: Int
    static func load(in c: any FeatureContainer) -> FeatureOfPort { FeatureOfPort(n: c[port]) }
    static var reloadsWhenInputsChange: Bool { true }
}

private func error(_ body: () throws -> Void) -> String {
    do {
        try body()
        return "nothing"
    } catch { return "\(error)" }
}

@Suite("Corner cases of values from outside") struct ConfigurationCornerTests {}

extension ConfigurationCornerTests {
    func environment(_ values: [String: String]) throws -> Container {
        let c = Container()
        c.handleReports { _ in }
        try c.apply(EnvironmentSource(prefix: "X", environment: values))
        return c
    }
    func arguments(_ values: String...) throws -> Container {
        let c = Container()
        c.handleReports { _ in }
        try c.apply(ArgumentsSource(values))
        return c
    }

    @Test("Text of the environment is parsed to what is asked for, exactly (law 24)")
    func environmentText() throws {
        let c = try environment([
            "X_PROBE_PORT": "80", "X_PROBE_FLAG": "true", "X_PROBE_LIST": "1,2,3", "X_PROBE_TEXTS": "a,b",
            "X_PROBE_HOST": "true", "X_PROBE_RATIO": "1e2", "X_PROBE_WAIT": "1.5m", "X_PROBE_SMALL": "256",
            "X_PROBE_LINK": "https://example.org/?a=b,c",
        ])
        expect(c[port] == 80 && c[flag] && c[list] == [1, 2, 3] && c[texts] == ["a", "b"])
        expect(c[host], equals: "true")
        expect(c[ratio], equals: 100)
        expect(c[wait], equals: .seconds(90))
        expect(c[link]?.absoluteString, equals: "https://example.org/?a=b,c")
        expect(error { _ = try c.require(small) }.contains("X_PROBE_SMALL"))
        for wrong in ["", " 80", "80 ", "8_0", "eighty", "80.5", "1e400"] {
            let c = try environment(["X_PROBE_PORT": wrong])
            expect(error { _ = try c.require(port) }.contains("expected Int"), "\(wrong)")
        }
        for wrong in ["1", "0", "yes", "TRUE", "", "True"] {
            let c = try environment(["X_PROBE_FLAG": wrong])
            expect(error { _ = try c.require(flag) }.contains("expected Bool"), "\(wrong)")
        }
        for (text, texts_) in ["": [], "1": ["1"], "1, 2": ["1", "2"], "1,": ["1", ""]] as [String: [String]] {
            try expect(environment(["X_PROBE_TEXTS": text])[texts], equals: texts_)
            try expect(environment(["X_PROBE_HOST": text])[host], equals: text)
        }
    }

    @Test("Arguments: separate, joined, flags, negative numbers, repeats and the end (law 24)")
    func argumentTexts() throws {
        let c = try arguments(
            "prog", "--probe-port", "-5", "--probe.host=a=b", "--probe-flag", "--probe-list", "1,2", "--",
            "--probe-port=9")
        expect(c[port] == -5 && c[host] == "a=b" && c[flag] && c[list] == [1, 2])
        try expect(arguments("p", "--probe-flag", "false")[flag], equals: false)
        try expect(arguments("p", "--probe-flag=false")[flag], equals: false)
        try expect(arguments("p", "--probe-host=")[host], equals: "")
        try expect(arguments("p", "--probe-host", "")[host], equals: "")
        try expect(arguments("--probe-port", "7")[port], equals: 7)
        let twice = error { _ = try arguments("p", "--probe-port", "1", "--probe-port", "2").require(port) }
        expect(
            twice,
            equals:
                "argument --probe-port: probe.port: expected Int, found 2 values, because the argument occurs 2 times")
        let bare = error { _ = try arguments("p", "--probe-port", "--probe-flag").require(port) }
        expect(bare, equals: "argument --probe-port: probe.port: needs a value; expected Int, as in --probe-port=…")
        let unknown = error { try arguments("p", "--probe-prot=HUSH1", "--nobody", "HUSH2", "HUSH3").validate([port]) }
        expect(!unknown.contains("HUSH"))
        expect(unknown.contains("did you mean --probe-port?"))
    }

    @Test("Places are right behind CRLF, a byte order mark and emoji (law 25)")
    func places() throws {
        func place(_ text: String, toml: Bool) -> String {
            let c = Container()
            c.handleReports { _ in }
            return error {
                if toml {
                    try c.apply(TOMLSource(text: text, name: "f"))
                } else {
                    try c.apply(JSONSource(text: text, name: "f"))
                }
                _ = try c.require(port)
            }
        }
        let wrong = #"expected Int, found string "x""#
        expect(place("\u{FEFF}[probe]\r\nport = \"x\"", toml: true), equals: "f:2:8: probe.port: \(wrong)")
        expect(place("\u{FEFF}probe.port = \"x\"", toml: true), equals: "f:1:14: probe.port: \(wrong)")
        expect(place("# 👨‍👩‍👧 x\r\n\r\nprobe.\"port\" = 'x'", toml: true), equals: "f:3:16: probe.port: \(wrong)")
        expect(place("probe = {a = '👨‍👩‍👧', port = 'x'}", toml: true), equals: "f:1:30: probe.port: \(wrong)")
        expect(place("{\r\n/* 🐡 */ \"probe\": {\"port\": \"x\"}}", toml: false), equals: "f:2:27: probe.port: \(wrong)")
        expect(place("\u{FEFF}{\"probe.port\": \"x\"}", toml: false), equals: "f:1:16: probe.port: \(wrong)")
        expect(
            place("{\"é\u{301}\": \"\\\\\", \"probe\": {\"port\": \"x\"}} // \"", toml: false),
            equals: "f:1:32: probe.port: \(wrong)")
        expect(
            place("{\"a\": \"b\\\\\" // \"}\r\n, \"probe\": {\"port\": \"x\",},}", toml: false),
            equals: "f:2:21: probe.port: \(wrong)")
        let deep = "[[probe.servers]]\nhost = 'a'\nport = 1\n[[probe.servers]]\nhost = 'b'\nport = 'x'\n"
        let c = Container()
        try c.apply(TOMLSource(text: deep, name: "f"))
        expect(error { _ = try c.require(servers) }, equals: "f:6:8: probe.servers[1].port: expected Int, found string")
        try c.apply(TOMLSource(text: "[[probe.servers]]\nhost = 'a'\n", name: "g"))
        expect(error { _ = try c.require(servers) }, equals: "g:1:1: probe.servers[0].port: missing; expected Int")
    }

    @Test("Numbers are exact and never truth values (law 25)")
    func exact() throws {
        let c = Container()
        c.handleReports { _ in }
        func read<V: Decodable & Sendable>(_ key: PropertyKey<V>, _ value: String) -> String {
            do {
                let c = Container()
                c.handleReports { _ in }
                try c.apply(JSONSource(text: "{\"\(key.name!)\": \(value)}", name: "f"))
                return "\(try c.require(key))"
            } catch { return "\((error as! PropertyError).reason)" }
        }
        expect(read(port, "1.0"), equals: "1")
        expect(read(port, "1e2"), equals: "100")
        expect(read(port, "1.5"), equals: "expected Int, found double 1.5")
        expect(read(port, "true"), equals: "expected Int, found bool true")
        expect(read(flag, "1"), equals: "expected Bool (true or false), found integer 1")
        expect(read(flag, "\"true\""), equals: "expected Bool (true or false), found string \"true\"")
        expect(read(port, "\"1\""), equals: "expected Int, found string \"1\"")
        expect(read(small, "255"), equals: "255")
        expect(read(small, "256"), equals: "expected UInt8 (0...255), found integer 256")
        expect(read(small, "-1"), equals: "expected UInt8 (0...255), found integer -1")
        expect(read(ratio, "1"), equals: "1.0")
        expect(read(maybe, "null"), equals: "a value is required, and this is null")
        expect(read(port, "null"), equals: "expected Int, found null")
        expect(read(wait, "30") == "expected Duration, found integer 30" || read(wait, "30").contains("unit"))
        expect(read(map, "{\"a\": 1}"), equals: "[\"a\": 1]")
        expect(read(list, "[1, 2,]"), equals: "[1, 2]")
        expect(read(list, "\"1,2\"").contains("expected"))
        expect(read(port, "9223372036854775807"), equals: "9223372036854775807")
    }

    @Test("No secret is printed anywhere (law 26)")
    func secrets() throws {
        let reports = Log<String>()
        let c = Container()
        c.handleReports { reports.add($0) }
        let text = """
            [probe]
            token = "HUSH1"
            secret = "HUSH2"
            login = {user = "u", password = "HUSH3"}
            """
        try c.apply(TOMLSource(text: text, name: "f.toml"))
        try c.apply(EnvironmentSource(prefix: "X", environment: ["X_PROBE_TOKEN": "HUSH4"]))
        try c.apply(ArgumentsSource(["--probe-secret", "HUSH5"]))
        c[PropertyKey("probe.code", defaultValue: "", isSecret: true)] = "HUSH6"
        // A key says that it is a secret by being made: statics are made when they are first used.
        _ = (c.tokenKey, c[secretText], c[loginPassword], c[login])
        var out: [String] = reports.all
        out.append(error { _ = try c.require(\.tokenKey) })
        out.append(error { _ = try c.require(login) })
        out.append(error { _ = try c.require(loginPassword) })
        out.append(error { try c.validate([loginPassword, login, secretText, ContainerKeys().tokenKey]) })
        out.append(error { _ = try c.property("probe.token", as: Int.self) })
        out.append(error { _ = try c.property("probe.login", as: [String: Int].self) })
        out.append(error { _ = try c.property("probe.secret", as: Int.self) })
        out += [
            "\(c.explain(\.tokenKey))", "\(c.explain(secretText))", "\(c.explain(login))",
            "\(c.explain(loginPassword))",
        ]
        out.append("\(c.explain(PropertyKey<PropertyValue?>("probe")))")
        out.append("\(c.explain(PropertyKey("probe.code", defaultValue: "", isSecret: true)))")
        out.append(String(decoding: try JSONEncoder().encode(c.graph), as: UTF8.self))
        out += [
            c.graph.mermaid, c.graph.dot, "\(c.graph)", "\(c)", String(reflecting: c), "\(ContainerKeys().tokenKey)",
            "\(secretText)",
        ]
        out.append("\(String(reflecting: c.explain(secretText)))")
        var dumped = ""
        dump(c.explain(login), to: &dumped)
        dump(secretText, to: &dumped)
        dump(c, to: &dumped)
        out.append(dumped)
        out.append(error { try c.reload() })
        for line in out { expect(!line.contains("HUSH") && !line.contains("DEFAULTSECRET"), "\(line)") }
        expect(c[secretText], equals: "HUSH5")
        // A syntax error of a file quotes one character at most.
        let syntax = error { try c.apply(TOMLSource(text: "probe.secret = HUSH7", name: "g")) }
        expect(!syntax.contains("HUSH7"))
    }

    @Test("A reload that breaks a key that was read changes nothing, one that nobody reads is let in (law 25)")
    func atomicReload() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fugu-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "a.toml")
        func write(_ text: String) throws { try Data(text.utf8).write(to: file) }
        try write("probe.port = 1\nprobe.host = 'a'")
        let c = Container()
        let reports = Log<String>()
        c.handleReports { reports.add($0) }
        try c.apply(TOMLSource(path: file.path))
        let heard = Log<Int>()
        c.observe(port) { heard.add($0) }
        expect(c[port], equals: 1)
        expect(c[host], equals: "a")
        expect(c[FeatureOfPort.self].n, equals: 1)
        try write("probe.port = 'x'\nprobe.host = 'b'")
        do {
            try c.reload()
            Issue.record("nothing was thrown")
        } catch let errors as PropertyErrors {
            expect(errors.errors.map(\.name), equals: ["probe.port"])
            expect("\(errors)".hasPrefix(file.path + ":1:14: probe.port:"))
        }
        expect(c[port], equals: 1)
        expect(c[host], equals: "a")
        try write("probe.port = 2\nprobe.host = ")
        #expect(throws: PropertyErrors.self) { try c.reload() }
        try FileManager.default.removeItem(at: file)
        expect(error { try c.reload() }, equals: "\(file.path): can't be read: the file doesn't exist")
        expect(c[host], equals: "a")
        try write("probe.port = 2\nprobe.host = 'c'\nprobe.flag = 'no'")
        try c.reload()
        expect(c[port], equals: 2)
        expect(c[host], equals: "c")
        expect(c[FeatureOfPort.self].n, equals: 2)
        expect(heard.all == [2] || heard.all == [1, 2])
        expect(reports.all, equals: [])
        expect(c[flag], equals: false)
        expect(reports.count, equals: 1)
        _ = c[flag]
        expect(reports.count, equals: 1)
        c[port] = 9
        try write("probe.port = 3")
        try c.reload()
        expect(c[port], equals: 9)
        expect(c[host], equals: "h")
        c.reset(port)
        expect(c[port], equals: 3)
    }

    @Test("A child's sources count before the parent's, whole values only (laws 23, 24)")
    func precedence() throws {
        let c = Container()
        try c.apply(DictionarySource(["probe": ["port": 1, "map": ["a": 1]]], name: "root"))
        let child = c.child()
        try child.apply(DictionarySource(["probe.map": ["b": 2]], name: "child"))
        expect(child[map], equals: ["b": 2])
        expect(c[map], equals: ["a": 1])
        expect(child[port], equals: 1)
        expect(child[FeatureOfPort.self].n, equals: 1)
        expect(c.ifLoaded(FeatureOfPort.self) != nil)
        try child.apply(DictionarySource(["probe.port": 2], name: "late"))
        expect(child[FeatureOfPort.self].n, equals: 2)
        expect(c[FeatureOfPort.self].n, equals: 1)
        c[port] = 7
        expect(child[port], equals: 2)
        expect(c[port], equals: 7)
        child[port] = 8
        child.reset(port)
        expect(child[port], equals: 2)
        child.configureScopes { $0[port] = 5 }
        expect(child.scope("/x")[port], equals: 5)
        expect(
            error { try c.apply(JSONSource(text: #"{"probe.a": 1, "probe": {"a": 2}}"#, name: "f")) }.contains("twice"))
        expect(error { try c.apply(TOMLSource(text: "\"probe.a\" = 1\nprobe.a = 2", name: "f")) }.contains("line 1"))
    }

    @Test("A struct's members are found by reflection, and a circle is refused (law 24)")
    func reflection() throws {
        class Base { var port = 5 }
        final class Derived: Base {
            var host: String? = "d"
            var gone: Int?
            var nested = Server2(list: [1, 2], wait: .seconds(3))
            struct Server2 { var list: [Int]; var wait: Duration }
        }
        final class Circle { var next: Circle? }
        let c = Container()
        try c.apply(StructSource(reflecting: Derived()))
        try expect(c.property("port", as: Int.self), equals: 5)
        try expect(c.property("host", as: String.self), equals: "d")
        try expect(c.property("gone", as: Int.self) == nil)
        try expect(c.property("nested.list", as: [Int].self), equals: [1, 2])
        try expect(c.property("nested.wait", as: Duration.self), equals: .seconds(3))
        let circle = Circle()
        circle.next = Circle()
        circle.next?.next = circle
        let way = "(Circle → next → next)"
        expect(error { try c.apply(StructSource(reflecting: circle)) }.contains(way))
        circle.next?.next = nil
    }

    @Test("A missing required value is reported with the sources that were asked (law 25)")
    func required() throws {
        let c = Container()
        let words = "probe.port: a value is required, but "
        expect(error { _ = try c.require(port) }, equals: words + "code doesn't set one, and no source is applied")
        try c.apply(TOMLSource(path: "/nowhere/x.toml", isOptional: true))
        expect(
            error { _ = try c.require(port) },
            equals: words
                + "neither code nor /nowhere/x.toml (optional, missing) provides one; set probe.port in /nowhere/x.toml"
        )
    }
}
