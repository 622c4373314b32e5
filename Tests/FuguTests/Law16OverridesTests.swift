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
        let world = World()
        let root = Container()
        let child = root.child()
        let shared = child[world.account]
        expect(shared, is: root[world.account])
        child[Address.self] = "test"
        let own = child[world.account]
        expect(own !== shared)
        expect(child[world.account], is: own)
        expect(root[world.account], is: shared)
    }

    func overridesNothingRead() {
        let world = World()
        let root = Container()
        let child = root.child { $0[Verbose.self] = true }
        let grandchild = child.child { $0[Timeout.self] = 5 }
        expect(grandchild[world.session], is: root[world.session])
        expect(child[world.account], is: root[world.account])
        expect(grandchild[world.account] !== root[world.account])
        expect(world.log.all.filter { $0 == "session" }.count, equals: 1)
    }

    func setFeature() {
        let world = World()
        let root = Container()
        let shared = root[world.account]
        let mock = Made(identity: 42, value: 0)
        let child = root.child { $0[world.network] = mock }
        expect(child[world.account].identity, equals: 42)
        child[world.network] = Made(identity: 43, value: 0)
        expect(child[world.account].identity, equals: 42)
        let late = root.child()
        expect(late[world.account], is: shared)
        late[world.network] = mock
        expect(late[world.account].identity, equals: 42)
        expect(root[world.account], is: shared)
    }

    func replacedLoader() {
        let world = World()
        let root = Container()
        let shared = root[world.account]
        let child = root.child()
        child.replace(world.network) { Made(identity: $0[Timeout.self], value: 1) }
        expect(child[world.account].identity, equals: 30)
        expect(child[world.account] !== shared)
        expect(root[world.account], is: shared)
    }

    func twoLevelsUp() {
        let world = World()
        let root = Container()
        let shared = root[world.account]
        let child = root.child { $0[Address.self] = "test" }
        let middle = child.child()
        let grandchild = middle.child()
        let own = grandchild[world.account]
        expect(own !== shared)
        expect(middle[world.account], is: own)
        expect(child[world.account], is: own)
        // Late, and two levels up as well.
        child[world.session] = Made(identity: 7, value: 0)
        let late = root.child().child()
        expect(late[world.account], is: shared)
        child.reset(world.session)
        child.reset(Address.self)
        expect(grandchild[world.account], is: shared)
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
        let feature = FeatureKey { Token($0[Timeout.self] + ($0[Verbose.self] ? 1 : 0)) }
        let root = Container()
        let child = root.child {
            $0[Timeout.self] = 5
            $0[Verbose.self] = true
        }
        let own = child[feature]
        child.reset(Timeout.self)
        expect(child[feature], is: own)
        child.reset(Verbose.self)
        expect(child[feature], is: root[feature])
        expect(child[feature].number, equals: 30)
    }

    func resetOfSet() {
        let world = World()
        let root = Container()
        let child = root.child { $0[world.network] = Made(identity: 9, value: 0) }
        let grandchild = child.child()
        expect(grandchild[world.account].identity, equals: 9)
        child.reset(world.network)
        expect(grandchild[world.account], is: root[world.account])
        expect(child[world.session], is: root[world.session])
    }

    func resetOfReplacement() {
        let feature = FeatureKey { Token($0[Timeout.self]) }
        let root = Container()
        let child = root.child()
        child.replace(feature) { Token(1000 + $0[Timeout.self]) }
        let grandchild = child.child { $0[Timeout.self] = 1 }
        expect(grandchild[feature].number, equals: 1001)
        expect(child[feature].number, equals: 1030)
        child.reset(feature)
        expect(grandchild[feature].number, equals: 1)
        expect(child[feature], is: root[feature])
    }

    func parentsSetWins() {
        let feature = FeatureKey { Token($0[Timeout.self]) }
        let root = Container()
        let child = root.child { $0[Timeout.self] = 5 }
        let grandchild = child.child { $0[feature] = Token(8) }
        expect(child[feature].number, equals: 5)
        root[feature] = Token(100)
        expect(child[feature].number, equals: 100)
        expect(grandchild[feature].number, equals: 8)
        root.reset(feature)
        expect(child[feature].number, equals: 5)
        expect(grandchild[feature].number, equals: 8)
    }

    func conditionalInputs() {
        let feature = FeatureKey { container in
            container[Verbose.self] ? Token(container[Address.self].count) : Token(container[Timeout.self])
        }
        let root = Container()
        let shared = root[feature]
        let unread = root.child { $0[Address.self] = "unread" }
        let read = root.child { $0[Timeout.self] = 1 }
        let condition = root.child { $0[Verbose.self] = true }
        expect(unread[feature], is: shared)
        expect(read[feature].number, equals: 1)
        expect(condition[feature].number, equals: 4)
        unread[Verbose.self] = true
        expect(unread[feature].number, equals: 6)
        expect(root[feature], is: shared)
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
        let feature = FeatureKey { Token($0[Timeout.self]) }
        let root = Container()
        let shared = root[feature]
        let child = root.child { $0[Timeout.self] = 30 }
        expect(child[feature] !== shared)
        root[Timeout.self] = 60
        expect(child[Timeout.self], equals: 30)
    }
}
