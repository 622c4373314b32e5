// The optimizer of Swift 6.3.1 crashes on this target where these tests are in it.
import Foundation
import Fugu
import FuguConfiguration
import FuguScopes
import Support
import Testing

#if DEBUG || UNOPTIMIZED

extension ContainerKeys {
    fileprivate var boundPort: PropertyKey<Int> { .init("law25f.port", defaultValue: 8080, form: .range(1024...65535)) }
    fileprivate var boundLimit: PropertyKey<Int?> { .init("law25f.limit", form: .range(1...)) }
    fileprivate var evenNumber: PropertyKey<Int> {
        .init("law25f.even", defaultValue: 2, form: .checked("an even number") { $0.isMultiple(of: 2) }, isSecret: true)
    }
    fileprivate var mailHost: PropertyKey<String> {
        .init(
            "law25f.host", defaultValue: "localhost",
            form: .checked("a host in lowercase") { $0.wholeMatch(of: /[a-z.]+/) != nil })
    }
    fileprivate var formWords: PropertyKey<[String]> {
        .init("law25f.words", defaultValue: [], form: .separated(by: ";"))
    }
    fileprivate var formFlag: PropertyKey<Bool> { .init("law25f.flag", defaultValue: false, form: .anyBoolean) }
    fileprivate var strictFlag: PropertyKey<Bool> { .init("law25f.strict", defaultValue: false) }
    fileprivate var databaseURL: PropertyKey<String> { .required("law25f.url", help: "Where the data is.") }
    fileprivate var databasePort: PropertyKey<Int> { .required("law25f.number", form: .range(1...9), isSecret: true) }
    fileprivate var certificate: PropertyKey<String?> { .init("law25f.tls.cert") }
    fileprivate var privateKey: PropertyKey<String?> { .init("law25f.tls.key") }
    fileprivate var lowest: PropertyKey<Int> { .init("law25f.lowest", defaultValue: 0) }
    fileprivate var highest: PropertyKey<Int> { .init("law25f.highest", defaultValue: 9) }
    fileprivate var twoNumbers: PropertyKey<[Int]> {
        .init("law25f.two", defaultValue: [], form: .separated(by: ";").and(.checked("two numbers") { $0.count == 2 }))
    }
    fileprivate var peers: PropertyKey<Peers?> { .init("law25f.peers", form: .merged.and(.separated(by: ";"))) }
    fileprivate var tinyEven: PropertyKey<Int> {
        .init("law25f.tiny", defaultValue: 2, form: .range(0...9).and(.checked("even") { $0.isMultiple(of: 2) }))
    }
    fileprivate var zoneName: PropertyKey<String> {
        .init("law25f.zone", defaultValue: "a", form: .pattern(/[a-z]+/, "a word in lowercase"))
    }
    fileprivate var zoneOther: PropertyKey<String?> { .init("law25f.other", form: .pattern(/[0-9]+/, "digits")) }
}

private struct Peers: Decodable, Sendable, Equatable {
    var names: [String]
    var port: Int
}

extension ContainerKeys {
    fileprivate var siteKey: PropertyKey<String> { .required("law25f.site") }
    fileprivate var siteZone: PropertyKey<String> { .init(defaultValue: "a") }
    fileprivate var siteHost: PropertyKey<String> {
        .init("law25f.siteHost", defaultValue: "host.\(Container.current.siteZone)")
    }
    fileprivate var shareKey: PropertyKey<Double> { .init("law25f.share", defaultValue: 0.5, form: .range(0...1)) }
}

/// A key says which values it accepts, and what must be there (law 16).
struct FormTests {
    private let container = Container()

    @Test("A value that isn't in the form of its key is wrong like one of another type, with its place")
    func checked() throws {
        let reports = container.reports()
        let text = "[law25f]\nport = 80\nlimit = 0\neven = 3\nhost = 'A B'\nshare = 1.5"
        try container.apply(TOMLSource(text: text, name: "t"))
        let mistakes = """
            t:2:8: law25f.port: expected 1024...65535, found integer 80
            t:3:9: law25f.limit: expected 1..., found integer 0
            t:4:8: law25f.even: expected an even number, found integer
            t:5:8: law25f.host: expected a host in lowercase, found string "A B"
            t:6:9: law25f.share: expected 0.0...1.0, found double 1.5
            """
        let told = thrown {
            try container.validate(\.boundPort, \.boundLimit, \.evenNumber, \.mailHost, \.shareKey)
        }
        expect(told, equals: mistakes)
        expect(container.boundPort, equals: 8080)
        expect(container.boundLimit == nil)
        expect(container.evenNumber, equals: 2)
        expect(container.mailHost, equals: "localhost")
        expect(container.shareKey, equals: 0.5)
        expect(reports.all.joined(separator: "\n"), equals: mistakes)
        #expect(throws: PropertyError.self) { try container.require(\.boundPort) }
        container.boundPort = 1
        expect(container.boundPort, equals: 1)
    }

