// The optimizer of Swift 6.3.1 crashes on this target where these tests are in it.
import Foundation
import Fugu
import FuguConfiguration
import Support
import Testing

#if DEBUG || UNOPTIMIZED

extension ContainerKeys {
    fileprivate var shortWait: PropertyKey<Int> { .init("law25d.wait", defaultValue: 30) }
    fileprivate var longWait: PropertyKey<Int> { .init("law25d.wait", defaultValue: 60) }
    fileprivate var sameWait: PropertyKey<Int> { .init("law25d.wait", defaultValue: 30) }
    fileprivate var portNumber: PropertyKey<Int> { .init("law25d.port", defaultValue: 1) }
    fileprivate var portText: PropertyKey<String> { .init("law25d.port", defaultValue: "x") }
    fileprivate var dotted: PropertyKey<Int> { .init("law25d.base.url", defaultValue: 0) }
    fileprivate var capital: PropertyKey<Int> { .init("law25d.baseUrl", defaultValue: 0) }
    fileprivate var underscored: PropertyKey<Int> { .init("law25d.base_url", defaultValue: 0) }
    fileprivate var narrow: PropertyKey<Int> { .init("law25d.bound", defaultValue: 1, form: .range(1...5)) }
    fileprivate var wide: PropertyKey<Int> { .init("law25d.bound", defaultValue: 1, form: .range(1...9)) }
    fileprivate var secretWord: PropertyKey<String> { .init("law25d.word", defaultValue: "hunter2", isSecret: true) }
    fileprivate var openWord: PropertyKey<String> { .init("law25d.word", defaultValue: "hunter2") }
    fileprivate var split: PropertyKey<[Int]> { .init("law25d.list", defaultValue: [], form: .separated(by: ";")) }
    fileprivate var commas: PropertyKey<[Int]> { .init("law25d.list", defaultValue: []) }
    fileprivate var mergedPair: PropertyKey<Pair?> { .init("law25d.pair", form: .merged) }
    fileprivate var pairSize: PropertyKey<Int> { .init("law25d.pairSize", defaultValue: 0) }
    fileprivate var pairIdle: PropertyKey<String?> { .init("law25d.pair.idle") }
    fileprivate var pairRest: PropertyKey<Int?> { .init("law25d.pair.rest") }
}

private struct Pair: Decodable, Sendable {
    var size: Int
    var idle: Int
    var rest: Int?
}

/// Declarations that disagree are mistakes (law 16).
struct DeclarationConflictTests {
    private let container = Container()

    private var mistakes: [String] { thrown { try container.validate() }.split(separator: "\n").map(String.init) }

    @Test("One name with two defaults, two types, two forms, or one that's a secret for one key only is a mistake")
    func defaults() throws {
        // One name with two defaults is a mistake, whoever reads first.
        do {
            container.declare(\.shortWait, \.sameWait)
            try container.validate()
            container.declare(\.longWait)
            expect(mistakes.count == 1 && mistakes[0].hasPrefix("law25d.wait: "), "\(mistakes)")
            expect(
                mistakes[0].contains("30") && mistakes[0].contains("60") && mistakes[0].contains("DeclarationConflict"))
        }
        // One name with two types is a mistake, and a value is checked for both.
        do {
            let fresh = Self()
            let container = fresh.container
            let reports = container.reports()
            container.declare(\.portNumber, \.portText)
            expect(
                fresh.mistakes.count == 1 && fresh.mistakes[0].contains("Int") && fresh.mistakes[0].contains("String"),
                "\(fresh.mistakes)")
            try container.apply(TOMLSource(text: "law25d.port = 5", name: "t"))
            expect(
                fresh.mistakes.contains("t:1:15: law25d.port: expected String, found integer 5"), "\(fresh.mistakes)")
            expect(container.reference().entries.count, equals: 1)
            expect(container.explain().count, equals: 2)
            expect(reports.all, equals: ["t:1:15: law25d.port: expected String, found integer 5"])
        }
        // One name with two forms is a mistake.
        do {
            let fresh = Self()
            let container = fresh.container
            container.declare(\.narrow, \.wide, \.split, \.commas)
            try #require(fresh.mistakes.count == 2)
            expect(
                fresh.mistakes[0].hasPrefix("law25d.bound: has two forms, 1...5 (")
                    && fresh.mistakes[0].contains(" and 1...9 ("))
            expect(
                fresh.mistakes[1].contains("words between \";\" (") && fresh.mistakes[1].contains(" and any value ("))
        }
        // One name that's a secret for one key only is a mistake, whichever is declared or read first.
        do {
            let container = Container()
            _ = container.openWord
            for keys in [[\.openWord, \.secretWord], [\.secretWord, \.openWord]] as [[KeyPath<ContainerKeys, _>]] {
                let container = Container()
                for key in keys { container.declare(key) }
                let told = thrown { try container.validate() }
                expect(told.hasPrefix("law25d.word: is a secret (FuguConfigurationTests/DeclarationConflict"), told)
                expect(
                    told.contains("but isn't declared as one (FuguConfigurationTests/") && !told.contains("\n"), told)
            }
        }
    }

