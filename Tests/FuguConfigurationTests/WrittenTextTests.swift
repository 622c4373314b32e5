import Foundation
import Fugu
import FuguConfiguration
import Support
import Testing

/// What people write in variables, arguments, and files (laws 15, 16).
///
/// Checks stand in helpers that take the text, so that each test is a table of what is written and what it means.
struct WrittenTextTests {
    /// Returns the sources in which a text stands as it is, under the name `written.it`.
    private func sources(of text: String) throws -> [any PropertySource] {
        [
            EnvironmentSource(environment: ["WRITTEN_IT": text]), ArgumentsSource(["--written-it=\(text)"]),
            ArgumentsSource(["--written-it", text]), Asked(text: text), try folder(text),
        ]
    }

    private struct Asked: PropertySource {
        let text: String
        var name: String { "asked" }
        func load() throws(PropertyError) -> PropertySnapshot {
            PropertySnapshot(source: name) { [text] in $0 == "written.it" ? text : nil }
        }
    }

    /// The values of a folder that's gone once they're read.
    private struct Folder: PropertySource {
        let snapshot: PropertySnapshot
        var name: String { "folder" }
        func load() throws(PropertyError) -> PropertySnapshot { snapshot }
    }

    private func folder(_ text: String) throws -> Folder {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(text.utf8).write(to: folder.appending(path: "written-it"))
        return Folder(snapshot: try FolderSource(path: folder.path, isSecret: false).load())
    }

    private func read<Value: Decodable & Sendable>(_ source: any PropertySource, as _: Value.Type) throws -> Value? {
        let container = Container()
        try container.apply(source)
        return try container.property("written.it", as: Value.self)
    }

    private func means<Value: Decodable & Sendable & Equatable>(_ text: String, _ value: Value) throws {
        for source in try sources(of: text) {
            try expect(read(source, as: Value.self), equals: value, "\(text.debugDescription) in \(source.name)")
        }
    }

    private func isMistake<Value: Decodable & Sendable>(_ text: String, _: Value.Type, _ part: String) throws {
        for source in try sources(of: text) {
            let key = PropertyKey<Value?>("written.it")
            let container = Container()
            try container.apply(source)
            let error = thrown { try container.validate([key]) }
            expect(error.contains(part), "\(text.debugDescription) in \(source.name): \(error)")
        }
    }

    // MARK: Texts