    @Test("A reload is refused with a value not in the form of its key, or without one that is required")
    func reloaded() throws {
        // A reload with a value that isn't in the form of its key is refused.
        do {
            let source = ChangingSource(["law25f.port": 2000])
            try container.apply(source)
            expect(container.boundPort, equals: 2000)
            source.change(to: ["law25f.port": 1])
            expect(thrown { try container.reload() }.contains("expected 1024...65535"))
            expect(container.boundPort, equals: 2000)
        }
        // A reload that takes away what is required is refused.
        do {
            let container = Container()
            let source = ChangingSource(["law25f.url": "x"])
            container.declare(\.databaseURL)
            try container.apply(source)
            source.change(to: [:])
            expect(thrown { try container.reload() }.hasPrefix("law25f.url: a value is required"))
            expect(container.databaseURL, equals: "x")
        }
    }

    @Test(
        "A value that code or a rule has set, and that its form doesn't accept, is read as it is, and validate and require throw it"
    )
    func setOutsideForm() throws {
        let source = ChangingSource(["law25f.port": 2000])
        container.declare(\.boundPort, \.evenNumber, \.mailHost, \.databasePort, \.zoneName, \.lowest)
        container.declareCheck(of: \.lowest, "is too high") { $0.lowest <= $0.highest }
        try container.apply(source)
        container.configureScopes("/inner") { $0.mailHost = "A B" }
        let child = container.child()
        try child.apply(DictionarySource(["law25f.zone": "a"], name: "d"))
        (container.evenNumber, container.databasePort, child.boundPort) = (3, 10, 100_000)
        expect(child.boundPort, equals: 100_000)
        expect(container.scope("/inner").mailHost, equals: "A B")
        expect(
            thrown { try child.validate() },
            equals: """
                set by code: law25f.port: expected 1024...65535, found 100000
                set by code: law25f.even: expected an even number, found something else
                set by code: law25f.number: expected 1...9, found something else
                """)
        container.evenNumber = 4
        expect(
            thrown { try container.scope("/inner").validate() },
            equals: """
                set by a rule: law25f.host: expected a host in lowercase, found "A B"
                set by code: law25f.number: expected 1...9, found something else
                """)
        expect(
            thrown { _ = try child.require(\.boundPort) },
            equals: "set by code: law25f.port: expected 1024...65535, found 100000")
        expect(thrown { _ = try container.require(\.databasePort) }.contains("set by code: law25f.number"))
        try expect(container.require(\.boundPort), equals: 2000)
        // Nor does it keep a reload from being checked.
        source.change(to: ["law25f.port": 2001, "law25f.lowest": 10])
        expect(thrown { try container.reload() }, equals: "changing: law25f.lowest: is too high")
        container.databasePort = 9
        try container.validate()
    }

    @Test("A text is split, and read as a Boolean value, as its key says, or the last of its forms")
    func texts() throws {
        // A text is split where the key says, and is a Boolean value in any spelling if the key says so.
        do {
            let variables = ["LAW25F_WORDS": "a,b; c", "LAW25F_FLAG": "Yes", "LAW25F_STRICT": "TRUE"]
            try container.apply(EnvironmentSource(environment: variables))
            container.handleReports { _ in }
            expect(container.formWords, equals: ["a,b", "c"])
            expect(container.formFlag)
            expect(!container.strictFlag)
            for (text, value) in ["TRUE": true, "1": true, "on": true, "No": false, "0": false, "off": false, "2": nil]
            {
                let container = Container()
                try container.apply(ArgumentsSource(["--law25f-flag=\(text)"]))
                expect((try? container.require(\.formFlag)), equals: value, "\(text)")
            }
            try container.apply(TOMLSource(text: "law25f.flag = 'yes'", name: "t"))
            #expect(throws: PropertyError.self) { try container.require(\.formFlag) }
        }
        // Of two forms that both say how texts are split, the second one decides, also for commas.
        do {
            let container = Container()
            let other = PropertyForm<[String]>.separated(by: ";")
            let comma = PropertyKey<[String]>(
                "law25f.commas", defaultValue: [],
                form: other.and(.separated(by: ",")).and(.checked("words") { _ in true })
            )
            try container.apply(EnvironmentSource(environment: ["LAW25F_COMMAS": "a;b,c"]))
            expect(container[comma], equals: ["a;b", "c"])
        }
    }

