import Fugu
import FuguInspection
import Support
import Testing

extension ContainerKeys {
    fileprivate var tenant: PropertyKey<String> { .init(defaultValue: "none") }
    fileprivate var region: PropertyKey<String> { .init(defaultValue: "nowhere") }
    fileprivate var visit: PropertyKey<Int> { .init(defaultValue: 0) }
    fileprivate var archive: FeatureKey<Thing> {
        .init(home: .with(\.region, \.tenant)) { Thing("\($0.region) \($0.tenant)", $0) }
    }
    fileprivate var inferredArchive: FeatureKey<Thing> { .init { Thing("\($0.region) \($0.tenant)", $0) } }
}

/// Law 11: homes declared by a key.
@Suite struct HomeOfTwoKeysTests {
    final class Index: Feature, Sendable {
        static var home: Home { .with(\.tenant) }
        static func load(in container: any FeatureContainer) -> Index { Index() }
    }
    struct Search: Feature {
        let index: Index
        static func load(in container: any FeatureContainer) -> Search { Search(index: container[Index.self]) }
    }
    struct Bank: ThrowingFeature {
        static var home: Home { .shared }
        static func load(in container: any FeatureContainer) throws -> Bank {
            _ = container[Search.self]
            return Bank()
        }
    }

    private static let held: [String: Drawing.Held] = [
        "tenant": Drawing.Held(set: { $0.tenant = $1 }, reset: { $0.reset(\.tenant) }),
        "region": Drawing.Held(set: { $0.region = $1 }, reset: { $0.reset(\.region) }),
        "visit": Drawing.Held(set: { $0.visit = Int($1)! }, reset: { $0.reset(\.visit) }),
    ]

    @Test(
        "With a home of two keys, an instance lives in the nearest container that sets one of them, or in the root (law 11)"
    )
    func twoKeys() {
        Drawing(
            """
            root                          → root: nowhere none
              plain        visit=1        → root: nowhere none
              south        region=south   → south: south none
                below                     → south: south none
                acme       tenant=acme    → acme: south acme
                  request  visit=2        → acme: south acme
                globex     tenant=globex  → globex: south globex
              alone        tenant=alone   → alone: nowhere alone
                north      region=north   → north: north alone
            """, Self.held
        ) { $0.archive }
    }

    @Test(
        "Setting or resetting either key makes another container the home, and the instance of the former goes (law 11)"
    )
    func change() {
        let drawing = Drawing(
            """
            root
              south    region=south
                acme   tenant=acme   → acme: south acme
                  request            → acme: south acme
            """, Self.held
        ) { $0.archive }
        drawing.show(
            """
            root
              south    region=south
                acme                 → south: south none
                  request            → south: south none
            """)
        drawing.show(
            """
            root
              south    region=south
                acme                 → south kept: south none
                  request region=own → request: own none
            """)
        drawing.show(
            """
            root
              south                  → root: nowhere none
                acme                 → root: nowhere none
                  request            → root: nowhere none
            """)
    }

    @Test(
        "Whether an instance stays is decided after all writes of an update, in any order (laws 6, 10, and 11)",
        arguments: [false, true])
    func update(setsFirst: Bool) {
        for key: any KeyPath<ContainerKeys, FeatureKey<Thing>> & Sendable in [\.archive, \.inferredArchive] {
            let child = Container().unreported.child { $0.tenant = "acme" }
            let first = child[dynamicMember: key]
            child.update { handle in
                if setsFirst { handle.region = "south" }
                handle.reset(\.tenant)
                if !setsFirst { handle.region = "south" }
            }
            expect(child[dynamicMember: key], is: first)
            child.reset(\.region)
            expect(child[dynamicMember: key] !== first)
        }
    }

    struct Zone: Property { static var defaultValue: Int { 0 } }
    struct Unit: Property { static var defaultValue: Int { 0 } }
    final class Store: ThrowingFeature, Sendable {
        static var home: Home { .with(Zone.self, Unit.self) }
        static func load(in container: any FeatureContainer) throws -> Store {
            _ = container.visit
            return Store()
        }
    }

    @Test(
        "Types name a home of two keys, too, and a child that overrides an input is an error with the declaration (law 11)"
    )
    func types() throws {
        let root = Container().unreported
        let zone = root.child { $0[Zone.self] = 1 }
        let unit = zone.child { $0[Unit.self] = 1 }
        expect(try zone.child()[Store.self], is: try zone[Store.self])
        expect(try unit.child()[Store.self], is: try unit[Store.self])
        expect(try unit[Store.self] !== zone[Store.self])
        let error = #expect(throws: LoadError.self) { try unit.child { $0.visit = 1 }[Store.self] }
        expect(error?.path, equals: ["Store", #"\.visit"#])
        expect(
            error?.description.contains(
                "has the home .with(HomeOfTwoKeysTests.Zone.self, HomeOfTwoKeysTests.Unit.self)"),
            equals: true)
    }

    #if DEBUG
    @Test("A debug build reports a read through a child where nobody sets one of the two keys (law 11)")
    func unset() {
        let root = Container()
        let reports = root.logReports()
        _ = (root.child { $0.region = "south" }.archive, root.child { $0.tenant = "acme" }.archive)
        expect(reports.all, equals: [])
        _ = root.child().archive
        expect(reports.count, equals: 1)
        let text = reports.all.first ?? ""
        expect(text.contains(#"sets \.region or \.tenant, so it lives in the root"#), text)
    }
    #endif

    @Test("The path to an input that a child overrides ends with the key of a home that no load reads (law 11)")
    func path() {
        let child = Container().unreported.child { $0.tenant = "acme" }
        let error = #expect(throws: LoadError.self) { try child[Bank.self] }
        expect(error?.path, equals: ["Bank", "Search", "Index", #"\.tenant"#])
    }
}
