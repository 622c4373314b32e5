import Foundation
import Fugu
import FuguConfiguration
import Support
import Testing

/// Measured as the exponent between a size and four times that size, so that a slow machine makes no difference.
@Suite("What a user can write ten thousand times takes time in proportion (law 20)", .serialized)
struct ProportionOfSourcesTests {}

extension ProportionOfSourcesTests {
    /// Runs `body` with a quarter of the size and with the size, and expects less than the square.
    ///
    /// The bound is wide, since other tests run at the same time; what it takes is printed.
    private func grows(to size: Int, _ name: String, _ body: (Int) throws -> Void) rethrows {
        #if DEBUG
        let size = size / 10
        #endif
        try body(max(size / 100, 1))
        let small = try threadTime { try body(size / 4) } / .seconds(1)
        let large = try threadTime { try body(size) } / .seconds(1)
        let exponent = log2(max(large, 1e-4) / max(small, 1e-4)) / 2
        print("\(name): \(size) in \(large) s, exponent \(exponent)")
        expect(exponent < 1.8 || large < 0.05, "\(name)")
    }

    /// The number of errors for so many mistakes: fifty, and one for all others.
    private static func shown(of count: Int) -> Int { min(count, 51) }

    @Test("100,000 repeated arguments are one array in time in proportion (law 20)")
    func arguments() throws {
        try grows(to: 100_000, "arguments") { count in
            let container = Container()
            try container.apply(ArgumentsSource(Array(repeating: "--k=1", count: count)))
            try expect(container.property("k", as: [Int].self)?.count, equals: count)
        }
    }

    @Test("10,000 typos among 10,000 names are reported in time in proportion (law 20)")
    func typos() throws {
        try grows(to: 10_000, "typos") { count in
            let keys = (0..<count).map { PropertyKey<Int?>("application\(count).section\($0).setting_number_\($0)") }
            let text = (0..<count).map { "section\($0).setting_numbr_\($0) = 1\n" }.joined()
            let container = Container()
            try container.apply(TOMLSource(text: "[application\(count)]\n" + text, name: "x"))
            let errors = #expect(throws: PropertyErrors.self) { try container.validate(keys) }
            expect(errors?.errors.count, equals: Self.shown(of: count))
            expect(errors?.errors.first?.reason.contains("did you mean"), equals: true)
        }
    }

    @Test("10,000 variables among 10,000 names that no key has are reported in time in proportion (law 20)")
    func variables() throws {
        try grows(to: 10_000, "variables") { count in
            let keys = (0..<count).map { PropertyKey<Int?>("variables\(count).setting_number_\($0)") }
            let names = (0..<count).map { ("APP_VARIABLES\(count)_SETTING_NUMBR_\($0)", "1") }
            let container = Container()
            try container.apply(
                EnvironmentSource(prefix: "APP", environment: Dictionary(uniqueKeysWithValues: names)))
            let errors = #expect(throws: PropertyErrors.self) { try container.validate(keys) }
            expect(errors?.errors.count, equals: Self.shown(of: count))
        }
    }

    @Test("10,000 typos among 10,000 names of one table are reported in time in proportion (law 20)")
    func siblings() throws {
        try grows(to: 10_000, "typos in one table") { count in
            let keys = (0..<count).map { PropertyKey<Int?>("flat\(count).setting_number_\($0)") }
            let text = (0..<count).map { "setting_numbr_\($0) = 1\n" }.joined()
            let container = Container()
            try container.apply(TOMLSource(text: "[flat\(count)]\n" + text, name: "x"))
            let errors = #expect(throws: PropertyErrors.self) { try container.validate(keys) }
            expect(errors?.errors.count, equals: Self.shown(of: count))
        }
    }