    @Test("The bounds of a duration are told as a source writes them")
    func durations() throws {
        let wait = PropertyKey(
            "law25f.wait", defaultValue: .seconds(2), form: .range(.milliseconds(500)...Duration.seconds(90)))
        let pause = PropertyKey<Duration?>("law25f.pause", form: .range(.seconds(1)..<Duration.seconds(2)))
        try container.apply(EnvironmentSource(environment: ["LAW25F_WAIT": "2m", "LAW25F_PAUSE": "2s"]))
        expect(
            thrown { try container.validate([wait, pause]) },
            equals: """
                environment variable LAW25F_WAIT: law25f.wait: expected 0.5s...90s, found text "2m"
                environment variable LAW25F_PAUSE: law25f.pause: expected 1s..<2s, found text "2s"
                """)
        container.declare([wait])
        expect(container.reference().helpText.contains("--law25f-wait <duration, 0.5s...90s>"))
    }

    @Test("What is required is read like any value, and reported with all other mistakes where it's missing")
    func required() throws {
        _ = container.reports()
        container.declare(\.databaseURL, \.databasePort, \.boundPort)
        try container.apply(TOMLSource(text: "law25f.port = 80\nlaw25f.number = 10", name: "t"))
        try container.apply(EnvironmentSource(prefix: "APP", environment: [:]))
        expect(
            thrown { try container.validate() },
            equals: """
                law25f.url: a value is required, but neither code nor environment APP_ nor t provides one; set \
                APP_LAW25F_URL or law25f.url in t
                t:2:17: law25f.number: expected 1...9, found integer
                t:1:15: law25f.port: expected 1024...65535, found integer 80
                """)
        expect(
            container.explain().map { "\($0)" }.prefix(2).joined(separator: "\n"),
            equals: """
                law25f.url = nothing (required)
                law25f.number = nothing (required)
                  wrong: t:2:17: law25f.number: expected 1...9, found integer
                """)
        let reference = container.reference()
        expect(reference.entries[0].isRequired && !reference.entries[2].isRequired)
        expect(
            reference.helpText.hasPrefix(
                "  --law25f-url <text>             Where the data is.\n"
                    + "                                  required; APP_LAW25F_URL, law25f.url\n"),
            "\(reference.helpText)")
        expect(reference.toml.contains("# text, required; APP_LAW25F_URL, --law25f-url\n#url = …"))
        expect(reference.markdown.contains("| text | *required* | Where the data is. |"))
        try container.apply(
            DictionarySource(["law25f.url": "x", "law25f.number": 3, "law25f.port": 2000], name: "d"))
        try container.validate()
        expect(container.databaseURL, equals: "x")
        expect(container.databasePort, equals: 3)
        expect("\(container.explain(\.databaseURL))", equals: "law25f.url = \"x\" (d)")
        try expect(container.child { $0.databaseURL = "code" }.require(\.databaseURL), equals: "code")
    }