    @Test("Two spellings of one variable are a mistake, and of undeclared keys, each type decodes the text")
    func spellings() throws {
        // Two names with one variable and one argument are a mistake.
        do {
            container.declare(\.dotted, \.capital, \.underscored)
            expect(mistakes.count, equals: 2, "\(mistakes)")
            for (mistake, name) in zip(mistakes, ["law25d.baseUrl", "law25d.base_url"]) {
                expect(mistake.hasPrefix(name + ": "))
                expect(mistake.contains("law25d.base.url"))
                expect(mistake.contains("LAW25D_BASE_URL"))
                expect(mistake.contains("--law25d-base-url"))
            }
        }
        // Of keys that aren't declared, each type decodes the text, and whoever reads first decides.
        do {
            let container = Container()
            let reports = Log<String>()
            container.handleReports { reports.add($0) }
            try container.apply(EnvironmentSource(environment: ["LAW25D_PORT": "5"]))
            expect(container.portNumber == 5 && container.portText == "5")
            expect(container.longWait == 60 && container.shortWait == 60)
            expect(reports.all, equals: [])
        }
    }

    @Test("A member of a merged table is a name that must agree with others")
    func members() throws {
        container.declare(\.mergedPair, \.pairSize, \.pairIdle, \.pairRest)
        try #require(mistakes.count == 2)
        expect(mistakes[0].hasPrefix("law25d.pairSize: has the same variable and argument as law25d.pair.size, "))
        expect(mistakes[1].hasPrefix("law25d.pair.idle: declared as Int (") && mistakes[1].contains("as String ("))
    }

    @Test("A child sees what its parent declares, also after it has declared something itself, and so do copies")
    func family() throws {
        let child = container.child()
        child.declare(\.shortWait)
        container.declare(\.portNumber, \.shortWait)
        container.declareCheck(of: \.portNumber, "is odd") { $0.portNumber.isMultiple(of: 2) }
        expect(child.explain().map(\.name), equals: ["law25d.port", "law25d.wait"])
        try child.apply(DictionarySource(["law25d.port": 3, "law25d.wiat": 1], name: "d"))
        let told = """
            d: law25d.port: is odd
            d: law25d.wiat: unknown name; did you mean law25d.wait?
            """
        let copies = [
            Container(copying: child), Container(copying: child, Container()), Container(copying: container, child),
        ]
        for container in [child] + copies { expect(thrown { try container.validate() }, equals: told) }
        expect(container.explain().map(\.name), equals: ["law25d.port", "law25d.wait"])
        container.declare(\.dotted)
        expect(child.explain().count == 3 && copies[0].explain().count == 2)
    }

    @Test("Declaring on several threads loses nothing")
    func threads() async {
        let keys = (0..<200).map { PropertyKey("law25d.many\($0)", defaultValue: 0, isSecret: false) }
        await withTaskGroup(of: Void.self) { [container] group in
            for key in keys { group.addTask { container.declare([key]) } }
        }
        expect(container.explain().count, equals: 200)
    }
}

#endif

// The optimizer of Swift 6.3.1 crashes on this target where these tests are in it.

#if DEBUG || UNOPTIMIZED