    @Test("10,000 errors in one file of megabytes are placed in time in proportion (law 20)")
    func errors() throws {
        let padding = "# " + String(repeating: "x", count: 400) + "\n"
        try grows(to: 10_000, "errors") { count in
            let keys = (0..<count).map { PropertyKey("wrong\(count).k\($0)", defaultValue: 0) }
            let text = (0..<count).map { padding + "k\($0) = 'x'\n" }.joined()
            let container = Container()
            container.handleReports { _ in }
            try container.apply(TOMLSource(text: "[wrong\(count)]\n" + text, name: "x"))
            let errors = #expect(throws: PropertyErrors.self) { try container.validate(keys) }
            expect(errors?.errors.count, equals: Self.shown(of: count))
            let last = min(count, 50)
            expect(errors?.errors[last - 1].line, equals: 2 * last + 1)
            expect(keys.allSatisfy { container[$0] == 0 })
            try container.reload()
        }
    }

    @Test("10,000 secrets beside 10,000 keys cost time in proportion (law 20)")
    func secrets() throws {
        try grows(to: 10_000, "secrets") { count in
            let secrets = (0..<count).map { PropertyKey<String?>("vault\(count).secret\($0)", isSecret: true) }
            let keys = (0..<count).map { PropertyKey("vault\(count).key\($0)", defaultValue: 0) }
            let text = (0..<count).map { "key\($0) = 5\nsecret\($0) = 'x'\n" }.joined()
            let container = Container()
            try container.apply(TOMLSource(text: "[vault\(count)]\n" + text, name: "x"))
            expect(keys.allSatisfy { container[$0] == 5 })
            expect(secrets.allSatisfy { container[$0] == "x" })
            try container.reload()
        }
    }

    @Test("A name of megabytes costs no more than it takes to read it, and isn't printed whole (law 20)")
    func longNames() throws {
        try grows(to: 20_000_000, "a long name") { count in
            let container = Container()
            let name = String(repeating: "n", count: count)
            try container.apply(DictionarySource([name: 1, "long30.\(name)": 2], name: "x"))
            try container.apply(ArgumentsSource(["--" + name, "1"]))
            try container.apply(EnvironmentSource(prefix: "APP", environment: ["APP_" + name: "1"]))
            let text = thrown { try container.validate([PropertyKey("long30.key", defaultValue: 0)]) }
            expect(text.count < 5_000)
            expect(text.split(separator: "\n").count, equals: 4)
        }
    }

    @Test("A number of a hundred thousand digits isn't printed whole (law 20)")
    func longNumbers() throws {
        let container = Container()
        let digits = String(repeating: "9", count: 100_000)
        try container.apply(TOMLSource(text: "[long30]\nnumber = 0.\(digits)", name: "x"))
        let text = thrown { try container.validate([PropertyKey("long30.number", defaultValue: 0)]) }
        expect(text.hasPrefix("x:2:10: long30.number: expected Int, found double 0.999"))
        expect(text.count < 200)
    }

    @Test("2,000 sources are applied in a moment, and can be taken away (law 20)")
    func sources() throws {
        let key = PropertyKey("sources30.key", defaultValue: 0)
        try grows(to: 2_000, "sources") { count in
            let container = Container()
            for number in 1...count {
                try container.apply(DictionarySource(["sources30.key": .integer(Int128(number))], name: "s"))
            }
            expect(container[key], equals: count)
        }
    }

    @Test(
        "A container that is gone leaves a mutable source at once, so a request's child always costs the same (law 20)")
    func followers() throws {
        let flags = MutableSource(["followers30.key": 1], name: "flags")
        let key = PropertyKey("followers30.key", defaultValue: 0)
        try grows(to: 40_000, "followers") { count in
            let app = Container()
            for _ in 0..<count {
                let child = app.child()
                try child.apply(flags)
                expect(child[key], equals: 1)
            }
        }
    }
}

// Law 20: a source that is applied changes nothing in how much a chain of features costs.
@Suite("Chains and keys beside sources (law 20)", .serialized, .timeLimit(.minutes(5)))
struct ProportionBesideSourcesTests {}