    @Test(
        "Where it's missing, a read stops the program, with the path, and where a declared home doesn't see a child's value"
    )
    func missingWithHome() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            struct Database: Feature {
                static var home: Home { .shared }
                let url: String
                static func load(in container: any FeatureContainer) -> Database {
                    Database(url: container.databaseURL)
                }
            }
            _ = Container.program().child { $0.databaseURL = "child" }[Database.self]
        }
        expectMessage(
            of: result,
            "law25f.url is required, and nothing gives a value for it. Database declares its home, so it sees nothing",
            "Path: Database → \\.databaseURL", "Fix: set it, or apply a source",
            "declare the key, container.declare(\\.…), and call validate().")
    }

    @Test(
        "A load that requires values through its handle fails with the others of a warm-up, until there is one (laws 4, 16)"
    )
    func requiredInLoad() async throws {
        struct Pool: AsyncFeature {
            let url: String
            static func load(in container: any FeatureContainer) async throws -> Pool {
                Pool(url: try container.require(\.databaseURL))
            }
        }
        struct Site: ThrowingFeature {
            let key: String
            static func load(in container: any FeatureContainer) throws -> Site {
                Site(key: try container.require(\.siteKey))
            }
        }
        let container = Container()
        func warmUp() async throws {
            try await container.warmUp {
                $0.load(Pool.self)
                $0.load(Site.self)
            }
        }
        let error = await #expect(throws: WarmUpError.self) { try await warmUp() }
        expect(error?.failures.map(\.path), equals: [["Pool"], ["Site"]])
        expect(error?.failures.map { ($0.error as? PropertyError)?.name }, equals: ["law25f.url", "law25f.site"])
        (container.databaseURL, container.siteKey) = ("x", "y")
        try await warmUp()
        // What was required is an input.
        let child = container.child { $0.databaseURL = "z" }
        try await expect(child[Pool.self].url + container[Pool.self].url + child[Site.self].key, equals: "zxy")
        try expect(container.observable.require(\.databaseURL), equals: "x")
    }

    @Test("What a load makes of a default that it required in vain is kept, with that default's inputs (laws 3, 11)")
    func defaultAfterRequired() throws {
        final class Site: Sendable {
            let host: String
            init(_ host: String) { self.host = host }
        }
        let key = FeatureKey<Site>(id: UniqueID()) { Site((try? $0.require(\.siteHost)) ?? $0.siteHost) }
        let child = container.child { $0.siteZone = "b" }
        let site = child[key]
        // An instance that stays is reported.
        container.handleReports { _ in }
        expect(site.host, equals: "host.b")
        expect(child[key], is: site)
        expect(container[key].host, equals: "host.a")
        container.siteHost = "set"
        expect(container.child()[key].host, equals: "host.a")
        expect(child.child { $0.siteZone = "c" }[key].host, equals: "set")
    }

    @Test("Nothing takes away a required value that was read, declared or not: no reload, removal, or wrong source")
    func inUse() throws {
        let reports = container.reports()
        let source = MutableSource(["law25f.url": "x", "law25f.site": "s"], name: "flags")
        try container.apply(source)
        let child = container.child()
        expect(child.databaseURL, equals: "x")
        expect(container.siteKey, equals: "s")
        source.update { $0 = [:] }
        try #require(reports.all.count == 1)
        expect(reports.all[0].contains("law25f.url: a value is required"), "\(reports.all)")
        expect(reports.all[0].contains("law25f.site: a value is required"))
        expect(thrown { try container.reload(checksUnread: false) }.contains("law25f.url: a value is required"))
        expect(thrown { try container.removeSources(named: "flags") }.contains("law25f.url: a value is required"))
        let wrong = DictionarySource(["law25f.url": 5], name: "wrong")
        expect(thrown { try container.apply(wrong) }, equals: "wrong: law25f.url: expected String, found integer 5")
        expect(thrown { try child.apply(wrong) }, equals: "wrong: law25f.url: expected String, found integer 5")
        expect(child.databaseURL, equals: "x")
        expect(container.siteKey, equals: "s")
        container.databaseURL = "code"
        container.siteKey = "code"
        try container.removeSources(named: "flags")
        expect(child.databaseURL, equals: "code")
        expect(container.siteKey, equals: "code")
    }

    @Test("A property that is a type can be required, too")
    func requiredType() throws {
        container.declare(\.siteKey)
        let mistake = "law25f.site: a value is required, but code doesn't set one, and no source is applied"
        expect(thrown { try container.validate() }, equals: mistake)
        expect(container.explain(\.siteKey).winner.origin, equals: .missing)
        expect(container.reference().entries.map(\.isRequired), equals: [true])
        try container.apply(DictionarySource(["law25f.site": "s"], name: "d"))
        try container.validate()
        expect(container.siteKey, equals: "s")
    }

    @Test("Forms are combined, and a pattern is one")
    func combined() throws {
        _ = container.reports()
        try container.apply(
            EnvironmentSource(
                environment: [
                    "LAW25F_TWO": "1;2", "LAW25F_PEERS_NAMES": "a;b", "LAW25F_TINY": "11", "LAW25F_ZONE": "A b",
                    "LAW25F_OTHER": "1a",
                ]))
        try container.apply(TOMLSource(text: "law25f.peers.port = 5", name: "t"))
        expect(container.twoNumbers, equals: [1, 2])
        expect(container.peers, equals: Peers(names: ["a", "b"], port: 5))
        expect(
            thrown { try container.validate(\.tinyEven, \.zoneName, \.zoneOther) },
            equals: """
                environment variable LAW25F_TINY: law25f.tiny: expected 0...9 and even, found text "11"
                environment variable LAW25F_ZONE: law25f.zone: expected a word in lowercase, found text "A b"
                environment variable LAW25F_OTHER: law25f.other: expected digits, found text "1a"
                """)
        try container.apply(
            ArgumentsSource(["--law25f-two=1;2;3", "--law25f-tiny=3", "--law25f-zone=b", "--law25f-other=5"]))
        expect(
            thrown { try container.validate(\.twoNumbers, \.tinyEven, \.zoneName, \.zoneOther) },
            equals: """
                argument --law25f-two: law25f.two: expected two numbers, found text "1;2;3"
                argument --law25f-tiny: law25f.tiny: expected 0...9 and even, found text "3"
                """)
    }

    @Test("A reload is checked for everything that is declared, and with what a parent set in code (law 16)")
    func unread() throws {
        // A reload is checked for everything that is declared, read or not, unless it's told not to.
        do {
            let source = ChangingSource(["law25f.port": 2000])
            container.declare(\.boundPort, \.boundLimit)
            try container.apply(source)
            source.change(to: ["law25f.port": 80])
            expect(
                thrown { try container.reload() },
                equals: "changing: law25f.port: expected 1024...65535, found integer 80")
            source.change(to: ["law25f.port": 2001, "law25f.limti": 3])
            expect(
                thrown { try container.reload() },
                equals: "changing: law25f.limti: unknown name; did you mean law25f.limit?")
            expect(container.boundPort, equals: 2000)
            try container.reload(checksUnread: false)
            expect(container.boundPort, equals: 2001)
            source.change(to: ["law25f.port": 2002, "law25f.limti": 4])
            try container.reload()
            expect(container.boundPort, equals: 2002)
        }
        // A child's reload is checked with what its parent set in code, and that doesn't cover the child's sources.
        do {
            let container = Container()
            let child = container.child()
            let source = ChangingSource(["law25f.lowest": 1, "law25f.highest": 2])
            child.declare(\.lowest, \.highest)
            child.declareCheck(of: \.lowest, "is too high") { $0.lowest <= $0.highest }
            container.highest = 5
            try child.apply(source)
            source.change(to: ["law25f.lowest": 4])
            try child.reload()
            expect(child.lowest, equals: 4)
            expect(child.highest, equals: 5)
            source.change(to: ["law25f.lowest": 4, "law25f.highest": 3])
            expect(thrown { try child.reload() }, equals: "changing: law25f.lowest: is too high")
            expect(child.lowest, equals: 4)
            expect(child.highest, equals: 5)
        }
    }

    @Test("A check of several keys is reported with the place of its key, and a reload that breaks it is refused")
    func several() throws {
        let source = ChangingSource(["law25f.tls.cert": "c", "law25f.tls.key": "k"])
        container.declare(\.certificate, \.privateKey)
        container.declareCheck(of: \.certificate, "needs law25f.tls.key") {
            $0.certificate == nil || $0.privateKey != nil
        }
        try container.validate()
        try container.apply(source)
        try container.validate()
        expect(container.certificate, equals: "c")
        source.change(to: ["law25f.tls.cert": "d"])
        let mistake = "changing: law25f.tls.cert: needs law25f.tls.key"
        expect(thrown { try container.reload() }, equals: mistake)
        expect(container.certificate, equals: "c")
        expect(container.privateKey, equals: "k")
        let other = container.child()
        try other.apply(TOMLSource(text: "law25f.tls.cert = 'x'", name: "t"))
        try other.validate()
        let broken = Container()
        broken.declareCheck(of: \.certificate, "needs law25f.tls.key") { $0.certificate == nil || $0.privateKey != nil }
        try broken.apply(TOMLSource(text: "law25f.tls.cert = 'x'", name: "t"))
        expect(thrown { try broken.validate(\.certificate) }, equals: "t:1:19: law25f.tls.cert: needs law25f.tls.key")
        // A condition that reads a required key isn't asked while nothing gives the key, at a reload either.
        let family = Container()
        let missing = PropertyKey<String>.required("law25f.missing")
        family.declare(\.certificate)
        family.declare([missing])
        family.declareCheck(of: \.certificate, "needs law25f.missing") { !$0[missing].isEmpty }
        try family.apply(source)
        source.change(to: ["law25f.tls.cert": "e"])
        try family.reload()
        expect(family.certificate, equals: "e")
    }

    @Test("Conditions are compared although values are wrong, which stand for their defaults")
    func conditionsBesideMistakes() throws {
        container.handleReports { _ in }
        container.declare(\.boundPort, \.lowest, \.highest)
        container.declareCheck(of: \.lowest, "is too high") { $0.lowest <= $0.highest }
        container.declareCheck(of: \.lowest, "is odd") { $0.lowest.isMultiple(of: 2) }
        let source = ChangingSource(["law25f.port": 1])
        try container.apply(source)
        // What was wrong before and still is hides no condition that breaks.
        source.change(to: ["law25f.port": 2, "law25f.lowest": 10])
        expect(thrown { try container.reload() }, equals: "changing: law25f.lowest: is too high")
        // A condition that was broken before refuses nothing, though the mistake beside it is put right.
        source.change(to: ["law25f.port": 3, "law25f.lowest": 12])
        try container.reload(checksUnread: false)
        source.change(to: ["law25f.port": 2000, "law25f.lowest": 12])
        try container.reload()
        expect(container.boundPort, equals: 2000)
        expect(container.lowest, equals: 12)
        // Nor does it hide another condition of the same key.
        source.change(to: ["law25f.port": 2000, "law25f.lowest": 13])
        expect(thrown { try container.reload() }, equals: "changing: law25f.lowest: is odd")
    }

    @Test("A source is replaced where it stands, or refused like a reload")
    func replaced() throws {
        let site = Container()
        site.declare(\.lowest, \.highest)
        try site.apply(DictionarySource(["law25f.lowest": 1, "law25f.highest": 1], name: "base"))
        try site.apply(DictionarySource(["law25f.highest": 2], name: "top"))
        expect(site.lowest, equals: 1)
        expect(site.highest, equals: 2)
        let wrong = DictionarySource(["law25f.lowest": "x"], name: "base")
        expect(thrown { try site.replaceSources(named: "base", with: wrong) }.contains("expected Int"))
        let flags = MutableSource(["law25f.lowest": 3, "law25f.highest": 3], name: "flags")
        try site.replaceSources(named: "base", with: flags)
        expect(site.lowest, equals: 3)
        expect(site.highest, equals: 2)
        flags["law25f.lowest"] = 4
        expect(site.lowest, equals: 4)
        try site.replaceSources(named: "none", with: DictionarySource(["law25f.highest": 5], name: "new"))
        expect(site.highest, equals: 5)
    }
}

