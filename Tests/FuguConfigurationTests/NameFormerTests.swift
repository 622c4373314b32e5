import Foundation
import Fugu
import FuguConfiguration
import Support
import Testing

private struct Pool: Decodable, Sendable, Equatable {
    var size = 1
    var idle = 2
}

extension ContainerKeys {
    fileprivate var port: PropertyKey<Int> {
        .init(
            "former24.port", defaultValue: 80, form: .range(1...).and(.formerly("port24", "old24.port")),
            help: "A port.")
    }
    fileprivate var password: PropertyKey<String?> {
        .init("former24.password", form: .formerly("former24.pass"), isSecret: true)
    }
    fileprivate var pool: PropertyKey<Pool> {
        .init("former24.pool", defaultValue: Pool(), form: .merged.and(.formerly("pool24")))
    }
    fileprivate var timeout: PropertyKey<Int> {
        .init("former24.timeOut", defaultValue: 1, form: .formerly("former24.time_out"))
    }
}

/// Names that keys had before (law 15).
struct NameFormerTests {
    private let container = Container()

    @Test(
        "A value under a former name is the key's, and is reported once with the new name, in every source (law 15)",
        arguments: [
            (TOMLSource(text: "port24 = 1", name: "x"), "x:1:1: port24 is an old name; use former24.port in x"),
            (JSONSource(text: #"{"port24": 1}"#, name: "x"), "x:1:2: port24 is an old name; use former24.port in x"),
            (
                DotEnvSource(text: "APP_PORT24=1", name: "x", prefix: "APP"),
                "x:1:1: port24 is an old name; use APP_FORMER24_PORT in x"
            ),
            (
                EnvironmentSource(prefix: "APP", environment: ["APP_OLD24_PORT": "1"]),
                "environment variable APP_OLD24_PORT: old24.port is an old name; use APP_FORMER24_PORT"
            ),
            (
                ArgumentsSource(["--port24", "1"]), "argument --port24: port24 is an old name; use --former24-port"
            ),
            (
                TOMLSource(text: "a.port24 = 1", name: "x").scoped(to: "a"),
                "x:1:3: port24 is an old name; use a.former24.port in x"
            ),
        ] as [(any PropertySource, String)])
    func sources(source: any PropertySource, report: String) throws {
        let reports = container.reports()
        container.declare(\.port)
        try container.apply(source)
        try container.validate()
        expect(container.port, equals: 1)
        try container.reload()
        try container.validate()
        expect(reports.all, equals: ["Fugu: \(report)."])
        expect("\(container.explain(\.port))".contains("\n  under its old name, "))
    }

    @Test(
        "Files of a folder and values of a struct may have former names, which spelled alike are not reported (law 15)")
    func more() throws {
        // Files of a folder and values of a struct may have former names, too.
        do {
            struct Settings { var port24 = 3 }
            let reports = container.reports()
            try container.apply(StructSource(reflecting: Settings()))
            expect(container.port, equals: 3)
            let folder = NSTemporaryDirectory() + "fugu-former-\(UUID())"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try Data("4".utf8).write(to: URL(fileURLWithPath: folder + "/port24"))
            try container.apply(FolderSource(path: folder))
            expect(container.port, equals: 4)
            expect(reports.all.count == 2 && reports.all[1].contains("use \(folder)/former24-port."), "\(reports.all)")
            try container.validate(\.port)
        }
        // A former name that a source spells like the new one isn't reported.
        do {
            let container = Container()
            let reports = container.reports()
            try container.apply(EnvironmentSource(environment: ["FORMER24_TIME_OUT": "5"]))
            try container.validate(\.timeout)
            expect(container.timeout == 5 && reports.all.isEmpty, "\(reports.all)")
        }
    }

    @Test(
        "Of two names in one source the new one wins and the report says so; between sources, their order decides (law 15)"
    )
    func both() throws {
        // If a source has both names, the new one wins, and the report says so.
        do {
            let reports = container.reports()
            try container.apply(TOMLSource(text: "port24 = 1\nformer24.port = 2", name: "x"))
            try container.validate(\.port)
            expect(container.port, equals: 2)
            let said = "port24 is an old name, and isn't used, since there's also former24.port in x; remove it."
            expect(reports.all, equals: ["Fugu: x:1:1: \(said)"])
            expect("\(container.explain(\.port))", equals: "former24.port = 2 (x:2:17)\n  hides 1 (x:1:10)")
        }
        // Between sources, their order decides, whichever names they use.
        do {
            let container = Container()
            _ = container.reports()
            try container.apply(TOMLSource(text: "former24.port = 2", name: "x"))
            try container.apply(EnvironmentSource(environment: ["PORT24": "3"]))
            expect(container.port, equals: 3)
            try container.apply(ArgumentsSource(["--former24-port", "4"]))
            expect(container.port, equals: 4)
        }
    }

    @Test("A wrong value under a former name is an error at its place, and a secret stays one (laws 15, 16, 17)")
    func wrong() throws {
        // A wrong value under a former name is an error at its place, and a reload follows it.
        do {
            let reports = container.reports()
            let source = MutableSource(["port24": 1], name: "x")
            try container.apply(source)
            let seen = Log<Int>()
            container.observe(\.port) { seen.add($0) }
            source["port24"] = 2
            source["port24"] = 0
            expect(container.port == 2 && seen.all == [2])
            expect(reports.all.last?.contains("port24: expected 1..., found integer 0") == true, "\(reports.all)")
            source.update { $0 = ["former24.port": 5] }
            expect(container.port == 5 && seen.all == [2, 5])
        }
        // A secret stays one under its former name.
        do {
            let container = Container()
            let reports = container.reports()
            container.declare(\.password)
            try container.apply(TOMLSource(text: "former24.pass = { word = 'hunter2' }", name: "x"))
            let text = thrown { try container.validate() } + "\(container.explain(\.password))" + "\(reports.all)"
            expect(!text.contains("hunter2") && text.contains("former24.pass: expected String, found table"), "\(text)")
            let arguments = Container().unreported
            try arguments.apply(ArgumentsSource(["--former24-pass", "--hunter2"]))
            expect(!thrown { try arguments.validate(\.password) }.contains("hunter2"))
        }
    }

    @Test("A merged table takes members, texts of members, and a JSON object under its former name (law 15)")
    func merged() throws {
        // A merged table takes members under its former name.
        do {
            let reports = container.reports()
            container.declare(\.pool)
            try container.apply(TOMLSource(text: "[pool24]\nsize = 5\nidle = 6", name: "x"))
            let variables = MutableSource(["pool24.size": 7], name: "y")
            try container.apply(variables)
            try container.apply(EnvironmentSource(environment: ["POOL24_IDLE": "8"]))
            try container.validate()
            expect(container.pool, equals: Pool(size: 7, idle: 8))
            variables["pool24.size"] = 9
            expect(container.pool, equals: Pool(size: 9, idle: 8))
            expect(!reports.all.isEmpty)
        }
        // A merged table takes texts of members, and a JSON object, under its former name, with reports.
        do {
            let container = Container()
            let reports = container.reports()
            container.declare(\.door)
            try container.apply(EnvironmentSource(environment: ["DOOR24": #"{"isOpen": true, "width": 3}"#]))
            expect(container.door, equals: Door(isOpen: true, width: 3))
            try container.apply(ArgumentsSource(["--no-door24-is-open", "--former24-door-width", "4"]))
            try container.validate()
            expect(container.door, equals: Door(isOpen: false, width: 4))
            expect(
                reports.all,
                equals: [
                    "Fugu: environment variable DOOR24: door24 is an old name; use FORMER24_DOOR.",
                    "Fugu: argument --no-door24-is-open: door24.isOpen is an old name; use --former24-door-is-open.",
                ])
        }
    }

    @Test("Advice names new names, and an old name that's also another key's is an error (laws 15, 16)")
    func advice() throws {
        try container.apply(ArgumentsSource(["--prot24", "1", "--former24-prot=1"]))
        let text = thrown { try container.validate(\.port) }
        expect(text.contains("did you mean --former24-port?") && !text.contains("--port24"), "\(text)")
        let other = Container()
        other.declare([ContainerKeys().port, PropertyKey("port24", defaultValue: 1)])
        expect(
            thrown { try other.validate() }.hasPrefix("port24: is a name, and also an old name of former24.port (Fugu"))
        let forms = Container()
        forms.declare([ContainerKeys().port, PropertyKey("former24.port", defaultValue: 80, form: .range(1...))])
        expect(thrown { try forms.validate() }.contains("has two forms"))
    }

    @Test("The help, the sample file, and the table of a reference mention former names (law 15)")
    func reference() {
        container.declare(\.port)
        let reference = container.reference(prefix: "APP")
        expect(reference.helpText.contains("Formerly port24, old24.port."), reference.helpText)
        expect(reference.toml.contains("# Formerly port24, old24.port."), reference.toml)
        expect(reference.markdown.contains("A port. Formerly port24, old24.port."), reference.markdown)
    }
}

extension ContainerKeys {
    fileprivate var isLoud: PropertyKey<Bool> {
        .init("former24.isLoud", defaultValue: false, form: .formerly("former24.loudURLs"))
    }
    fileprivate var door: PropertyKey<Door> {
        .init("former24.door", defaultValue: Door(), form: .merged.and(.formerly("door24")))
    }
    fileprivate var store: PropertyKey<String> {
        .init("former24.store", defaultValue: "", form: .formerly("former24.cache"))
    }
}

private struct Door: Decodable, Sendable, Equatable {
    var isOpen = false
    var width = 1
}

/// Former names where arguments, variables, and texts have conventions of their own.
extension NameFormerTests {
    @Test(
        "A former name is split into words and switched on and off as the present one (laws 15, 16)",
        arguments: [
            (["--former24-loud-urls"], true), (["--no-former24-loud-urls"], false),
            (["--former24-loud-urls", "file"], true), (["--no-former24-loud-urls", "--former24-loud-urls"], true),
            (["--former24-loud-urls", "--no-former24-loud-urls"], false),
            (["--no-former24-is-loud", "--former24-loud-urls"], false),
            (["--former24-is-loud", "--no-former24-loud-urls"], true),
        ])
    func switches(words: [String], expected: Bool) throws {
        let container = Container()
        let reports = container.reports()
        container.declare(\.isLoud)
        try container.apply(DictionarySource(["former24.isLoud": .bool(!expected)], name: "below"))
        try container.apply(ArgumentsSource(words))
        try container.validate()
        expect(container.isLoud, equals: expected)
        let old = words.last { $0.hasSuffix("urls") } ?? "--former24-loud-urls"
        let isUsed = !words.contains { $0.hasSuffix("is-loud") }
        let said =
            isUsed
            ? "; use --former24-is-loud."
            : ", and isn't used, since there's also --former24-is-loud; remove it."
        let name = "former24.loudURLs is an old name"
        expect(reports.all, equals: ["Fugu: argument \(old): \(name)\(said)"])
        expect("\(container.explain(\.isLoud))".contains("under its old name, former24.loudURLs") == isUsed)
    }

    @Test("A former name of a variable has the words of the present one's rules (law 15)")
    func words() throws {
        let container = Container()
        let reports = container.reports()
        container.declare(\.isLoud)
        try container.apply(EnvironmentSource(prefix: "APP", environment: ["APP_FORMER24_LOUD_URLS": "true"]))
        try container.validate()
        expect(container.isLoud)
        let said = "former24.loudURLs is an old name; use APP_FORMER24_IS_LOUD."
        expect(reports.all, equals: ["Fugu: environment variable APP_FORMER24_LOUD_URLS: \(said)"])
        let help = container.reference(prefix: "APP").helpText
        expect(help.contains("--[no-]former24-is-loud") && help.contains("Formerly former24.loudURLs."), help)
    }

    @Test("Under a former name, only what is on or off can be switched off, and only by what is unambiguous (law 16)")
    func negated() throws {
        // What isn't on or off can't be switched off under a former name, and the advice names the new one.
        do {
            let container = Container()
            _ = container.reports()
            try container.apply(
                ArgumentsSource(["--no-port24", "--no-former24-loud-urls=true", "--no-former24-loud-url"]))
            let text = thrown { try container.validate(\.port, \.isLoud) }
            expect(
                text.contains("--no-port24: unknown name;") && text.contains("did you mean --former24-port=…?"), text)
            expect(text.contains("takes no value; write --former24-is-loud=false"), text)
            expect(!text.contains("mean --no-former24-loud-urls"), text)
        }
        // A value under a former name counts, whatever switches off what isn't Boolean.
        do {
            let container = Container()
            let reports = container.reports()
            try container.apply(ArgumentsSource(["--former24-cache", "a", "--no-former24-store"]))
            expect(container.store, equals: "a")
            expect(reports.all.first?.hasSuffix("former24.cache is an old name; use --former24-store.") == true)
            expect("\(container.explain(\.store))".contains("under its old name, former24.cache"))
        }
        // A former name that switches another key off is a mistake.
        do {
            let container = Container()
            let cache = PropertyKey("former24.files", defaultValue: true)
            container.declare([
                cache, PropertyKey("former24.only", defaultValue: 0, form: .formerly("no.former24.files")),
            ])
            expect(
                thrown { try container.validate() },
                equals:
                    "no.former24.files: --no-former24-files switches former24.files off, too; rename one of them")
        }
    }
}
