import Fugu
import Support
import Testing

@Suite("Law 16: overriding an input") struct Law16OverridesTests {
    static let cases: [Case<Law16OverridesTests>] = [
        Case("An override at birth gives the child its own, through all that was made from it (law 16)", atBirth),
        Case("An override of what a link in the middle of a chain reads gives the child its own (law 16)", inTheMiddle),
        Case("A late override gives the child its own at the next read (law 16)", late),
        Case(
            "A child that overrides nothing that was read shares the parent's instance, whoever asks first (law 16)",
            overridesNothingRead),
        Case("A child that sets a feature gives its own to whatever was made from that (law 16)", setFeature),
        Case("A replaced loader in the child counts as an override (laws 14, 16)", replacedLoader),
        Case("An override two levels up counts for the grandchild, which shares its copy (law 16)", twoLevelsUp),
        Case(
            "Loading for a child never runs the parent's version of what the child overrides (law 16)",
            parentsVersionNeverRuns),
        Case(
            "When the override is reset, the copy goes and the parent's instance is shared again (law 16)",
            resetOfOverride),
        Case(
            "A copy stays while another override still stands, and goes with the last one (laws 16, 19)",
            lastOverrideCounts),
        Case(
            "A reset of an overriding instance releases what was made from it, also where that was shared (law 16)",
            resetOfSet),
        Case("When a replaced loader is reset, what it made in descendants goes too (laws 14, 16)", resetOfReplacement),
        Case(
            "An instance set in the parent replaces those that children had loaded, unless they set it (laws 14, 16)",
            parentsSetWins),
        Case(
            "With conditional inputs a child has its own only if it overrides what was really read (law 16)",
            conditionalInputs),
        Case(
            "A container that overrides an input has its own, and the instance that others share stays (laws 16, 19)",
            olderInstanceStays),
        Case("An override that equals what was inherited still gives the child its own (laws 10, 16)", equalOverride),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law16OverridesTests>) async throws {
        try await stated.run(self)
    }

    struct Address: Property { static var defaultValue: String { "live" } }
    struct Timeout: Property { static var defaultValue: Int { 30 } }
    struct Verbose: Property { static var defaultValue: Bool { false } }

    private static let held: [String: Drawing.Held] = [
        "address": .property(Address.self), "timeout": .property(Timeout.self), "verbose": .property(Verbose.self),
        "network": .instance(network), "loader": .loader(network) { $0[Address.self] },
        "patience": .instance(patience), "patient": .loader(patience) { $0[Timeout.self] },
    ]
    private static let network = FeatureKey { Thing($0[Address.self], $0) }
    private static let session = FeatureKey { Thing($0[network].text, $0) }
    private static let account = FeatureKey { Thing("\($0[session].text) \($0[Timeout.self])", $0) }
    private static let patience = FeatureKey { Thing($0[Timeout.self], $0) }
    private static let either = FeatureKey { container in
        Thing(container[Verbose.self] ? container[Address.self] : "\(container[Timeout.self])", container)
    }

    /// A little world of features as keys, so that each test counts its own loads.
    private struct World {
        let log = Log<String>()
        let network: FeatureKey<Made>
        let session: FeatureKey<Made>
        let account: FeatureKey<Made>

        init() {
            let log = log
            let network = FeatureKey(id: UniqueID()) { container in
                log.add("network \(container[Address.self])")
                return Made(identity: 0, value: 0, handle: container)
            }
            let session = FeatureKey(id: UniqueID()) { container in
                log.add("session")
                return Made(identity: container[network].identity, value: 0)
            }
            account = FeatureKey(id: UniqueID()) { container in
                log.add("account")
                return Made(identity: container[session].identity, value: container[Timeout.self])
            }
            self.network = network
            self.session = session
        }
    }

    func atBirth() {
        let world = World()
        let root = Container()
        let parents = root[world.account]
        let child = root.child { $0[Address.self] = "test" }
        expect(child[world.account] !== parents)
        expect(child[world.session] !== root[world.session])
        expect(world.log.all, equals: ["account", "session", "network live", "account", "session", "network test"])
        expect(root[world.account], is: parents)
    }

    func inTheMiddle() {
        let first = FeatureKey { $0[Address.self] }
        let second = FeatureKey { $0[first] }
        let third = FeatureKey { $0[second] + ($0[Verbose.self] ? ", verbose" : "") }
        let fourth = FeatureKey { $0[third] }
        let fifth = FeatureKey { $0[fourth] }
        let root = Container()
        expect(root[fifth], equals: "live")
        let child = root.child { $0[Verbose.self] = true }
        expect(child[fifth], equals: "live, verbose")
        expect(root[fifth], equals: "live")
    }

    func late() {
        let family = Drawing(
            """
            root                   → root: live 30
              child                → root: live 30
                below              → root: live 30
            """, Self.held
        ) { $0[Self.account] }
        family.show(
            """
            root                   → root kept: live 30
              child  address=test  → child new: test 30
                below              → child new: test 30
            """)
    }

    func overridesNothingRead() {
        let keys = Self.held
        Drawing(
            """
            root                        → root: live
              child       verbose=true  → root: live
                below     timeout=5     → root: live
            """, keys
        ) { $0[Self.session] }
        Drawing(
            """
            root                        → root: live 30
              child       verbose=true  → root: live 30
                below     timeout=5     → below: live 5
            """, keys
        ) { $0[Self.account] }
    }

