import Fugu
import Support
import Testing

/// Instances and observers are listed where the keys stand that concern them, which come and go.
@Suite("Who watches what, as keys come and go (laws 6 and 9 to 12)", .timeLimit(.minutes(1)))
struct WatcherTests {
    private final class Made: Sendable {
        let text: String
        init(_ text: String) { self.text = text }
    }
    static let k = PropertyKey(defaultValue: 0, id: UniqueID())
    static let a = PropertyKey(defaultValue: 0, id: UniqueID())
    static let b = PropertyKey(defaultValue: 0, id: UniqueID())
    static let l = PropertyKey(defaultValue: 0, id: UniqueID())
    static let m = PropertyKey(defaultValue: 0, id: UniqueID())

    @Test("An update that moves an override up leaves no copy below (laws 6, 10, and 11)")
    func overrideMovesUp() {
        let feature = FeatureKey<Made>(id: UniqueID()) { Made("F\($0[Self.k])") }
        let root = Container().unreported
        let middle = root.child()
        let child = middle.child()
        child[Self.k] = 1
        let made = child[feature]
        middle.update { above in
            child.update { below in below.reset { _ in Self.k } }
            above[Self.k] = 2
        }
        #expect(child.ifLoaded { _ in feature } == nil)
        #expect(child[feature].text == "F2")
        #expect(child[feature] !== made)
        #expect(child[feature] === middle[feature])
    }

    @Test(
        "A decorated instance stays when one of two anchors is reset, or a container in between loses its own (laws 10 and 12)"
    )
    func decoratedStaysWithoutAnAnchor() {
        // A decorated instance that stays though an input was set stays when one of two anchors is reset.
        do {
            let feature = FeatureKey<Made>(id: UniqueID()) { Made("F\($0[Self.k])") }
            let root = Container().unreported
            let middle = root.child()
            middle.decorate({ _ in feature }) { Made("D(\($0.text),\($1[Self.a]),\($1[Self.b]))") }
            let child = middle.child()
            child[Self.a] = 1
            child[Self.b] = 1
            let made = child[feature]
            child[Self.k] = 5
            #expect(child.ifLoaded { _ in feature } === made)
            child.reset { _ in Self.a }
            #expect(child.ifLoaded { _ in feature } === made)
        }
        // A decorated instance stays when a container in between loses its own.
        do {
            let feature = FeatureKey<Made>(id: UniqueID()) { Made("F\($0[Self.k])") }
            let root = Container().unreported
            let top = root.child()
            top.decorate({ _ in feature }) { Made("D(\($0.text),\($1[Self.a]),\($1[Self.b]))") }
            let middle = top.child()
            middle[Self.b] = 1
            let child = middle.child()
            child[Self.a] = 1
            _ = middle[feature]
            let made = child[feature]
            child[Self.k] = 5
            #expect(child.ifLoaded { _ in feature } === made)
            middle.reset { _ in Self.b }
            #expect(child.ifLoaded { _ in feature } === made)
        }
    }

    private struct Tenant: ThrowingFeature {
        static var home: Home { .with { _ in WatcherTests.a } }
        static func load(in container: any FeatureContainer) throws -> Made { Made("T\(container[WatcherTests.k])") }
    }

    @Test(
        "What reloads loads again when what it couldn't read is set, here or above (law 12)", arguments: [true, false])
    func refusedReadsAreInputs(isHere: Bool) {
        let reader = FeatureKey<String>(reloadsWhenInputsChange: true, id: UniqueID()) {
            (try? $0[Tenant.self])?.text ?? "refused"
        }
        let root = Container().unreported
        _ = try? root[Tenant.self]
        let child = root.child()
        child[Self.k] = 1
        #expect(child[reader] == "refused")
        (isHere ? child : root).set(Tenant.self, to: Made("set"))
        #expect(child[reader] == "set")
    }

    private struct Endless: ThrowingFeature {
        static var home: Home { .with { _ in WatcherTests.a } }
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in c: any FeatureContainer) throws -> Made {
            Made(c[WatcherTests.m] == 0 ? "K\(c[WatcherTests.k])" : "L\(c[WatcherTests.l])")
        }
    }

    @Test("An observed feature that its home refuses is tried once (laws 9 and 12)")
    func refusedReloadIsTriedOnce() {
        let root = Container().unreported
        let one = root.child()
        one[Self.a] = 1
        let other = root.child()
        other[Self.a] = 2
        other[Self.m] = 1
        let child = one.child()
        _ = try? child[Endless.self]
        let token = child.observe(Endless.self) { _ in }
        _ = try? other[Endless.self]  // Reads other inputs than the one that's observed.
        child[Self.k] = 5
        let error = #expect(throws: LoadError.self) { try child[Endless.self] }
        #expect(error?.path.count == 2)
        token.cancel()
    }
}
