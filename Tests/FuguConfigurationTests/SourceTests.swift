import Foundation
import Fugu
import Support
import Synchronization
import Testing

@testable import FuguConfiguration

struct FileSourceTests {
    /// A directory of its own, gone afterwards.
    private func withDirectory(_ body: (String) throws -> Void) throws {
        let directory = NSTemporaryDirectory() + "fugu-\(UUID())"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try body(directory)
    }

    private func write(_ text: String, to path: String) throws {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    @Test(
        "A file is read again at each load, relative to the folder of that moment, and its errors show the absolute path"
    )
    func reload() throws {
        // A file is read again at each load, and its errors show the absolute path.
        do {
            try withDirectory { directory in
                let path = directory + "/config.toml"
                try write("a = 1", to: path)
                let source = TOMLSource(path: path)
                try expect(source.load().value(named: "a")?.propertyValue, equals: 1)
                try write("\na = 'x'", to: path)
                let value = try #require(try source.load().value(named: "a"))
                let error = #expect(throws: PropertyError.self) { try value.decode(Int.self) }
                expect(error?.description, equals: "\(path):2:5: a: expected Int, found string \"x\"")
                try write("a = ", to: path)
                let syntax = #expect(throws: PropertyError.self) { try source.load() }
                expect(syntax?.description, equals: "\(path):1:5: expected a value, found the end of the text")
            }
        }
        // A relative path is resolved when the file is read and shown absolute.
        do {
            let error = #expect(throws: PropertyError.self) { try JSONSource(path: "./no/such.json").load() }
            let path = FileManager.default.currentDirectoryPath + "/no/such.json"
            expect(error?.description, equals: "\(path): can't be read: the file doesn't exist")
        }
    }

    @Test(
        "A file that is missing is an error, or nothing where it is optional; one that cannot be read is always an error"
    )
    func missing() throws {
        // A file that is missing is an error, or nothing where it is optional, and the snapshot says so.
        do {
            try withDirectory { directory in
                let path = directory + "/none.json"
                let error = #expect(throws: PropertyError.self) { try JSONSource(path: path).load() }
                expect(error?.description, equals: "\(path): can't be read: the file doesn't exist")
                let snapshot = try JSONSource(path: path, isOptional: true).load()
                expect(snapshot.isMissing)
                expect(snapshot.source, equals: path)
                expect(snapshot.value(named: "a") == nil)
                try write("{}", to: path)
                try expect(!JSONSource(path: path, isOptional: true).load().isMissing)
                let inFile = #expect(throws: PropertyError.self) { try JSONSource(path: path + "/x").load() }
                expect(inFile?.reason, equals: "can't be read: a component of the path isn't a directory")
            }
        }
        // A file that is there and cannot be read is an error even where it is optional.
        do {
            try withDirectory { directory in
                let error = #expect(throws: PropertyError.self) {
                    try TOMLSource(path: directory, isOptional: true).load()
                }
                expect(error?.description, equals: "\(directory): can't be read: it's a directory")
            }
        }
    }

    @Test("The stamp of a file differs once it was changed, removed or came back, and that of a text stays")
    func stamps() throws {
        try withDirectory { directory in
            let path = directory + "/a.json"
            let source = JSONSource(path: path)
            let missing = source.modificationStamp()
            try write("{}", to: path)
            let first = source.modificationStamp()
            expect(first, equals: source.modificationStamp())
            expect(first, equals: PropertySourceStamp(file: path))
            try write("{\"a\": 1}", to: path)
            let second = source.modificationStamp()
            try FileManager.default.removeItem(atPath: path)
            expect(missing != nil)
            expect(Set([missing, first, second]).count, equals: 3)
            expect(source.modificationStamp(), equals: missing)
        }
        let text = JSONSource(text: "{}", name: "x")
        expect(text.modificationStamp() != nil)
        expect(text.modificationStamp(), equals: text.modificationStamp())
        expect(EnvironmentSource(environment: [:]).modificationStamp() == nil)
    }

    @Test("A file is read to its last byte, whatever its size", arguments: [0, 1, 65_535, 65_536, 65_537, 200_000])
    func sizes(count: Int) throws {
        try withDirectory { directory in
            let path = directory + "/a.toml"
            try write("a = '" + String(repeating: "x", count: count) + "'", to: path)
            try expect(TOMLSource(path: path).load().value(named: "a")?.decode(String.self).utf8.count, equals: count)
        }
    }
}

struct EnvironmentSourceTests {
    private let snapshot: PropertySnapshot