    func setFeature() {
        let family = Drawing(
            """
            root                    → root: live 30
              child   network=mock  → child: mock 30
              late                  → root: live 30
            """, Self.held
        ) { $0[Self.account] }
        family.show(
            """
            root                    → root kept: live 30
              child   network=other → child kept: mock 30
              late    network=mock  → late new: mock 30
            """)
    }

    func replacedLoader() {
        let family = Drawing(
            """
            root                 → root: live 30
              child              → root: live 30
            """, Self.held
        ) { $0[Self.account] }
        family.show(
            """
            root                 → root kept: live 30
              child  loader=own  → child new: own live 30
            """)
    }

    func twoLevelsUp() {
        let family = Drawing(
            """
            root                        → root: live 30
              child       address=test  → child: test 30
                middle                  → child: test 30
                  below                 → child: test 30
              other                     → root: live 30
                late                    → root: live 30
            """, Self.held
        ) { $0[Self.account] }
        family.show(
            """
            root                        → root kept: live 30
              child                     → root: live 30
                middle                  → root: live 30
                  below                 → root: live 30
              other       address=test  → other new: test 30
                late                    → other new: test 30
            """)
    }

    func parentsVersionNeverRuns() {
        let world = World()
        let root = Container()
        let child = root.child { $0[world.network] = Made(identity: 1, value: 0) }
        _ = child.child()[world.account]
        expect(!world.log.all.contains("network live"))
        let other = root.child { $0[Address.self] = "test" }
        _ = other[world.account]
        expect(!world.log.all.contains("network live"))
        let third = root.child()
        third.replace(world.session) { _ in Made(identity: 3, value: 0) }
        expect(third[world.account].identity, equals: 3)
        expect(!world.log.all.contains("network live"))
    }

    func resetOfOverride() {
        let alive = Counter()
        let feature = FeatureKey { Token($0[Timeout.self], alive: alive) }
        let root = Container()
        let child = root.child { $0[Timeout.self] = 5 }
        expect(root[feature].number, equals: 30)
        expect(child[feature].number, equals: 5)
        expect(alive.value, equals: 2)
        child.reset(Timeout.self)
        // Nothing is kept behind anybody's back (8).
        expect(alive.value, equals: 1)
        expect(child[feature], is: root[feature])
    }

    func lastOverrideCounts() {
        let feature = FeatureKey { Thing($0[Timeout.self] + ($0[Verbose.self] ? 1 : 0), $0) }
        let family = Drawing(
            """
            root                              → root: 30
              child  timeout=5 verbose=true   → child: 6
            """, Self.held
        ) { $0[feature] }
        family.show(
            """
            root                              → root kept: 30
              child            verbose=true   → child kept: 6
            """)
        family.show(
            """
            root                              → root kept: 30
              child                           → root: 30
            """)
    }

    func resetOfSet() {
        let family = Drawing(
            """
            root                    → root: live 30
              child   network=mock  → child: mock 30
                below               → child: mock 30
            """, Self.held
        ) { $0[Self.account] }
        family.show(
            """
            root                    → root kept: live 30
              child                 → root: live 30
                below               → root: live 30
            """)
    }

    func resetOfReplacement() {
        let family = Drawing(
            """
            root                    → root: 30
              child    patient=own  → child: own 30
                below  timeout=1    → below: own 1
            """, Self.held
        ) { $0[Self.patience] }
        family.show(
            """
            root                    → root kept: 30
              child                 → root: 30
                below  timeout=1    → below new: 1
            """)
    }

    func parentsSetWins() {
        let family = Drawing(
            """
            root                     → root: 30
              child    timeout=5     → child: 5
                below  patience=8    → below: 8
            """, Self.held
        ) { $0[Self.patience] }
        family.show(
            """
            root       patience=100  → root new: 100
              child    timeout=5     → root new: 100
                below  patience=8    → below kept: 8
            """)
        family.show(
            """
            root                     → root new: 30
              child    timeout=5     → child new: 5
                below  patience=8    → below kept: 8
            """)
    }

    func conditionalInputs() {
        let family = Drawing(
            """
            root                                     → root: 30
              unread     address=unread              → root: 30
              read       timeout=1                   → read: 1
              condition  verbose=true                → condition: live
            """, Self.held
        ) { $0[Self.either] }
        family.show(
            """
            root                                     → root kept: 30
              unread     address=unread verbose=true → unread new: unread
              read       timeout=1                   → read kept: 1
              condition  verbose=true                → condition kept: live
            """)
    }

    func olderInstanceStays() {
        let feature = FeatureKey { container in
            container[Verbose.self] ? Token(container[Address.self].count) : Token(container[Timeout.self])
        }
        let root = Container()
        let shared = root[feature]
        // Not reloading, it stays as it is, though it would now read the address.
        root[Verbose.self] = true
        let child = root.child { $0[Timeout.self] = 1 }
        let own = child[feature]
        expect(own.number, equals: 4)
        expect(child[feature], is: own)
        expect(root[feature], is: shared)
        expect(root.child()[feature], is: shared)
    }

    func equalOverride() {
        let family = Drawing(
            """
            root                 → root: 30
              child  timeout=30  → child: 30
            """, Self.held
        ) { $0[Self.patience] }
        family.show(
            """
            root     timeout=60  → root kept: 30
              child  timeout=30  → child kept: 30
            """)
        expect(family["child"][Timeout.self], equals: 30)
    }
}