#endif

/// What is written in arguments, variables, and files is read as written, or it's a mistake (law 16).
struct FormOfTextTests {
    private func read<Value: Decodable & Sendable>(
        _ arguments: [String], as _: Value.Type = Value.self
    ) throws -> Value? {
        let container = Container()
        try container.apply(ArgumentsSource(arguments))
        return try container.property("law25t.list", as: Value.self)
    }

    @Test("Every word of a repeated argument is an element, up to an option with one dash")
    func repeated() throws {
        // Every word of an argument that occurs several times is an element of its list.
        do {
            let words = ["--law25t-list", "a", "b", "--law25t-list", "c", "d", "--other"]
            try expect(read(words, as: [String].self), equals: ["a", "b", "c", "d"])
            try expect(read(["--law25t-list", "1", "--law25t-list", "-2", "3"], as: [Int].self), equals: [1, -2, 3])
        }
        // A list ends before an option with one dash, and the words behind that are for others.
        do {
            try expect(read(["--law25t-list", "a", "-v", "c"], as: [String].self), equals: ["a"])
            try expect(
                read(["--law25t-list", "a", "--law25t-list", "b", "-v", "c"], as: Set<String>.self), equals: ["a", "b"])
            try expect(read(["--law25t-list", "a", "b", "-v"], as: [String].self), equals: ["a", "b"])
            try expect(read(["--law25t-list", "a", "-v", "c"], as: String.self), equals: "a")
            try expect(
                read(["--law25t-list", "a", "-v", "--law25t-list", "b"], as: [String].self), equals: ["a", "b"])
        }
    }