    init() throws {
        snapshot = try EnvironmentSource(
            prefix: "APP",
            environment: [
                "APP_API_BASE_URL": "https://x.org", "APP_PORT": "8080", "APP_DEBUG": "true", "APP_TAGS": "a, b,c",
                "APP_TIMEOUT": "1.5m", "APP_RATE": "0.5", "APP_EMPTY": "", "APP_FLAG": "1", "PORT": "1",
                "APP_NUMBERS": "1,x",
                "APP_LOG_LEVEL": "fast",
            ]
        ).load()
    }

    private func read<Value: Decodable>(_ name: String, as type: Value.Type) throws -> Value? {
        try snapshot.value(named: name)?.decode(type)
    }

    @Test("Text of the environment is parsed to the type that is asked for, or refused with the variable and the name")
    func types() throws {
        // Text of the environment is parsed to the type that is asked for.
        do {
            try expect(read("api.base_url", as: URL.self)?.absoluteString, equals: "https://x.org")
            try expect(read("api.base-url", as: String.self), equals: "https://x.org")
            try expect(read("port", as: Int.self), equals: 8080)
            try expect(read("port", as: UInt16?.self), equals: 8080)
            try expect(read("port", as: String.self), equals: "8080")
            try expect(read("port", as: Double.self), equals: 8080)
            try expect(read("debug", as: Bool.self), equals: true)
            try expect(read("tags", as: [String].self), equals: ["a", "b", "c"])
            try expect(read("tags", as: Set<String>.self), equals: ["a", "b", "c"])
            try expect(read("port", as: [Int].self), equals: [8080])
            try expect(read("empty", as: [String].self), equals: [])
            try expect(read("empty", as: String.self), equals: "")
            try expect(read("timeout", as: Duration.self), equals: .seconds(90))
            try expect(read("rate", as: Decimal.self), equals: Decimal(string: "0.5"))
            try expect(read("none", as: Int.self) == nil)
            try expect(read("api", as: String.self) == nil)
        }
        // Text that does not fit is refused with the variable and the name.
        do {
            let place = "environment variable APP_FLAG: flag: "
            let flag = #expect(throws: PropertyError.self) { try read("flag", as: Bool.self) }
            expect(
                flag?.description,
                equals: place
                    + "expected Bool (true or false), found text \"1\""
            )
            let list = #expect(throws: PropertyError.self) { try read("numbers", as: [Int].self) }
            expect(
                list?.description,
                equals: "environment variable APP_NUMBERS: numbers[1]: expected Int, found text \"x\"")
            let empty = #expect(throws: PropertyError.self) { try read("empty", as: Int.self) }
            expect(empty?.reason, equals: "expected Int, found text \"\"")
            let nested = #expect(throws: PropertyError.self) { try read("tags", as: [[String]].self) }
            expect(nested?.reason, equals: "expected array, found text \"a\"")
            let table = #expect(throws: PropertyError.self) { try read("tags", as: [String: String].self) }
            expect(table?.reason, equals: "expected a table, written as JSON, {\"name\": 1}, found text \"a, b,c\"")
        }
    }

    @Test("Without a prefix the plain name in capitals is meant, and the process has an environment")
    func plain() throws {
        let plain = try EnvironmentSource(environment: ["PORT": "1"]).load()
        try expect(plain.value(named: "port")?.decode(Int.self), equals: 1)
        expect(EnvironmentSource.current["PATH"], equals: ProcessInfo.processInfo.environment["PATH"])
        expect(plain.unknownNames(known: []).isEmpty)
    }
}

struct ArgumentsSourceTests {
    private func read<Value: Decodable>(_ name: String, _ arguments: [String], as type: Value.Type) throws -> Value? {
        try ArgumentsSource(arguments).load().value(named: name)?.decode(type)
    }

    @Test(
        "All spellings of a name are one",
        arguments: ["--api-base-url", "--api.base_url", "--api_base_url", "--api.base-url"])
    func spellings(option: String) throws {
        try expect(read("api.base_url", ["program", option, "v"], as: String.self), equals: "v")
        try expect(read("api.base_url", ["program", option + "=v=w"], as: String.self), equals: "v=w")
    }

    @Test("An argument without a name is refused, and unknown ones are reported with the nearest known name")
    func mistakes() throws {
        let error = #expect(throws: PropertyError.self) { try ArgumentsSource(["--=1"]).load() }
        expect(error?.description, equals: "arguments: an argument that begins with --= has no name")
        let wrong = #expect(throws: PropertyError.self) { try read("port", ["--port", "x"], as: Int.self) }
        expect(wrong?.description, equals: "argument --port: port: expected Int, found text \"x\"")
        let unknown = try ArgumentsSource(["--api-tiemout", "1", "--zzz", "--log.level=x"]).load()
            .unknownNames(known: ["api.timeout", "log.level"])
        expect(
            unknown.map(\.description),
            equals: [
                "argument --api-tiemout: unknown name; did you mean --api-timeout?",
                "argument --zzz: unknown name",
            ])
    }
}