private struct Size: TextDecodable, CustomStringConvertible, Hashable {
    let bytes: Int
    init(_ bytes: Int) { self.bytes = bytes }
    init?(text: String) {
        guard text.hasSuffix("B"), let bytes = Int(text.dropLast()) else { return nil }
        self.bytes = bytes
    }
    var description: String { "\(bytes)B" }
}

/// One whose description isn't what it's read from.
private struct Opaque: TextDecodable, Hashable {
    let word: String
    init(word: String) { self.word = word }
    init?(text: String) { word = text + "!" }
}

private struct Port: Decodable, Sendable, Hashable {
    let number: Int
    init(_ number: Int) { self.number = number }
    init(from decoder: any Decoder) throws { number = try decoder.singleValueContainer().decode(Int.self) }
}

private struct Upstream: Decodable, Sendable, Hashable {
    var name: String
    var weight: Int?
}

private struct Pool: Decodable, Sendable {
    var limit: UInt64 = 7
    var wait = Size(3)
    var note = "a\u{1b}b"
}

/// Whatever the reference prints can be read back (law 16).
struct DeclarationReferenceTests {
    private static let help = "First line.\nlaw25r.injected = 5\n| second \u{1b}[2J line"

    private func roundTrip<Value: Decodable & Sendable>(
        _ value: Value, isShown: Bool = true, _ isSame: (Value) -> Bool
    ) throws {
        let key = PropertyKey("law25r.\(Value.self)-\(UUID())", defaultValue: value, help: Self.help)
        let container = Container()
        container.declare([key])
        let entry = container.reference().entries[0]
        expect((entry.defaultValue != nil), equals: isShown, "\(Value.self)")
        guard let text = entry.defaultValue else { return }
        let file = container.reference().toml.split(separator: "\n", omittingEmptySubsequences: false)
        let uncommented = file.map { $0.hasPrefix("#") && !$0.hasPrefix("# ") ? $0.dropFirst() : $0 }
        let other = Container()
        try other.apply(TOMLSource(text: uncommented.joined(separator: "\n"), name: "sample"))
        expect(isSame(try other.require { _ in key }), "\(Value.self) = \(text)")
        try other.validate([key])
    }

    @Test("A decimal default is printed so that a file with it gives it")
    func decimal() throws {
        let tenth = try #require(Decimal(string: "0.10"))
        try roundTrip(tenth) { $0 == tenth }
    }

    @Test("A default is printed so that a file with it gives it, or not at all")
    func defaults() throws {
        try roundTrip(Data([1, 2, 250])) { $0 == Data([1, 2, 250]) }
        try roundTrip(DateComponents(hour: 3, minute: 0)) { $0.hour == 3 && $0.minute == 0 }
        try roundTrip(DateComponents(year: 2024), isShown: false) { _ in true }
        try roundTrip(Date(timeIntervalSince1970: 0.5)) { $0 == Date(timeIntervalSince1970: 0.5) }
        try roundTrip([UInt8]([1, 2])) { $0 == [1, 2] }
        try roundTrip(UInt64.max) { $0 == .max }
        try roundTrip(Float(0.1)) { $0 == 0.1 }
        try roundTrip(Double(0.1)) { $0 == 0.1 }
        try roundTrip(Double(1e300)) { $0 == 1e300 }
        try roundTrip(Double.infinity) { $0 == .infinity }
        try roundTrip(Double.nan) { $0.isNaN }
        try roundTrip("a\u{1b}[31mb\u{7f}\u{2028}\"q\"\\\n\u{1F600}\u{e000}") {
            $0 == "a\u{1b}[31mb\u{7f}\u{2028}\"q\"\\\n\u{1F600}\u{e000}"
        }
        try roundTrip(Size(3)) { $0 == Size(3) }
        try roundTrip([Size(3), Size(4)]) { $0 == [Size(3), Size(4)] }
        try roundTrip(Port(80)) { $0 == Port(80) }
        try roundTrip(Date(timeIntervalSince1970: 0.25)) { $0 == Date(timeIntervalSince1970: 0.25) }
        try roundTrip(Duration.milliseconds(1500)) { $0 == .milliseconds(1500) }
        try roundTrip([[1], []]) { $0 == [[1], []] }
        try roundTrip(["a b": "\u{1b}"]) { $0 == ["a b": "\u{1b}"] }
        try roundTrip(PropertyValue.table(["a": [1, 2]])) { $0 == ["a": [1, 2]] }
        try roundTrip([Upstream(name: "x", weight: 3)]) { $0 == [Upstream(name: "x", weight: 3)] }
        try roundTrip(Opaque(word: "x"), isShown: false) { $0 == Opaque(word: "x") }
    }

