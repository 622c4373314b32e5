import Support
import Testing

@testable import Fugu

/// Law 10: overriding an input.
struct OverrideTests {}

extension OverrideTests {
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

    @Test(
        "An override of what a link in the middle of a chain reads gives the child its own, a late one at the next read (law 10)"
    )
    func inTheMiddle() {
        // An override of what a link in the middle of a chain reads gives the child its own.
        do {
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
        // A late override gives the child its own at the next read.
        do {
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
    }

    @Test(
        "A child that overrides nothing that was really read shares the parent's instance, whoever asks first (law 10)")
    func overridesNothingRead() {
        // A child that overrides nothing that was read shares the parent's instance, whoever asks first.
        do {
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
        // With conditional inputs a child has its own only if it overrides what was really read.
        do {
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
    }

    @Test("A child that sets a feature or replaces its loader gives its own to whatever was made from that (law 10)")
    func setFeature() {
        // A child that sets a feature gives its own to whatever was made from that.
        do {
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
        // A replaced loader in the child counts as an override.
        do {
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
    }

    @Test("An override two levels up counts for the grandchild, which shares its copy (law 10)")
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

    @Test("Loading for a child never runs the parent's version of what the child overrides (law 10)")
    func parentsVersionNeverRuns() {
        let addresses = Log<String>()
        let network = FeatureKey { container in
            addresses.add(container[Address.self])
            return "network"
        }
        let session = FeatureKey { "session on \($0[network])" }
        let account = FeatureKey { "account of \($0[session])" }
        let root = Container()
        expect(root.child { $0[network] = "mock" }.child()[account], equals: "account of session on mock")
        expect(root.child { $0[Address.self] = "test" }[account], equals: "account of session on network")
        let third = root.child()
        third.replace({ _ in session }) { _ in "replaced" }
        expect(third[account], equals: "account of replaced")
        expect(addresses.all, equals: ["test"])
    }

    @Test("When the last override is reset, the copy goes and the parent's instance is shared again (laws 10, 12)")
    func resetOfOverride() {
        // When the override is reset, the copy goes and the parent's instance is shared again.
        do {
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
        // A copy stays while another override still stands, and goes with the last one.
        do {
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
    }

    @Test("A reset of an overriding instance or loader releases what was made from it, in descendants too (law 10)")
    func resetOfSet() {
        // A reset of an overriding instance releases what was made from it, also where that was shared.
        do {
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
        // When a replaced loader is reset, what it made in descendants goes too.
        do {
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
    }

    @Test("An instance set in the parent replaces those that children had loaded, unless they set it (law 10)")
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

    @Test(
        "A container that overrides an input, with an equal value too, has its own, and what others share stays (laws 9, 10, 12)"
    )
    func olderInstanceStays() {
        // A container that overrides an input has its own, and the instance that others share stays.
        do {
            let feature = FeatureKey { container in
                container[Verbose.self] ? Token(container[Address.self].count) : Token(container[Timeout.self])
            }
            let root = Container().unreported
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
        // An override that equals what was inherited still gives the child its own.
        do {
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
}

/// An instance that stays as it is in an ancestor, though it was made from a key that two containers below override.
struct OverrideTwiceTests {}

extension OverrideTwiceTests {
    private enum Asks: Property { static let defaultValue = true }
    private enum Answer: Property { static let defaultValue = 0 }
    private final class Reader: Feature, Sendable {
        static func load(in container: any FeatureContainer) -> Reader {
            // Each read decides the next one.
            if container[Asks.self] { _ = container[Answer.self] }
            return Reader()
        }
    }

    @Test("Each container that doesn't see the instance of the home keeps a copy (laws 10 and 11)")
    func copies() {
        let root = Container().unreported
        let first = root[Reader.self]
        root[Asks.self] = false
        let upper = root.child { $0[Answer.self] = 1 }
        let lower = upper.child { $0[Answer.self] = 2 }
        let below = lower.child()
        // They read nothing that's overridden now, but the root has an instance that they don't see.
        let copies = [below, lower, upper].map { $0[Reader.self] }
        expect(Set((copies + [first]).map { ObjectIdentifier($0) }).count, equals: 4)
        for (container, copy) in zip([below, lower, upper, root], copies + [first]) {
            expect(container[Reader.self], is: copy)
        }
    }

    private enum Name: Property { static let defaultValue = "" }
    private struct Greeter: Feature {
        let text: String
        static func load(in container: any FeatureContainer) -> Greeter { Greeter(text: container[Name.self]) }
    }
    private final class Page: Feature, Sendable {
        static func load(in container: any FeatureContainer) -> Page {
            _ = container[Greeter.self]
            return Page()
        }
    }

    @Test(
        "A child's load never takes the place of an older instance that containers above it share (laws 10 and 12)"
    )
    func sharedStays() {
        let root = Container().unreported
        let first = root[Page.self]
        let upper = root.child { $0[Answer.self] = 3 }
        let lower = upper.child { $0[Name.self] = "lower" }
        // From now on a page that is loaded would live where the answer is set.
        root.replace(Greeter.self) { Greeter(text: "\($0[Answer.self])") }
        expect(lower[Page.self] !== first)
        expect(upper[Page.self], is: first)
        expect(root[Page.self], is: first)
    }

    private enum Base: Property { static let defaultValue = 0 }
    private enum Extra: Property { static let defaultValue = 0 }
    private struct Total: Feature {
        static func load(in container: any FeatureContainer) -> Int {
            container[Asks.self] ? container[Base.self] + container[Extra.self] : -1
        }
    }

    @Test("Observers hear of an instance past which their container saw, once a reset uncovers it (laws 9, 10)")
    func uncovered() {
        let root = Container().unreported
        let middle = root.child { $0[Base.self] = 10 }
        expect(middle[Total.self], equals: 10)
        root[Asks.self] = false
        expect(root[Total.self], equals: -1)
        let below = middle.child { $0[Extra.self] = 5 }
        let heard = Log<Int>()
        below.observe(Total.self) { heard.add($0) }
        expect(below[Total.self], equals: -1)
        below.reset(Extra.self)
        expect(below[Total.self], equals: 10)
        expect(heard.all, equals: [10])
    }
}