    private func everywhere<Value: Decodable & Sendable & Equatable>(
        _ text: String, as _: Value.Type, _ sources: (String) -> [any PropertySource]
    ) -> [Value?] {
        sources(text).map { source in
            let container = Container()
            guard (try? container.apply(source)) != nil else { return nil }
            return try? container.property("n", as: Value.self)
        }
    }

    private func numbers(_ text: String) -> [any PropertySource] {
        [
            TOMLSource(text: "n = \(text)", name: "t"), JSONSource(text: "{\"n\": \(text)}", name: "j"),
            EnvironmentSource(environment: ["N": text]), ArgumentsSource(["--n=\(text)"]),
            DotEnvSource(text: "N=\(text)", name: ".env"),
        ]
    }

    @Test(
        "A number means the same wherever it's written",
        arguments: [
            "1.0", "1e3", "1.5", "9007199254740992", "9007199254740993", "-9007199254740993", "9007199254740993.0",
            "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616",
            "-9223372036854775809", "340282366920938463463374607431768211456", "0.1", "1e400",
        ])
    func everySource(text: String) {
        expect(Set(everywhere(text, as: Int.self, numbers)).count, equals: 1, "Int")
        expect(Set(everywhere(text, as: UInt64.self, numbers)).count, equals: 1, "UInt64")
        expect(Set(everywhere(text, as: Double.self, numbers)).count, equals: 1, "Double")
        expect(Set(everywhere(text, as: Float.self, numbers)).count, equals: 1, "Float")
        expect(Set(everywhere(text, as: Decimal.self, numbers)).count, equals: 1, "Decimal")
    }