extension ProportionBesideSourcesTests {
    private struct Link: Hashable, Sendable {
        let family: UniqueID
        let number: Int
    }

    private static let base = PropertyKey("law30.base", defaultValue: 0)

    private static func chain(_ count: Int) -> [FeatureKey<Int>] {
        let family = UniqueID()
        var keys: [FeatureKey<Int>] = []
        for number in 0..<count {
            let below = keys.last
            keys.append(
                FeatureKey(id: Link(family: family, number: number)) { container in
                    below.map { container[$0] + 1 } ?? container[base]
                })
        }
        return keys
    }

    #if DEBUG
    private static let count = 1_500
    #else
    private static let count = 4_000
    #endif

    @Test("A chain is loaded from the bottom up as fast with a source as without one (law 20)")
    func chainWithASource() throws {
        func time(_ apply: Bool) throws -> Duration {
            let keys = Self.chain(Self.count)
            let root = Container()
            if apply { try root.apply(DictionarySource(["law30.base": 1], name: "source")) }
            return threadTime { for key in keys { _ = root[key] } }
        }
        var measured: [(Duration, Duration)] = []
        for _ in 0..<3 {
            let (without, with) = (try time(false), try time(true))
            if with < without * 4 { return }
            measured.append((without, with))
        }
        Issue.record("\(measured)")
    }

    @Test("Who reads the top of a chain first in a child costs no more with a source than without one (law 20)")
    func childWithASource() throws {
        func time(_ apply: Bool) throws -> Duration {
            let keys = Self.chain(200)
            let root = Container()
            if apply { try root.apply(DictionarySource(["law30.base": 1], name: "source")) }
            for key in keys { _ = root[key] }
            return threadTime { for _ in 0..<300 { _ = root.child()[keys[199]] } }
        }
        var measured: [(Duration, Duration)] = []
        for _ in 0..<3 {
            let (without, with) = (try time(false), try time(true))
            if with < .milliseconds(20) || with < without * 4 { return }
            measured.append((without, with))
        }
        Issue.record("\(measured)")
    }

    @Test("Containers that come and go leave nothing with the source that they applied (law 20)")
    func comingAndGoing() throws {
        try expectProportion(300) { count in
            let source = MutableSource(["law30.base": 1], name: "source")
            return try threadTime {
                for _ in 0..<count {
                    let container = Container()
                    try container.apply(source)
                    expect(container[Self.base], equals: 1)
                }
                for number in 0..<10 { source["law30.base"] = .integer(Int128(number)) }
            }
        }
    }
}

/// A package of a lock file, whose dependencies are whatever they are.
private struct Package: Decodable, Sendable {
    let name: String
    let dependencies: PropertyValue
}

/// Documents with a long list, each of whose elements may be anything (law 20).
struct ProportionOfLockFileTests {
    /// The text of a lock file, with an integer beyond 64 bits at its end if `isWide`.
    private func lockFile(packages count: Int, isWide: Bool) -> String {
        let package = #"[[package]]\#nname = "a"\#ndependencies = ["b 1.0", "c 2.1"]\#n"#
        return String(repeating: package, count: count)
            + (isWide ? "[metadata]\nhash = 123456789012345678901234567890\n" : "")
    }

    @Test(
        "The packages of a lock file are decoded in time in proportion, as values, in a dictionary, and as members (law 20)",
        arguments: [false, true])
    func packages(isWide: Bool) throws {
        func measure<Value: Decodable & Sendable>(_: Value.Type, _ count: (Value) -> Int) throws {
            try expectProportion(1_500) { size in
                let snapshot = try TOMLSource(text: lockFile(packages: size, isWide: isWide), name: "x").load()
                var found: Value?
                let time = try threadTime { found = try snapshot.property("package", as: Value.self) }
                expect(found.map(count), equals: size)
                return time
            }
        }
        try measure([PropertyValue].self) { $0.count }
        try measure([[String: PropertyValue]].self) { $0.count }
        try measure([Package].self) { $0.count }
    }
}
