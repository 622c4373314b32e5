#if DEBUG
import Fugu
import FuguConfiguration
import FuguScopes
import FuguTesting
import StrictnessCases
import Support
import Testing

// Laws 12 and 19: a write that leaves an instance with an old value is reported, and in a test fails it.
struct StrictOutdatedTests {
    struct Items: Feature, External {
        var fetch: @Sendable () -> Int
        static func load(in container: any FeatureContainer) -> Items { Items { 1 } }
        static var placeholder: Items { Items { 0 } }
    }
    struct Stock: Feature {
        let count: Int
        static func load(in container: any FeatureContainer) -> Stock { Stock(count: container[Items.self].fetch()) }
    }
    struct Shelf: Feature {
        let count: Int
        static func load(in container: any FeatureContainer) -> Shelf { Shelf(count: container[Stock.self].count) }
    }
    struct Following: Feature {
        let count: Int
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) -> Following {
            Following(count: container[Items.self].fetch())
        }
    }
    struct Counted: Feature {
        let count: Int
        static func load(in container: any FeatureContainer) -> Counted {
            Counted(count: container[Following.self].count)
        }
    }
    struct Archive: AsyncFeature, External {
        let count: Int
        static func load(in container: any FeatureContainer) async throws -> Archive { Archive(count: -1) }
    }
    struct Copy: AsyncFeature {
        let count: Int
        static func load(in container: any FeatureContainer) async throws -> Copy {
            Copy(count: try await container[Archive.self].count)
        }
    }

    struct Both: Feature {
        let sum: Int
        static func load(in container: any FeatureContainer) -> Both {
            Both(sum: container[Number.self] + container[Items.self].fetch())
        }
    }

    private static let follow =
        ". An instance that should follow its inputs declares `static var reloadsWhenInputsChange: Bool { true }`."
    private static let stock =
        "Fugu: Items was set, and Stock, which was loaded before, keeps the old value.\nPath: Stock → Items\n"
        + "Fix: set Items before Stock is loaded, or reset it with the change: "
        + "update { …; $0.reset(StrictOutdatedTests.Stock.self) }" + follow

    private static func container() -> Container { .strict { $0[Items.self] = Items { 2 } } }

    /// The first line of each report.
    private static func firsts(_ found: [SeenIssue]) -> [String] {
        found.map { String($0.text.prefix { $0 != "\n" }) }
    }

    @Test(
        "The write that leaves an instance with an old value is reported at once, whether it's read again or not (law 19)"
    )
    func setTooLate() async {
        let found = await issues {
            let container = Self.container()
            expect(container[Stock.self].count, equals: 2)
            container[Items.self] = Items { 3 }
            container[Items.self] = Items { 4 }
            expect(container[Stock.self].count, equals: 2)
        }
        expect(found.map(\.text), equals: [Self.stock])
        let inTrait = await issues {
            try await runCase(.container { $0[Items.self] = Items { 2 } }) {
                _ = Container.current[Stock.self]
                Container.current.replace(Items.self) { _ in Items { 3 } }
            }
        }
        expect(inTrait.map(\.text), equals: [Self.stock])
    }

    @Test("Nothing is said of what the same update resets, and of what was made from that, only what it keeps (law 19)")
    func together() async {
        let found = await issues {
            let container = Self.container()
            _ = container[Shelf.self]
            container.update {
                $0[Items.self] = Items { 3 }
                $0.reset(Stock.self)
                $0.reset(Shelf.self)
            }
            expect(container[Shelf.self].count, equals: 3)
            container.reset(Shelf.self)
            container.reset(Stock.self)
            container[Items.self] = Items { 4 }
        }
        expect(found, equals: [])
        let kept = await issues {
            let container = Self.container()
            _ = container[Shelf.self]
            container.update {
                $0[Items.self] = Items { 3 }
                $0.reset(Stock.self)
            }
            expect(container[Shelf.self].count, equals: 2)
        }
        expect(
            Self.firsts(kept),
            equals: ["Fugu: Stock was reset, and Shelf, which was loaded before, keeps the old value."])
    }

    @Test("Of instances that are made from each other, the one that has read the key is named (law 19)")
    func innermost() async {
        let found = await issues {
            let container = Self.container()
            _ = container[Shelf.self]
            container[Items.self] = Items { 3 }
        }
        expect(found.map(\.text), equals: [Self.stock])
    }

    @Test("What reloads isn't named, and what was made from it is, with the path (law 19)")
    func reloaded() async {
        let found = await issues {
            let container = Self.container()
            _ = container[Counted.self]
            container[Items.self] = Items { 3 }
            expect(container[Following.self].count == 3 && container[Counted.self].count == 2)
            container.reset(Counted.self)
            expect(container[Counted.self].count, equals: 3)
        }
        let text =
            "Path: Counted → Following → Items\nFix: set Items before Counted is loaded, or reset it with the change: update { …; "
            + "$0.reset(StrictOutdatedTests.Counted.self) }."
        expect(found.count == 1 && found[0].text.contains(text), "\(found)")
    }

    @Test("No reset is advised where it would remove what the test has replaced (law 19)", arguments: [false, true])
    func replaced(_ isAbove: Bool) async {
        let found = await issues {
            let container = Self.container()
            container.replace(Stock.self) { Stock(count: $0[Items.self].fetch()) }
            let reader = isAbove ? container.child() : container
            _ = reader[Shelf.self]
            container[Items.self] = Items { 3 }
        }
        expect(
            found.count == 1
                && found[0].text.hasSuffix("Path: Stock → Items\nFix: set Items before Stock is loaded\(Self.follow)"),
            "\(found)")
    }

    @Test("An instance that a child has for itself is named with the child, where it can be reset first (law 19)")
    func inChild() async throws {
        let copies = Log<Int>()
        let found = await issues {
            let container = Self.container()
            let child = container.child { $0[Number.self] = 1 }
            expect(child[Both.self].sum, equals: 3)
            container[Items.self] = Items { 5 }
            expect(child[Both.self].sum, equals: 3)
            let other = Container.strict { $0.set(Archive.self, to: Archive(count: 1)) }
            copies.add(try await other[Copy.self].count)
            other.set(Archive.self, to: Archive(count: 2))
            copies.add(try await other[Copy.self].count)
        }
        expect(copies.all, equals: [1, 1])
        expect(found.count, equals: 2, "\(found)")
        let text = found.first?.text ?? ""
        expect(
            text,
            equals:
                "Fugu: Items was set, and Both, which was loaded in container 1 (made) before, keeps the old value.\nPath: Both → Items\n"
                + "Fix: set Items before Both is loaded, or first call reset(StrictOutdatedTests.Both.self) in container 1 (made)"
                + Self.follow)
        expect(found.last?.text.hasPrefix("Fugu: Archive was set, and Copy, which") == true)
    }

    @Test("A property, a decorated input, and a list that gets an element are inputs like others (law 19)")
    func properties() async {
        // A property is an input, too, and what has a key is named by it.
        do {
            let found = await issues {
                let container = Container.strict()
                expect(container.outdatedDouble, equals: 0)
                container.modify(Number.self) { $0 += 5 }
                expect(container.outdatedDouble, equals: 0)
            }
            expect(found.count, equals: 1)
            let text = found.first?.text ?? ""
            expect(text.hasPrefix(#"Fugu: Number was set, and \.outdatedDouble, which"#), text)
            expect(
                text.contains(#"$0.reset(\.outdatedDouble) }"#)
                    && text.contains("passes `reloadsWhenInputsChange: true` to its key"))
        }
        // A decorated input, and a list that gets an element, are changes.
        do {
            let found = await issues {
                let container = Self.container()
                _ = (container[Stock.self], container.outdatedCount)
                container.contribute(to: \.outdatedList) { _ in 1 }
                container.decorate(Items.self) { items, _ in Items { items.fetch() + 1 } }
            }
            expect(
                found.map { String($0.text.prefix { $0 != "," }) },
                equals: [#"Fugu: \.outdatedList was set"#, "Fugu: Items was set"])
            expect(found.first?.text.contains(#"Fix: set \.outdatedList before \.outdatedCount is loaded, or"#) == true)
        }
    }

    @Test("A source that brings or changes a value, and a rule, are such writes (laws 12, 14 and 16)")
    func otherWriters() async throws {
        let (source, number) = (MutableSource(["strictness.port": 1], name: "late"), Counter())
        let found = await issues {
            let container = Container.strict()
            let scope = container.scope("/a")
            container.configureScopes { $0[Number.self] = number.value }
            _ = (container.outdatedPort, scope[Doubled.self])
            try container.apply(source)
            container.reset(\.outdatedPort)
            expect(container.outdatedPort, equals: 1)
            number.add()
            container.invalidateScopes()
            let later = Container.strict()
            try later.apply(source)
            _ = later.outdatedPort
            later[Number.self] = 1
            source.update { $0["strictness.port"] = 2 }
            expect(later.outdatedPort, equals: 1)
        }
        let kept =
            #"Fugu: a source changed \.port, and \.outdatedPort, which was loaded before, keeps the old value."#
        expect(
            Self.firsts(found),
            equals: [
                kept,
                "Fugu: Number was changed by a rule, and Doubled, which was loaded in /a before, keeps the old value.",
                kept,
            ])
    }

    @Test(
        "Nothing is said of what leaves nothing old, nor of a default that is derived from what changes (laws 12 and 19)"
    )
    func noFailure() async throws {
        // Nothing is said of equal values, of what a child overrides, of reloads and resets, or of an unread instance's key.
        do {
            let found = await issues {
                let container = Self.container()
                _ = (container[Stock.self], container[Doubled.self], container[Following.self], container.outdatedName)
                container[Number.self] = 0
                container.outdatedPlain = "a"
                let child = container.child { $0[Items.self] = Items { 7 } }
                expect(child[Stock.self].count, equals: 7)
                container.reset(Stock.self)
                container[Items.self] = Items { 3 }
                expect(container[Following.self].count == 3 && container[Stock.self].count == 3)
                expect(child[Stock.self].count, equals: 7)
                container.reset(Doubled.self)
                container[Number.self] = 9
                container.update { $0.reset(Number.self) }
            }
            expect(found, equals: [])
        }
        // Nor of a default that's derived from what changes, which may give an equal value.
        do {
            let found = await issues {
                let container = Container.strict()
                expect(container.outdatedSign, equals: "≥ 0")
                container[Number.self] = 3
                expect(container.outdatedSign, equals: "≥ 0")
            }
            expect(found, equals: [])
        }
    }

    @Test("The keys of a declared home aren't inputs (laws 11, 12 and 19)")
    func homeKeys() async {
        let found = await issues {
            let app = Container.strict()
            _ = app.outdatedDatabase
            app.outdatedRegion = 1
            _ = app.outdatedDatabase
            let other = Container.strict()
            _ = other.outdatedTitle
            other.outdatedTenant = 2
            _ = other.outdatedTitle
            let tenant = Container.strict().child { $0.outdatedTenant = 1 }
            _ = tenant.outdatedDatabase
            tenant.outdatedRegion = 3
            _ = tenant.outdatedDatabase
        }
        expect(found, equals: [])
    }

    @Test(
        "An input that's set to an equal value and reset, in the root or a child, leaves nothing old (laws 9, 12 and 19)",
        arguments: [false, true], [false, true])
    func equalReset(_ isInChild: Bool, _ inUpdate: Bool) async {
        for value in [2, 3] {
            for readsBetween in [false, true] {
                let keys: [FeatureKey<Value>] = [
                    FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) {
                        _ = $0.outdatedLocal
                        return Value($0.outdatedTwo)
                    },
                    FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { Value($0.outdatedTwo) },
                    FeatureKey(id: UniqueID()) {
                        _ = $0.outdatedLocal
                        return Value($0.outdatedTwo)
                    },
                ]
                let found = await issues {
                    for key in keys {
                        let root = Container.strict()
                        let container = isInChild ? root.child { $0.outdatedRegion = 5 } : root
                        _ = container[key]
                        container.outdatedTwo = value
                        if readsBetween { _ = container[key] }
                        if inUpdate {
                            container.update { $0.reset(\.outdatedTwo) }
                        } else {
                            container.reset(\.outdatedTwo)
                        }
                        _ = container[key]
                    }
                }
                // The one that doesn't reload has an old value after a set to another one.
                expect(found.count, equals: value == 3 ? 1 : 0, "\(found)")
            }
        }
    }

    @Test("Elsewhere, debug builds report it once for an instance and an input (laws 12 and 19)")
    func elsewhere() {
        let container = Container.program()
        let reports = container.logReports()
        container[Items.self] = Items { 2 }
        _ = (container[Stock.self], container[Doubled.self])
        container.outdatedPair.left = 1
        for number in 3...5 {
            container[Items.self] = Items { number }
            container[Number.self] = number
        }
        expect(reports.all.count, equals: 2, "\(reports.all)")
        expect(reports.all.first, equals: Self.stock)
    }
}

/// Isn't equatable.
private final class Value: Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
}

private struct OutdatedPair {
    var left: Int
    var right: Int
}

extension ContainerKeys {
    fileprivate var outdatedList: FeatureKey<[Int]> { .init { _ in [] } }
    fileprivate var outdatedCount: FeatureKey<Int> { .init { $0.outdatedList.count } }
    fileprivate var outdatedPair: FeatureKey<OutdatedPair> {
        .init { OutdatedPair(left: $0[Number.self], right: $0[Number.self]) }
    }
    fileprivate var outdatedPort: FeatureKey<Int> { .init { $0.port } }
    fileprivate var outdatedDouble: FeatureKey<Int> { .init { 2 * $0[Number.self] } }
    fileprivate var outdatedPlain: PropertyKey<String> { .init(defaultValue: "a") }
    fileprivate var outdatedName: FeatureKey<String> { .init { $0.outdatedPlain + "!" } }
    fileprivate var outdatedIsNegative: PropertyKey<Bool> {
        .init(defaultValue: Container.current[Number.self] < 0)
    }
    fileprivate var outdatedSign: FeatureKey<String> { .init { $0.outdatedIsNegative ? "< 0" : "≥ 0" } }
    fileprivate var outdatedTwo: PropertyKey<Int> { .init(defaultValue: 2) }
    fileprivate var outdatedTenant: PropertyKey<Int> { .init(defaultValue: 0) }
    fileprivate var outdatedRegion: PropertyKey<Int> { .init(defaultValue: 0) }
    fileprivate var outdatedURL: PropertyKey<String> { .init(defaultValue: "db") }
    fileprivate var outdatedLocal: FeatureKey<Int> { .init(home: .local) { _ in 0 } }
    fileprivate var outdatedDatabase: FeatureKey<String> {
        .init(reloadsWhenInputsChange: true, home: .with(\.outdatedTenant, \.outdatedRegion)) { $0.outdatedURL }
    }
    fileprivate var outdatedTitle: PropertyKey<String> {
        .init(defaultValue: "at " + Container.current.outdatedDatabase)
    }
}
#endif
