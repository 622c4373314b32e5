import Fugu
import Support
import Testing

/// An instance that stays as it is in an ancestor, though it was made from a key that two containers below override.
@Suite("Law 16: a key that is overridden twice") struct Law16OverriddenTwiceTests {
    private enum Asks: Property { static let defaultValue = true }
    private enum Answer: Property { static let defaultValue = 0 }
    private static let loads = Counter()

    private final class Reader: Feature, Sendable {
        static func load(in container: any FeatureContainer) -> Reader {
            loads.add()
            // Each read decides the next one.
            if container[Asks.self] { _ = container[Answer.self] }
            return Reader()
        }
    }

    @Test("Each container that overrides what an ancestor's instance was made from keeps a copy (laws 15 and 16)")
    func copies() {
        let root = Container()
        let first = root[Reader.self]
        root[Asks.self] = false
        let upper = root.child { $0[Answer.self] = 1 }
        let lower = upper.child { $0[Answer.self] = 2 }
        let below = lower.child()
        let before = Self.loads.value
        let copy = below[Reader.self]
        expect(copy !== first)
        expect(lower[Reader.self], is: copy)
        expect(below[Reader.self], is: copy)
        expect(Self.loads.value, equals: before + 1)
        expect(upper[Reader.self] !== copy)
        expect(upper[Reader.self], is: upper[Reader.self])
        expect(Self.loads.value, equals: before + 2)
        expect(root[Reader.self], is: first)
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
        "A child's load never takes the place of an older instance that containers above it share (laws 16 and 19)"
    )
    func sharedStays() {
        let root = Container()
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

    @Test("Observers hear of an instance past which their container saw, once a reset uncovers it (laws 10, 14, 16)")
    func uncovered() {
        let root = Container()
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