    @Test("An integer is read exactly or is a mistake, and null is no value that require accepts")
    func exact() throws {
        // An integer that its type can represent is read exactly, and one that it can't is a mistake.
        do {
            expect(everywhere("18446744073709551615", as: UInt64.self, numbers).allSatisfy { $0 == .max })
            expect(everywhere("1.0", as: Int.self, numbers).allSatisfy { $0 == 1 })
            expect(everywhere("9007199254740993", as: Double.self, numbers).allSatisfy { $0 == nil })
            expect(everywhere("9007199254740993.0", as: Double.self, numbers).allSatisfy { $0 == 9007199254740992 })
            expect(everywhere("9223372036854775808", as: Int.self, numbers).allSatisfy { $0 == nil })
        }
        // null isn't a value that require accepts.
        do {
            let key = PropertyKey<String?>("law25t.text")
            let container = Container()
            try container.apply(JSONSource(text: #"{"law25t": {"text": null}}"#, name: "j"))
            expect(container[key] == nil)
            expect(
                thrown { _ = try container.require { _ in key } }.hasPrefix("j:1:21: law25t.text: a value is required"))
            try container.apply(JSONSource(text: #"{"law25t": {"text": "x"}}"#, name: "k"))
            try expect(container.require { _ in key }, equals: "x")
        }
    }

    private enum Mode: String, Decodable { case slow, fast }

    @Test("An explanation writes a value as a source would, whether it wins or is hidden")
    func explained() throws {
        let wait = PropertyKey("law25t.wait", defaultValue: Duration.seconds(1))
        let container = Container()
        expect("\(container.explain { _ in wait })", equals: "law25t.wait = \"1s\" (default)")
        try container.apply(DictionarySource(["law25t.wait": "45s"], name: "a"))
        try container.apply(DictionarySource(["law25t.wait": "1m"], name: "b"))
        expect("\(container.explain { _ in wait })", equals: "law25t.wait = \"60s\" (b)\n  hides \"45s\" (a)")
        let mode = PropertyKey("law25t.mode", defaultValue: Mode.slow)
        expect("\(container.explain { _ in mode })", equals: "law25t.mode = \"slow\" (default)")
        let url = PropertyKey<URL?>("law25t.url")
        try container.apply(DictionarySource(["law25t.url": "https://x.org"], name: "c"))
        expect("\(container.explain { _ in url })", equals: "law25t.url = \"https://x.org\" (c)")
    }
}
