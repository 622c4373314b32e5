import Fugu
import FuguConfiguration
import FuguScopes
import FuguTesting
import StrictnessCases
import Support
import Testing

// Law 29: in a strict container, an instance that was loaded before one of its inputs was set is reported when it's read.
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

    private static let stock =
        "Fugu: Stock was loaded before Items was set, and still has the old value.\nPath: Stock → Items\n"
        + "Fix: set Items earlier, or call reset(StrictOutdatedTests.Stock.self) afterward. An instance that should follow its inputs "
        + "declares `static var reloadsWhenInputsChange: Bool { true }`."

    private static func container() -> Container { .strict { $0[Items.self] = Items { 2 } } }

    @Test("An instance that was loaded before its input was set is reported at its next read, once (law 29)")
    func setTooLate() async {
        let found = await issues {
            let container = Self.container()
            expect(container[Stock.self].count, equals: 2)
            container[Items.self] = Items { 3 }
            expect(container[Stock.self].count, equals: 2)
            expect(container[Stock.self].count, equals: 2)
        }
        expect(found.map(\.text), equals: [Self.stock])
        let inTrait = await issues {
            try await runCase(.container { $0[Items.self] = Items { 2 } }) {
                _ = Container.current[Stock.self]
                Container.current.replace(Items.self) { _ in Items { 3 } }
                expect(Container.current[Stock.self].count, equals: 2)
            }
        }
        expect(inTrait.map(\.text), equals: [Self.stock])
    }

    @Test(
        "A set is reported once for a feature, at a read in a child or in a load, with the path to what was set (law 29)"
    )
    func through() async {
        let found = await issues {
            let container = Self.container()
            _ = container[Shelf.self]
            container.update { $0[Items.self] = Items { 3 } }
            expect(container.child().child()[Shelf.self].count, equals: 2)
            container[Items.self] = Items { 4 }
            expect(container.observable[Shelf.self].count, equals: 2)
            container.reset(Shelf.self)
            expect(container[Shelf.self].count, equals: 2)
        }
        let shelf =
            "Fugu: Shelf was loaded before Items was set, and still has the old value.\n"
            + "Path: Shelf → Stock → Items\nFix: set Items earlier, or call reset(StrictOutdatedTests.Stock.self) and reset(StrictOutdatedTests.Shelf.self) afterward. "
            + "An instance that should follow its inputs declares `static var reloadsWhenInputsChange: Bool { true }`."
        expect(found.map(\.text), equals: [shelf, Self.stock])
    }

    @Test("No reset is advised of what has reloaded, and the instance that was made from it needs one (law 29)")
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
            "Path: Counted → Following → Items\nFix: set Items earlier, or call reset(StrictOutdatedTests.Counted.self) afterward."
        expect(found.count == 1 && found[0].text.contains(text), "\(found)")
    }

    @Test("No reset is advised where it would remove what the test has replaced (law 29)", arguments: [false, true])
    func replaced(_ isAbove: Bool) async {
        let found = await issues {
            let container = Self.container()
            container.replace(Stock.self) { Stock(count: $0[Items.self].fetch()) }
            let reader = isAbove ? container.child() : container
            _ = reader[Shelf.self]
            container[Items.self] = Items { 3 }
            _ = reader[Shelf.self]
        }
        expect(
            found.count == 1
                && found[0].text.contains("Path: Shelf → Stock → Items\nFix: set Items earlier. An instance that"),
            "\(found)")
    }

    @Test("A long path is shortened, and no reset of each of its instances is advised (law 29)")
    func longPath() async {
        let steps = (0..<100).reduce(into: [] as [FeatureKey<Int>]) { steps, number in
            let before = steps.last
            steps.append(
                FeatureKey(id: number, member: "step") { container in
                    before.map { container[$0] } ?? container[Number.self]
                })
        }
        let found = await issues {
            let container = Container.strict()
            _ = (container[steps[40]], container[steps[80]], container[steps[99]])
            container[Number.self] = 5
            _ = (container[steps[99]], container[steps[2]], container[steps[3]])
        }
        let last = ". An instance that should follow its inputs passes `reloadsWhenInputsChange: true` to its key."
        expect(
            found.map { String($0.text.drop { $0 != "\n" }.dropFirst()) },
            equals: [
                #"Path: \.step[99] → \.step[98] → … (95 more) … → \.step[2] → \.step[1] → \.step[0] → Number"#
                    + "\nFix: set Number earlier" + last,
                #"Path: \.step[2] → \.step[1] → \.step[0] → Number"#
                    + "\nFix: set Number earlier, or call reset(key), reset(key), and reset(key) afterward" + last,
                #"Path: \.step[3] → \.step[2] → \.step[1] → \.step[0] → Number"# + "\nFix: set Number earlier" + last,
            ])
    }

    @Test("A property that is set too late is reported, and what has a key is named by it (law 29)")
    func properties() async {
        let found = await issues {
            let container = Container.strict()
            expect(container[Doubled.self].value, equals: 0)
            expect(container.outdatedDouble, equals: 0)
            container[Number.self] = 5
            expect(container[Doubled.self].value, equals: 0)
            expect(container.outdatedDouble, equals: 0)
        }
        let begins = ["Fugu: Doubled was loaded before Number was s", #"Fugu: \.outdatedDouble was loaded before Num"#]
        expect(found.map { String($0.text.prefix(44)) }, equals: begins)
        expect(found.last?.text.contains(#"call reset(\.outdatedDouble) afterward"#), equals: true, "\(found)")
    }

    @Test("So is an input of an async feature, and one that a child sets first (law 29)")
    func otherWays() async throws {
        let copies = Log<Int>()
        let found = await issues {
            let container = Container.strict { $0.set(Archive.self, to: Archive(count: 1)) }
            copies.add(try await container[Copy.self].count)
            container.set(Archive.self, to: Archive(count: 2))
            copies.add(try await container[Copy.self].count)
            let child = Self.container().child { $0[Number.self] = 1 }
            expect(child[Both.self].sum, equals: 3)
            child[Items.self] = Items { 5 }
            expect(child[Both.self].sum, equals: 3)
        }
        expect(copies.all, equals: [1, 1])
        expect(
            found.map { String($0.text.prefix(31)) },
            equals: [
                "Fugu: Copy was loaded before Ar", "Fugu: Both was loaded in contai",
            ])
    }

    @Test(
        "What a child decorates, or adds to, follows a later set above, and what was made from it is reported (law 29)"
    )
    func decoratedInChild() async {
        let found = await issues {
            let root = Self.container()
            let child = root.child()
            child.decorate(Items.self) { items, _ in Items { items.fetch() * 10 } }
            child.contribute(to: \.outdatedList) { $0[Items.self].fetch() }
            expect(child[Stock.self].count == 20 && child.outdatedList == [20])
            root[Items.self] = Items { 3 }
            root.outdatedList = [7]
            expect(child[Items.self].fetch(), equals: 30)
            expect(child[Stock.self].count, equals: 20)
            expect(child.outdatedList, equals: [7, 20])
            expect(root[Stock.self].count, equals: 3)
        }
        let text = Self.stock.replacing("was loaded before", with: "was loaded in container 1 (made) before")
        expect(found.count == 2 && found.first?.text == text, "\(found)")
    }

    @Test("No reset is advised that would remove a decoration or an element, which reloads with its list (law 29)")
    func layers() async {
        let found = await issues {
            let following = Container.strict()
            following.contribute(to: \.outdatedFollowers) { $0[Number.self] }
            expect(following.outdatedFollowers, equals: [0])
            following[Number.self] = 5
            expect(following.outdatedFollowers, equals: [5])
            let container = Self.container()
            container.contribute(to: \.outdatedList) { _ in 1 }
            container.decorate(Doubled.self) { doubled, _ in doubled }
            container.contribute(to: \.outdatedList) { $0[Doubled.self].value }
            _ = container.outdatedList
            container[Number.self] = 5
            _ = container.outdatedList
        }
        expect(found.count, equals: 1)
        let text = found.first?.text ?? ""
        let end =
            "→ Doubled → Doubled (undecorated) → Number\nFix: set Number earlier. An instance that should follow its inputs "
            + "passes `reloadsWhenInputsChange: true` to its key; for an element, its list does."
        expect(text.hasSuffix(end), "\(text)")
    }

    /// What a test gets of it says a number that's read when it's made.
    struct Letters: Feature, External {
        var greeting: @Sendable () -> String
        var send: @Sendable () -> Int
        static func load(in container: any FeatureContainer) -> Letters { Letters(greeting: { "live" }, send: { -1 }) }
        static func testValue(in container: any FeatureContainer) -> Letters {
            let number = container[Number.self]
            return Letters(greeting: { "\(number)" }, send: { number })
        }
    }

    @Test("So does one of which a part was set before something that the rest was made from (law 29)")
    func parts() async throws {
        let setPart: @Sendable (Container) -> Void = { $0[Letters.self].send = { 7 } }
        let modifyPart: @Sendable (Container) -> Void = { $0.modify(Letters.self) { $0.send = { 7 } } }
        let text =
            "Fugu: a part of Letters was set before Number was set, and the rest still has the old value.\nPath: Letters → Number\n"
            + "Fix: set Number earlier."
        for part in [setPart, modifyPart] {
            let found = await issues {
                try await runCase(
                    .container {
                        part($0)
                        $0[Number.self] = 3
                    }
                ) {
                    let container = Container.current
                    for _ in 1...2 { expect(container[Letters.self].greeting(), equals: "0") }
                    let child = container.child(part)
                    container[Number.self] = 4
                    expect(child[Letters.self].send(), equals: 7)
                    expect(container[Letters.self].greeting(), equals: "0")
                }
            }
            expect(found.map(\.text), equals: [text])
        }
        let none = await issues {
            try await runCase(
                .container {
                    $0[Number.self] = 3
                    setPart($0)
                    $0[Letters.self].send = { 8 }
                }
            ) {
                let container = Container.current
                expect(container[Letters.self].greeting(), equals: "3")
                container[Letters.self] = Letters(greeting: { "whole" }, send: { 1 })
                container[Number.self] = 5
                expect(container[Letters.self].greeting(), equals: "whole")
                container.reset(Letters.self)
                expect(container[Letters.self].greeting(), equals: "5")
            }
        }
        expect(none.map(\.text), equals: [])
    }

    @Test("A reset is such a change, and so is what a source or a rule brings, also later (law 29)")
    func otherChanges() async throws {
        let (source, number) = (MutableSource(["strictness.port": 1], name: "late"), Counter())
        let found = await issues {
            let container = Container.strict { $0[Number.self] = 3 }
            let scope = container.scope("/a")
            container.configureScopes { $0[Number.self] = number.value }
            expect(container[Doubled.self].value == 6 && container.outdatedPort == 80 && scope[Doubled.self].value == 0)
            container.reset(Number.self)
            try container.apply(source)
            expect(container[Doubled.self].value == 6 && container.outdatedPort == 80)
            container.reset(Doubled.self)
            container.reset(\.outdatedPort)
            expect(container[Doubled.self].value == 0 && container.outdatedPort == 1)
            // A default that's evaluated again.
            container.reset(Number.self)
            expect(container[Doubled.self].value == 0 && scope[Doubled.self].value == 0)
            let later = Self.container()
            try later.apply(source)
            let ruled = later.scope("/a")
            later.configureScopes { $0[Number.self] = number.value }
            _ = (later.outdatedPort, ruled[Doubled.self])
            source.update { $0["strictness.port"] = 2 }
            number.add()
            later.invalidateScopes()
            for _ in 1...2 { expect(later.outdatedPort == 1 && ruled[Doubled.self].value == 0) }
            // A reset in the order in which the message gives them reports nothing.
            let other = Self.container()
            let child = other.child { $0[Items.self] = Items { 7 } }
            _ = (other[Shelf.self], child[Shelf.self])
            other.reset(Items.self)
            other[Items.self] = Items { 3 }
            other.reset(Stock.self)
            other.reset(Shelf.self)
            expect(other[Shelf.self].count, equals: 3)
            other.reset(Stock.self)
            _ = (other[Shelf.self], child[Shelf.self])
        }
        expect(
            found.map { String($0.text.prefix { $0 != "," }) },
            equals: [
                "Fugu: Doubled was loaded before Number was reset",
                #"Fugu: \.outdatedPort was loaded before \.port was changed by a source"#,
                #"Fugu: a source changed \.port"#,
                "Fugu: Doubled was loaded in /a before Number was changed by a rule",
                "Fugu: Shelf was loaded before Stock was reset",
            ])
        let fixes = ["reset Number", #"apply the source for \.port"#]
        expect(zip(found, fixes).allSatisfy { $0.text.contains("\nFix: \($1) earlier, or call reset(") }, "\(found)")
    }

    @Test("So does one of which a part was set above a container that sets what the rest was made from (law 29)")
    func partsAbove() async {
        let found = await issues {
            let root = Container.strict { $0[Letters.self].send = { 7 } }
            let child = root.child { $0[Number.self] = 4 }
            for container in [child, child, child.child()] {
                expect(container[Letters.self].greeting(), equals: "0")
            }
            expect(root.child()[Letters.self].greeting(), equals: "0")
            child[Letters.self].send = { 8 }
            root[Letters.self] = Letters(greeting: { "whole" }, send: { 1 })
            expect(root.child { $0[Number.self] = 4 }[Letters.self].greeting(), equals: "whole")
        }
        let text =
            "Fugu: a part of Letters was set above the container that sets Number, and the rest still has the value from above.\n"
            + "Path: Letters → Number\nFix: set Number where the part is set, before it; or set all of Letters there."
        expect(found.map(\.text), equals: [text])
    }

    struct Both: Feature {
        let sum: Int
        static func load(in container: any FeatureContainer) -> Both {
            Both(sum: container[Number.self] + container[Items.self].fetch())
        }
    }

    @Test(
        "An instance that isn't outdated is no failure: equal values, a child's own, reloads, resets, unread ones (law 29)"
    )
    func noFailure() async throws {
        let found = await issues {
            let container = Self.container()
            _ = (container[Stock.self], container[Doubled.self], container[Following.self])
            container[Number.self] = 0
            expect(container[Doubled.self].value, equals: 0)
            let child = container.child { $0[Items.self] = Items { 7 } }
            expect(child[Stock.self].count, equals: 7)
            expect(container[Stock.self].count, equals: 2)
            container[Items.self] = Items { 3 }
            expect(container[Following.self].count, equals: 3)
            expect(child[Stock.self].count, equals: 7)
            container.reset(Stock.self)
            expect(container[Stock.self].count, equals: 3)
            container[Number.self] = 9
            try await runCase(
                .container(reportsUnusedValues: true) {
                    $0[Items.self] = Items { 2 }
                    _ = $0[Stock.self]
                }
            ) { _ = (Container.current[Stock.self], Container.current[Items.self]) }
        }
        expect(found, equals: [])
    }

    @Test(
        "Elsewhere the instance is kept, and debug builds report it once for an instance and an input (laws 19 and 29)")
    func elsewhere() {
        let container = Container.program()
        let reports = container.logReports()
        container[Items.self] = Items { 2 }
        _ = (container[Stock.self], container[Doubled.self])
        container.outdatedPair.left = 1
        for number in 3...5 {
            container[Items.self] = Items { number }
            container[Number.self] = number
            expect(container[Stock.self].count, equals: 2)
            expect(container.child()[Doubled.self].value, equals: 0)
            expect(container.outdatedPair.right, equals: 0)
        }
        #if DEBUG
        expect(reports.all.count, equals: 3, "\(reports.all)")
        expect(reports.all.first, equals: Self.stock)
        let part = #"Fugu: a part of \.outdatedPair was set before Number was set"#
        expect(reports.all.last?.hasPrefix(part), equals: true)
        #else
        expect(reports.all, equals: [])
        #endif
    }

    @Test("So is an instance whose input was decorated or added to since (law 29)")
    func layersElsewhere() {
        let container = Container.program()
        let reports = container.logReports()
        let child = container.child()
        expect(child.outdatedCount == 0 && child[Shelf.self].count == 1)
        container.contribute(to: \.outdatedList) { _ in 1 }
        container.decorate(Items.self) { items, _ in Items { items.fetch() + 1 } }
        expect(child.outdatedCount == 0 && child[Shelf.self].count == 1)
        #if DEBUG
        let last = "An instance that should follow its inputs"
        expect(
            reports.all,
            equals: [
                #"Fugu: \.outdatedCount was loaded before \.outdatedList was added to, and still has the old value."#
                    + #"\#nPath: \.outdatedCount → \.outdatedList\#nFix: add to \.outdatedList earlier, "#
                    + #"or call reset(\.outdatedCount) afterward. \#(last) passes `reloadsWhenInputsChange: true` to its key."#,
                "Fugu: Shelf was loaded before Items was decorated, and still has the old value.\nPath: Shelf → Stock → Items\n"
                    + "Fix: decorate Items earlier, or call reset(StrictOutdatedTests.Stock.self) and "
                    + "reset(StrictOutdatedTests.Shelf.self) afterward. \(last) declares `static var reloadsWhenInputsChange: Bool { true }`.",
            ])
        #else
        expect(reports.all, equals: [])
        #endif
    }
}

private struct OutdatedPair {
    var left: Int
    var right: Int
}

extension ContainerKeys {
    fileprivate var outdatedList: FeatureKey<[Int]> { .init { _ in [] } }
    fileprivate var outdatedFollowers: FeatureKey<[Int]> { .init(reloadsWhenInputsChange: true) { _ in [] } }
    fileprivate var outdatedCount: FeatureKey<Int> { .init { $0.outdatedList.count } }
    fileprivate var outdatedPair: FeatureKey<OutdatedPair> {
        .init { OutdatedPair(left: $0[Number.self], right: $0[Number.self]) }
    }
    fileprivate var outdatedPort: FeatureKey<Int> { .init { $0.port } }
    fileprivate var outdatedDouble: FeatureKey<Int> { .init { 2 * $0[Number.self] } }
}