struct OwnSourceTests {
    @Test("A source of one's own gives values or texts, nested down to 512 levels")
    func own() throws {
        // A source of one's own gives values or texts.
        do {
            struct Vault: PropertySource {
                var name: String { "vault" }
                func load() throws(PropertyError) -> PropertySnapshot {
                    PropertySnapshot(source: name) { $0 == "api.port" ? "80" : nil }
                }
            }
            let snapshot = try Vault().load()
            try expect(snapshot.value(named: "api.port")?.decode(Int.self), equals: 80)
            expect(snapshot.value(named: "api.port")?.origin.description, equals: "vault")
            expect(snapshot.value(named: "api.host") == nil)
            let values = try PropertySnapshot(["a": ["b": "80"]], source: "values")
            let error = #expect(throws: PropertyError.self) { try values.value(named: "a.b")?.decode(Int.self) }
            expect(error?.description, equals: "values: a.b: expected Int, found string \"80\"")
        }
        // Values nested deeper than 512 levels are refused.
        do {
            var value: PropertyValue = 1
            for _ in 0..<513 { value = [value] }
            let error = #expect(throws: PropertyError.self) { try DictionarySource(["a": value], name: "x").load() }
            expect(error?.description, equals: "x: nested deeper than 512 levels")
        }
    }

    @Test("Errors print together, one line each, and what is unknown is left out")
    func errors() {
        let errors = PropertyErrors([
            PropertyError(
                expected: "Int", found: "string \"abc\"", source: "/srv/app/config.toml", line: 12, column: 9,
                name: "api.timeout"),
            PropertyError("is wrong"), PropertyError("is wrong", name: "a"), PropertyError("is wrong", source: "s"),
        ])
        expect(
            errors.description,
            equals: "/srv/app/config.toml:12:9: api.timeout: expected Int, found string \"abc\"\n"
                + "is wrong\na: is wrong\ns: is wrong")
    }
}

private struct Settings {
    struct API {
        var base: URL
        var timeout: Duration?
        var retries: Int?
    }
    enum Mode: String { case slow, fast }
    enum Plain { case one, two }

    var api = API(base: URL(string: "https://x.org")!, timeout: .milliseconds(1500), retries: nil)
    var ports: [UInt16] = [80, 443]
    var names: [String: Int] = ["a": 1]
    var mode = Mode.fast
    var plain = Plain.two
    var price = Decimal(string: "19.99")!
    var ratio: Float = 0.5
    var id: UUID?
    var date = Date(timeIntervalSince1970: 1.5)
    var bytes = Data([1, 2])
    var day = DateComponents(year: 2024, month: 2, day: 29)
    var raw: PropertyValue = [1]
    var nothing: Int??
    var optionals: [Int?] = [1, nil, 2]
}

private class Node {
    var label = "n"
    var next: Node?
}

private final class Leaf: Node {
    var weight = 2
}

struct StructSourceTests {
    private func message(_ value: Any) -> String {
        do {
            return "read \(try StructSource(reflecting: value, name: "s").load())"
        } catch {
            return "\(error)"
        }
    }

