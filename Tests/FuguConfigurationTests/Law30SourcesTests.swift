import Fugu
import FuguConfiguration
import Support
import Testing

// Laws 17 and 30: a source that is applied changes nothing in how much a chain of features costs.
@Suite("Chains and keys beside sources (laws 17 and 30)", .serialized, .timeLimit(.minutes(1)))
struct Law30SourcesTests {
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

    @Test("A chain is loaded from the bottom up as fast with a source as without one (laws 17 and 30)")
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

    @Test("Who reads the top of a chain first in a child costs no more with a source than without one (laws 17, 30)")
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

    @Test("Containers that come and go leave nothing with the source that they applied (law 30)")
    func comingAndGoing() throws {
        try expectProportion(300) { count in
            let source = MutableSource(["law30.base": 1], name: "source")
            return try threadTime {
                for _ in 0..<count {
                    let container = Container()
                    try container.apply(source)
                    expect(container[Self.base], equals: 1)
                }
                for number in 0..<10 { source["law30.base"] = .integer(Int64(number)) }
            }
        }
    }
}