    @Test("The members of a table are printed so that a file with them gives them")
    func members() throws {
        let key = PropertyKey("law25r.pool", defaultValue: Pool(), help: Self.help)
        let container = Container()
        container.declare([key])
        let lines = container.reference().toml.split(separator: "\n")
        let uncommented = lines.map { $0.hasPrefix("#") && !$0.hasPrefix("# ") ? $0.dropFirst() : $0 }
        let other = Container()
        try other.apply(TOMLSource(text: uncommented.joined(separator: "\n"), name: "sample"))
        let pool = try other.require { _ in key }
        expect(pool.limit, equals: 7)
        expect(pool.wait, equals: Size(3))
        expect(pool.note, equals: "a\u{1b}b")
    }

    @Test("Help of several lines stays a comment, one row, and free of control characters")
    func help() {
        let container = Container()
        container.declare([PropertyKey("law25r.help", defaultValue: 1, help: Self.help)])
        let reference = container.reference()
        for line in reference.toml.split(separator: "\n") { expect(line.hasPrefix("#") || line.hasPrefix("[")) }
        expect(reference.markdown.split(separator: "\n").count, equals: 3)
        expect(!(reference.toml + reference.markdown + reference.helpText).contains("\u{1b}"))
        let indented = reference.helpText.split(separator: "\n").dropFirst()
        expect(indented.allSatisfy { $0.hasPrefix("     ") }, "\(reference.helpText)")
    }

    @Test("In Markdown a secret can be required, and the members of a required table aren't called required")
    func required() {
        let container = Container()
        container.declare([
            PropertyKey<String>.required("law25r.word", isSecret: true),
            PropertyKey<Upstream>.required("law25r.upstream", form: .merged),
        ])
        let rows = container.reference().markdown.split(separator: "\n").dropFirst(2)
        expect(
            rows,
            equals: [
                "| `law25r.word` | `LAW25R_WORD` | `--law25r-word` | text | *required*, *secret* |  |",
                "| `law25r.upstream` | `LAW25R_UPSTREAM` | `--law25r-upstream` | table | *required* |  |",
                "| `law25r.upstream.name` | `LAW25R_UPSTREAM_NAME` | `--law25r-upstream-name` | text |  |  |",
                "| `law25r.upstream.weight` | `LAW25R_UPSTREAM_WEIGHT` | `--law25r-upstream-weight` | number |  |  |",
            ])
    }

    @Test("What only JSON can hold in an argument is offered as JSON, and the members of a list of tables are listed")
    func filesOnly() throws {
        let container = Container()
        container.declare([
            PropertyKey("law25r.upstreams", defaultValue: [Upstream]()), PropertyKey<[Upstream]?>("law25r.more"),
            PropertyKey("law25r.labels", defaultValue: ["a": 1]), PropertyKey("law25r.matrix", defaultValue: [[1]]),
            PropertyKey("law25r.words", defaultValue: ["a"]),
        ])
        let reference = container.reference()
        expect(reference.entries[0].members.map(\.name), equals: ["name", "weight"])
        expect(reference.entries[1].members.map(\.name), equals: ["name", "weight"])
        for name in ["upstreams", "more", "labels", "matrix"] {
            let json = "in files, or as JSON in --law25r-\(name) or LAW25R_\(name.uppercased())"
            expect(reference.helpText.words.contains(json), "\(name)")
            expect(!reference.helpText.contains("--law25r-\(name) <"), "\(name)")
            expect(reference.helpText.contains("law25r.\(name) <"), "\(name)")
        }
        expect(reference.helpText.contains("--law25r-words <"))
    }
}

#endif