    @Test("Stored properties answer by name, nested ones by dotted name, optionals as what they hold")
    func values() throws {
        let snapshot = try StructSource(reflecting: Settings()).load()
        func read<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) throws -> Value? {
            try snapshot.value(named: name)?.decode(type)
        }
        try expect(read("api.base", as: URL.self)?.absoluteString, equals: "https://x.org")
        try expect(read("api.timeout", as: Duration.self), equals: .milliseconds(1500))
        expect(snapshot.value(named: "api.retries") == nil)
        expect(snapshot.value(named: "id") == nil)
        try expect(read("ports", as: [Int].self), equals: [80, 443])
        try expect(read("names.a", as: Int.self), equals: 1)
        try expect(read("mode", as: String.self), equals: "fast")
        try expect(read("plain", as: String.self), equals: "two")
        try expect(read("price", as: Decimal.self), equals: Decimal(string: "19.99"))
        try expect(read("ratio", as: Float.self), equals: 0.5)
        try expect(read("date", as: Date.self), equals: Date(timeIntervalSince1970: 1.5))
        try expect(read("bytes", as: Data.self), equals: Data([1, 2]))
        try expect(read("day", as: DateComponents.self), equals: DateComponents(year: 2024, month: 2, day: 29))
        try expect(read("raw", as: [Int].self), equals: [1])
        expect(snapshot.value(named: "nothing") == nil)
        try expect(read("optionals", as: [Int].self), equals: [1, 2])
        expect(snapshot.source, equals: "Settings")
    }

    private struct At { var at: DateComponents }

    @Test(
        "Components of a day, a time, or both are written as a date",
        arguments: [
            (DateComponents(year: 2024, month: 2, day: 29), "2024-02-29"),
            (DateComponents(hour: 7, minute: 32), "07:32:00"),
            (DateComponents(hour: 23, minute: 59, second: 60, nanosecond: 0), "23:59:60"),
            (
                DateComponents(year: 2024, month: 1, day: 2, hour: 3, minute: 4, second: 5, nanosecond: 6_000_000),
                "2024-01-02T03:04:05.006"
            ),
            (
                DateComponents(timeZone: TimeZone(identifier: "UTC"), year: 2024, month: 1, day: 2, hour: 3, minute: 4),
                "2024-01-02T03:04:00Z"
            ),
            (
                DateComponents(
                    timeZone: TimeZone(secondsFromGMT: -12_600), year: 2024, month: 1, day: 2, hour: 3, minute: 4),
                "2024-01-02T03:04:00-03:30"
            ),
        ])
    func components(components: DateComponents, text: String) throws {
        let snapshot = try StructSource(reflecting: At(at: components)).load()
        try expect(snapshot.property("at"), equals: PropertyValue.date(text))
    }

    @Test(
        "Components that are more or less than a day and a time, or don't exist, are no configuration value",
        arguments: [
            DateComponents(), DateComponents(year: 2024), DateComponents(year: 2024, month: 2),
            DateComponents(year: 2023, month: 2, day: 29), DateComponents(year: -1, month: 2, day: 1),
            DateComponents(year: 12_024, month: 2, day: 1), DateComponents(hour: 24, minute: 0),
            DateComponents(hour: 7, minute: 32, second: 0, nanosecond: 1_000_000_000), DateComponents(weekday: 1),
            DateComponents(year: 2024, month: 2, day: 1, weekday: 5),
            DateComponents(calendar: Calendar(identifier: .gregorian), year: 2024, month: 2, day: 29),
            DateComponents(timeZone: .gmt, year: 2024, month: 2, day: 29),
            DateComponents(timeZone: .gmt, hour: 7, minute: 32),
            DateComponents(
                timeZone: TimeZone(identifier: "Europe/Berlin"), year: 2024, month: 2, day: 29, hour: 7, minute: 32),
        ])
    func otherComponents(components: DateComponents) {
        expect(message(At(at: components)).hasPrefix("s: at: DateComponents can't be a configuration value"))
    }

    @Test("A class answers with its own and inherited properties, and an instance that leads back to itself is refused")
    func classes() throws {
        // A class answers with its own and inherited properties.
        do {
            let leaf = Leaf()
            leaf.next = Leaf()
            leaf.next?.label = "inner"
            let snapshot = try StructSource(reflecting: leaf).load()
            expect(snapshot.value(named: "label")?.propertyValue, equals: "n")
            expect(snapshot.value(named: "weight")?.propertyValue, equals: 2)
            expect(snapshot.value(named: "next.label")?.propertyValue, equals: "inner")
            expect(snapshot.value(named: "next.weight")?.propertyValue, equals: 2)
            expect(snapshot.value(named: "next.next") == nil)
        }
        // An instance that leads back to itself is refused with the way, one that is met twice is not.
        do {
            let (first, second) = (Node(), Node())
            first.next = second
            second.next = first
            expect(
                message(first),
                equals: "s: next.next: an instance refers back to itself (s → next → next); "
                    + "break the reference cycle or leave the member out")
            second.next = nil
            let pair = (struct: ["a": second, "b": second], 0)
            try expect(StructSource(reflecting: Holder(nodes: pair.struct)).load().value(named: "nodes.b.label") != nil)
        }
    }

    private struct Holder { var nodes: [String: Node] }

    @Test("What has no form as a configuration value is refused with its name")
    func refused() {
        struct Wrong { var a: [Any] }
        enum Payload { case some(Int) }
        let hint =
            " can't be a configuration value; use numbers, strings, arrays, dictionaries, and structs of them"
        expect(message(Wrong(a: [1, UInt128.max])), equals: "s: a[1]: the UInt128 is out of range for Int128")
        expect(message(Wrong(a: [{ () -> Void in }])), equals: "s: a[0]: () -> ()" + hint)
        expect(message(Wrong(a: [Payload.some(1)])), equals: "s: a[0]: Payload" + hint)
        expect(message(Wrong(a: [(1, 2)])), equals: "s: a[0]: (Int, Int)" + hint)
        expect(message(Wrong(a: [1..<2])), equals: "s: a[0]: Range<Int>" + hint)
        expect(message(Wrong(a: [[1.5: 2]])), equals: "s: a[0]: Dictionary<Double, Int>" + hint)
        var calendar = Calendar(identifier: .gregorian)
        calendar.firstWeekday = 3
        expect(message(Wrong(a: [calendar])), equals: "s: a[0]: Calendar" + hint)
        expect(message(5), equals: "s: Int" + hint)
    }
}