    @Test("A line break at the end and a byte order mark aren't part of a text, whatever source it's from (law 15)")
    func framing() throws {
        for text in ["word", "word\n", "word\r\n", "\u{FEFF}word", "\u{FEFF}word\r\n"] {
            try means(text, "word")
            try means(text, ["word"])
        }
        try means("word\n\n", "word\n")
        try means("80\n", 80)
        try means("true\n", true)
        try means("a,\nb\n", ["a", "b"])
        let lines = DotEnvSource(text: "WRITTEN_IT=\"word\n\"", name: ".env")
        try expect(read(lines, as: String.self), equals: "word")
        // An escape is written on purpose.
        try expect(
            read(DotEnvSource(text: #"WRITTEN_IT="word\n""#, name: ".env"), as: String.self), equals: "word\n")
        try expect(read(folder("\u{FEFF}word\n"), as: Data.self), equals: Data("\u{FEFF}word\n".utf8))
    }

    @Test("A number in a text is written as in TOML, and a leading zero or a stray underscore is a mistake (law 16)")
    func numbers() throws {
        // A number in a text is written as in TOML.
        do {
            try means("0o755", 0o755)
            try means("0x1f", 31)
            try means("0x1F", UInt8(31))
            try means("0b101", 5)
            try means("1_000", 1000)
            try means("1_000.5", 1000.5)
            try means("1_000", Decimal(1000))
            try means("1_000", 1000.0)
            try means("0x10", 16.0)
            try means("0x10", Decimal(16))
            try means("0xffff_ffff_ffff_ffff", UInt64.max)
            try means("-0", 0)
            try means("+7", 7)
            try means("0", 0)
            try means("0.5", 0.5)
            try means(".5", 0.5)
            try means("0e3", 0.0)
            try means("1_0,2_0", [10, 20])
        }
        // A leading zero, which the error explains, and an underscore that isn't between digits are mistakes.
        do {
            for text in [
                "0755", "-0755", "00", "01.5", "0_7", "1__0", "_1", "1_", "1_.5", "0x", "0x_1", "-0x1", "0o8", "0b2",
            ] {
                try isMistake(text, Int.self, "expected Int")
                try isMistake(text, Double.self, "expected Double")
                try isMistake(text, Decimal.self, "expected Decimal")
            }
            let advice = "expected Int without a leading zero (an octal number begins with 0o), found text"
            try isMistake("0755", Int.self, advice)
            try isMistake("1,-09", [Int].self, advice + " \"-09\"")
            try means("0755", "0755")
        }
    }

    @Test("A duration has one or several units, the largest first, each once, and a fraction only in the last (law 16)")
    func durations() throws {
        for (text, duration) in [
            ("1h30m", .seconds(5400)), ("1m30.5s", .milliseconds(90_500)), ("1d2h3m4s", .seconds(93_784)),
            ("-1m30s", .seconds(-90)), ("1s500ms", .milliseconds(1500)), ("1h05m", .seconds(3900)),
            ("90s", .seconds(90)), ("1.5m", .seconds(90)),
        ] as [(String, Duration)] {
            try means(text, duration)
            let toml = TOMLSource(text: "written.it = '\(text)'", name: "t")
            try expect(read(toml, as: Duration.self), equals: duration)
            let json = JSONSource(text: "{\"written.it\": \"\(text)\"}", name: "j")
            try expect(read(json, as: Duration.self), equals: duration)
        }
        for text in ["30m1h", "1m1m", "1h30", "1.5h30m", "1h-5m", "h", "1h 30m", "1ms1s", "1us1µs"] {
            try isMistake(text, Duration.self, "expected Duration with a unit, such as 30s, 1h30m, or 250ms")
        }
    }

    // MARK: Foundation

    @Test(
        "Types of Foundation that people write as one word are read from it, and one that does not exist is an error (laws 15, 16)"
    )
    func foundation() throws {
        // Types of Foundation that people write as one word are read from it, in every source.
        do {
            try means("de_DE", Locale(identifier: "de_DE"))
            try means("zh-Hant-TW", Locale(identifier: "zh-Hant-TW"))
            try means("en_US_POSIX", Locale(identifier: "en_US_POSIX"))
            try means("de_DE,en_GB", [Locale(identifier: "de_DE"), Locale(identifier: "en_GB")])
            try means("Europe/Berlin", TimeZone(identifier: "Europe/Berlin")!)
            try means("buddhist", Calendar(identifier: .buddhist))
            try means("iso8601", Calendar.Identifier.iso8601)
            try means("https://a.example/b?c", URLComponents(string: "https://a.example/b?c")!)
            struct Place: Decodable, Sendable, Equatable {
                var locale: Locale
                var zone: TimeZone
                var calendar: Calendar
            }
            let place = Place(
                locale: Locale(identifier: "de_DE"), zone: TimeZone(identifier: "UTC")!,
                calendar: Calendar(identifier: .hebrew))
            let table = TOMLSource(
                text: "written.it = {locale = 'de_DE', zone = 'UTC', calendar = 'hebrew'}", name: "t")
            try expect(read(table, as: Place.self), equals: place)
            struct Holder {
                struct Written {
                    var it: Place
                }
                var written: Written
            }
            try expect(read(StructSource(reflecting: Holder(written: .init(it: place))), as: Place.self), equals: place)
        }
        // An identifier that doesn't exist is an error that says what's expected.
        do {
            for text in ["zz_ZZ", "de_QQ", "english", "de DE", "nonsense!!", "", "Europe/Berlin", "de_Xxxx_DE"] {
                try isMistake(text, Locale.self, "expected Locale, such as de_DE or zh-Hant-TW, found text")
            }
            try isMistake("Europe/Berln", TimeZone.self, "expected TimeZone, such as Europe/Berlin or UTC, found text")
            try isMistake("gregorain", Calendar.self, "expected Calendar (gregorian, iso8601, buddhist, ")
            try isMistake("gregorain", Calendar.Identifier.self, "expected Identifier (gregorian, iso8601, buddhist, ")
        }
    }

    @Test("The reference shows the default of such a type as it's written (law 15)")
    func foundationReference() throws {
        let container = Container()
        container.declare([
            PropertyKey("written.locale", defaultValue: Locale(identifier: "de_DE")),
            PropertyKey("written.zone", defaultValue: TimeZone(identifier: "UTC")!),
            PropertyKey("written.calendar", defaultValue: Calendar(identifier: .iso8601)),
        ])
        let text = container.reference().helpText
        expect(text.contains("--written-locale <locale>") && text.contains("default \"de_DE\""), text)
        expect(text.contains("default \"GMT\"") || text.contains("default \"UTC\""), text)
        expect(text.contains("default \"iso8601\"") && text.contains("--written-calendar <calendar>"), text)
    }

    // MARK: Lists

    @Test(
        "An empty element is an error that says how to write one, in every source (law 16)",
        arguments: ["a,", ",", "a,,b", ",a", "a, ,b"])
    func emptyElements(text: String) throws {
        try isMistake(
            text, [String].self, "expected an array without empty elements; one is written as JSON, [\"a\",\"\"]")
        let lines = DotEnvSource(text: "WRITTEN_IT='\(text)'", name: ".env")
        #expect(throws: PropertyError.self) { try read(lines, as: [String].self) }
    }

    @Test("An empty text is an empty list, JSON has empty elements, and blanks separate one by one or several (law 15)")
    func emptyLists() throws {
        try means("", [String]())
        try means(" ", [String]())
        try means(#"["a",""]"#, ["a", ""])
        let words = PropertyKey("written.words", defaultValue: [String](), form: .separated(by: " "))
        let container = Container()
        try container.apply(EnvironmentSource(environment: ["WRITTEN_WORDS": "a  b c "]))
        expect(container[words], equals: ["a", "b", "c"])
    }

    // MARK: Tables

    private struct Pool: Codable, Sendable, Equatable {
        var size: Int
        var hosts: [String]?
    }
    private enum Mode: String, Decodable, CaseIterable, Sendable { case slow, fast }
    private enum Level: Int, Decodable, Sendable { case low = 1, high }
    private struct Name: RawRepresentable, Hashable, Decodable, Sendable { var rawValue: String }

    @Test(
        "A table is written as a JSON object in a variable, an argument, or a line of a .env file, as the help says (law 15)"
    )
    func tables() throws {
        // A table in a variable, an argument, or a line of a .env file is written as a JSON object.
        do {
            let pool = Pool(size: 5, hosts: ["a", "b"])
            try means(#"{"size": 5, "hosts": ["a", "b"]}"#, pool)
            try means("{\"size\": 5, \"hosts\": [\"a\", \"b\"]}\n", pool)
            try means(#"{"a": "1", "b": "2"}"#, ["a": "1", "b": "2"])
            try means("{}", [String: Int]())
            try means(#"{"a": [1, {"b": true}]}"#, ["a": [1, ["b": true]]] as [String: PropertyValue])
            try means(#"{"size": 5}"#, [Pool(size: 5, hosts: nil)])
            let line = DotEnvSource(text: #"WRITTEN_IT={"size": 5}"#, name: ".env")
            try expect(read(line, as: Pool.self), equals: Pool(size: 5, hosts: nil))
            let words = ArgumentsSource(["--written-it", #"{"size": 5}"#, #"{"size": 6}"#])
            try expect(read(words, as: [Pool].self), equals: [Pool(size: 5, hosts: nil), Pool(size: 6, hosts: nil)])
        }
        // The help says that a table can be written as JSON.
        do {
            let container = Container()
            container.declare([
                PropertyKey("written.labels", defaultValue: [String: String]()), PropertyKey<Pool?>("written.pool"),
            ])
            let text = container.reference().helpText
            expect(text.words.contains("in files, or as JSON in --written-labels or WRITTEN_LABELS"), text)
            expect(text.words.contains("in files, or as JSON in --written-pool or WRITTEN_POOL:"), text)
        }
    }

    @Test("A text that isn't a JSON object is refused where a table is expected, with how to write one (law 16)")
    func wrongTables() throws {
        let expected = #"expected a table, written as JSON, {"name": 1}"#
        try isMistake("a=1", Pool.self, expected + ", found text")
        for (text, mistake) in [
            ("{", #"column 2: expected a name in double quotes or }, found the end of the text"#),
            ("{a: 1}", #"column 2: expected a name in double quotes or }, found "a""#),
            (#"{"size": 5,,}"#, #"column 12: expected a name in double quotes or }, found ",""#),
            (#"{"size": five}"#, "column 10: unknown word; only true, false, and null are written without quotes"),
        ] {
            try isMistake(text, Pool.self, "\(expected) (line 1, \(mistake)), found text")
        }
        // A mistake quotes a character, which a secret mustn't.
        let secret = PropertyKey<Pool?>("written.secret", isSecret: true)
        let container = Container()
        try container.apply(EnvironmentSource(environment: ["WRITTEN_SECRET": "{a: 1}"]))
        expect(
            thrown { try container.validate([secret]) },
            equals:
                "environment variable WRITTEN_SECRET: written.secret: \(expected) (there's a mistake at line 1, column 2), "
                + "found text")
        try isMistake(#"{"size": "x"}"#, Pool.self, ".size: expected Int, found string")
        try isMistake(#"{"size": 5, "sise": 6}"#, Pool.self, "unknown name; did you mean")
    }

    @Test(
        "A table in a text is merged where the key merges tables, and a text that is none is a mistake there (laws 15, 16)"
    )
    func mergedTables() throws {
        // A table in a text is merged where the key merges tables, with the variables of its members before it.
        do {
            let key = PropertyKey<Pool?>("written.merged", form: .merged)
            let container = Container()
            try container.apply(TOMLSource(text: "written.merged = {size = 1, hosts = ['a']}", name: "t"))
            try container.apply(EnvironmentSource(environment: ["WRITTEN_MERGED": #"{"size": 2}"#]))
            try container.validate([key])
            expect(container[key], equals: Pool(size: 2, hosts: ["a"]))
            try container.apply(
                EnvironmentSource(environment: ["WRITTEN_MERGED": #"{"size": 3}"#, "WRITTEN_MERGED_HOSTS": "b,c"]))
            expect(container[key], equals: Pool(size: 3, hosts: ["b", "c"]))
        }
        // A text that isn't a table is a mistake where the key merges tables, also beside variables of members.
        do {
            let key = PropertyKey<Pool?>("written.merged", form: .merged)
            let container = Container()
            try container.apply(EnvironmentSource(environment: ["WRITTEN_MERGED": "5", "WRITTEN_MERGED_SIZE": "1"]))
            expect(
                thrown { try container.validate([key]) }.contains(
                    "expected a table, written as JSON, {\"name\": 1}, found text"))
        }
    }

    @Test("Nothing shows the values in a table that a text holds, or should hold (law 17)")
    func secrets() throws {
        let texts = [#"{"size": "swordfish"}"#, #"{"size": 1, "swordfish"}"#, #"{"size": 1, "hosts": ["swordfish"]}"#]
        let key = PropertyKey<Pool?>("written.hidden")
        for text in texts {
            let container = Container()
            container.declare([key])
            try container.apply(EnvironmentSource(environment: ["WRITTEN_HIDDEN": text]))
            try container.apply(ArgumentsSource(["--written-hidden", text]))
            let reports = container.reports()
            _ = container[key]
            let told = [
                thrown { try container.validate() }, thrown { _ = try container.require { _ in key } },
                reports.all.joined(),
                "\(container.explain { _ in key })", "\(container.explain())",
                thrown { _ = try container.property("written.hidden", as: Int.self) },
            ]
            expect(!told.contains { $0.contains("swordfish") }, "\(told)")
        }
    }

    @Test(
        "The names of a dictionary are decoded by its keys' type, and one that this does not have is an error (laws 15, 16)"
    )
    func dictionaries() throws {
        // The names of a dictionary are decoded by its keys' type: an enumeration or any other that a text gives.
        do {
            let sources: [any PropertySource] = [
                TOMLSource(text: "written.it = {slow = 1, fast = 2}", name: "t"),
                JSONSource(text: #"{"written": {"it": {"slow": 1, "fast": 2}}}"#, name: "j"),
                DictionarySource(["written": ["it": ["slow": 1, "fast": 2]]], name: "d"),
                EnvironmentSource(environment: ["WRITTEN_IT": #"{"slow": 1, "fast": 2}"#]),
            ]
            for source in sources {
                try expect(read(source, as: [Mode: Int].self), equals: [.slow: 1, .fast: 2], source.name)
                try expect(
                    read(source, as: [Name: Int].self), equals: [Name(rawValue: "slow"): 1, Name(rawValue: "fast"): 2])
                let key = PropertyKey("written.it", defaultValue: [Mode: Int]())
                let container = Container()
                try container.apply(source)
                try container.validate([key])
            }
            let levels = TOMLSource(text: "written.it = {1 = 'a', 2 = 'b'}", name: "t")
            try expect(read(levels, as: [Level: String].self), equals: [.low: "a", .high: "b"])
            let id = UUID()
            try expect(
                read(TOMLSource(text: "written.it = {\(id) = 1}", name: "t"), as: [UUID: Int].self), equals: [id: 1])
            struct Holder {
                struct Written {
                    var it: [Mode: Int] = [.slow: 1]
                }
                var written = Written()
            }
            try expect(read(StructSource(reflecting: Holder()), as: [Mode: Int].self), equals: [.slow: 1])
        }
        // A name that a dictionary's keys don't have is an error at its place.
        do {
            let key = PropertyKey("written.it", defaultValue: [Mode: Int]())
            let container = Container()
            try container.apply(TOMLSource(text: "[written.it]\nslwo = 1", name: "t"))
            expect(
                thrown { try container.validate([key]) },
                equals: "t:2:1: written.it.slwo: the name must be one of slow, fast")
        }
    }

    @Test("A list of tables whose key merges tables has no arguments for its elements' members (law 15)")
    func mergedLists() throws {
        let key = PropertyKey("written.servers", defaultValue: [Pool](), form: .merged)
        let container = Container()
        container.declare([key])
        expect(!container.reference().helpText.contains("--written-servers-"))
        try container.apply(TOMLSource(text: "[[written.servers]]\nsize = 1", name: "t"))
        try container.apply(ArgumentsSource(["--written-servers-size", "5"]))
        expect(container[key], equals: [Pool(size: 1, hosts: nil)])
        expect(thrown { try container.validate() }.contains("nothing reads this name: written.servers"))
    }
}

extension WrittenTextTests {
    @Test(
        "A file of a folder can hold a table as a JSON object, as a secret, alone and merged with others (laws 15, 17)")
    func folders() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: path) }
        let limits = PropertyKey("written.limits", defaultValue: [String: Int]())
        let pool = PropertyKey("written.pool", defaultValue: Pool(size: 0, hosts: nil), form: .merged)
        let wrong = PropertyKey("written.wrong", defaultValue: [String: Int]())
        for (name, text) in [
            ("WRITTEN_LIMITS", "\u{FEFF}{\"a\": 1, \"hunter2\": 2}\n"),
            ("written-pool", #"{"size": 1, "hosts": ["hunter3"]}"#),
            ("written-pool-size", "5\n"), ("written.wrong", #"{"a": "hunter4"}"#), ("limits.json", "{}"),
        ] {
            try Data(text.utf8).write(to: path.appending(path: name))
        }
        let container = Container()
        try container.apply(TOMLSource(text: "written.pool.hosts = ['b']", name: "t"))
        try container.apply(FolderSource(path: path.path))
        expect(container[limits], equals: ["a": 1, "hunter2": 2])
        expect(container[pool], equals: Pool(size: 5, hosts: ["hunter3"]))
        let error = thrown { try container.validate([limits, pool, wrong]) }
        let lines = error.split(separator: "\n")
        expect(lines.count, equals: 2, error)
        expect(lines[0].hasPrefix("\(path.path)/written.wrong: written.wrong") && !error.contains("hunter4"), error)
        expect(lines.last?.hasSuffix("to read this one, apply JSONSource(path:)") == true, error)
        expect(!"\(container.explain { _ in pool })".contains("hunter3"), "\(container.explain { _ in pool })")
    }
}