/// A key of a library of its own.
private struct ForeignKey: ConfigurationKey {}

private struct Flags: AsyncPropertySource {
    var name: String { "flags" }
    func fetch() async throws -> PropertySnapshot { try PropertySnapshot(["corner.flag": 1], source: name) }
}

/// Fetches a value once, and then nothing.
private struct Vanishing: AsyncPropertySource {
    let fetches = Counter()
    var name: String { "vanishing" }
    func fetch() async throws -> PropertySnapshot {
        if fetches.add() > 1 { return .missing(source: name) }
        return try PropertySnapshot(["corner.vanishing": 1], source: name)
    }
}

struct SourceCornerTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    private func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name)"))
        return "\(folder)/\(name)"
    }

    @Test("A file of a folder with a misspelt name is reported, and a value that is missing names its file (law 16)")
    func foldersTell() throws {
        let path = try write("x", to: "corner-pasword")
        let container = Container()
        try container.apply(FolderSource(path: folder))
        let key = PropertyKey<String?>("corner.password")
        expect(thrown { try container.validate([key]) }, equals: "\(path): unknown name; did you mean corner-password?")
        expect(thrown { _ = try container.require { _ in key } }.contains("set \(folder)/corner-password"))
        expect("\(FolderSource(path: folder).name)", equals: folder)
    }

    @Test("A snapshot reads values of one moment, and reads again if the sources change meanwhile (law 16)")
    func snapshots() throws {
        let container = Container()
        let source = MutableSource(["corner.a": 1, "corner.b": 1], name: "flags")
        try container.apply(source)
        let (a, b) = (PropertyKey<Int>("corner.a", defaultValue: 0), PropertyKey<Int>("corner.b", defaultValue: 0))
        let rounds = Mutex(0)
        let values = container.snapshot { container in
            let first = container[a]
            let round = rounds.withLock { rounds in
                rounds += 1
                return rounds
            }
            if round == 1 { source.update { $0 = ["corner.a": 2, "corner.b": 2] } }
            return [first, container[b]]
        }
        expect(values, equals: [2, 2])
        expect(source["corner.a"], equals: 2)
    }

    @Test("A .env file is read from its path, and says so (law 15)")
    func environmentFiles() throws {
        let path = try write("CORNER_PORT=5\n", to: ".env")
        let container = Container()
        try container.apply(DotEnvSource(path: path))
        try expect(container.property("corner.port", as: Int.self), equals: 5)
        expect(DotEnvSource(path: path).name, equals: path)
        #expect(throws: PropertyError.self) { try container.apply(DotEnvSource(path: folder + "/none")) }
        try container.apply(DotEnvSource(path: folder + "/none", isOptional: true))
    }

    @Test("Fetched values are named by their source, and stay when that has vanished (law 16)")
    func fetched() async throws {
        // Fetched values are named by their source.
        do {
            let container = Container()
            try await container.apply(Flags())
            expect("\(container.explain { _ in PropertyKey<Int?>("corner.flag") })", equals: "corner.flag = 1 (flags)")
        }
        // A fetched source that has vanished leaves the last good values.
        do {
            let container = Container()
            try await container.apply(Vanishing())
            let key = PropertyKey<Int>("corner.vanishing", defaultValue: 0)
            expect(container[key], equals: 1)
            await #expect(throws: PropertyError.self) { try await container.refresh() }
            expect(container[key], equals: 1)
        }
    }

    @Test("A key that isn't a PropertyKey stops the program with a message (law 16)")
    func foreignKeys() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Container().declare([ForeignKey()])
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        expect(text.contains("Fugu: ForeignKey conforms to ConfigurationKey, which only PropertyKey can."), text)
    }
}
