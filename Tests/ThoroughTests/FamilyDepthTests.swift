import Foundation
import Support
import Testing

@testable import Fugu

// Law 20: what a load remembers takes time and memory in proportion to all it was made from, directly and through others;
// dropping and releasing it take bounded stack, however long the chain.
@Suite("Law 20: what a load remembers", .serialized, .timeLimit(.minutes(5))) struct FamilyDepthTests {}

extension FamilyDepthTests {
    struct Bottom: Property { static var defaultValue: Int { 1 } }

    private struct Link: Hashable, Sendable {
        let family: UniqueID
        let number: Int
    }

    /// Features that are each made from the one before, the first from a property.
    private static func chain(_ count: Int, reloads: Bool = false, ended: Counter? = nil) -> [FeatureKey<Instance>] {
        let family = UniqueID()
        var keys: [FeatureKey<Instance>] = []
        for number in 0..<count {
            let below = keys.last
            keys.append(
                FeatureKey(reloadsWhenInputsChange: reloads, id: Link(family: family, number: number)) { container in
                    let value = below.map { container[$0].value + 1 } ?? container[Bottom.self]
                    return Instance(value, ended)
                })
        }
        return keys
    }

    final class Instance: Sendable {
        let value: Int
        private let ended: Counter?
        init(_ value: Int, _ ended: Counter?) {
            self.value = value
            self.ended = ended
        }
        deinit { ended?.add() }
    }

    @Test("A load of many inputs takes time in proportion to their number, and so does one made from many others")
    func wide() {
        expectProportion(500) { count in
            let inputs = (0..<count).map { PropertyKey(defaultValue: 0, id: $0) }
            let key = FeatureKey(id: UniqueID()) { container in inputs.reduce(0) { $0 + container[$1] } }
            let container = Container()
            for input in inputs { container[input] = 1 }
            return threadTime {
                for _ in 0..<5 {
                    expect(container[key], equals: count)
                    container.reset { _ in key }
                }
            }
        }
    }

    @Test(
        "The top of a chain is loaded again in time in proportion to its links, in a child that overrides its bottom, too"
    )
    func deep() {
        for inAChild in [false, true] {
            expectProportion(250) { count in
                let keys = Self.chain(count)
                let root = Container()
                for key in keys { _ = root[key] }
                let container = inAChild ? root.child { $0[Bottom.self] = 2 } : root
                if inAChild { for key in keys { _ = container[key] } }
                return threadTime {
                    for _ in 0..<100 {
                        container.reset { _ in keys[count - 1] }
                        expect(container[keys[count - 1]].value, equals: count + (inAChild ? 1 : 0))
                    }
                }
            }
        }
    }

    @Test(
        "A long chain is overridden, reset, dropped and released on a small stack, and nothing of it is left",
        .enabled(if: !ThisProcess.isThreadSanitized, "frames are of another size there"), arguments: [false, true])
    func smallStack(reloads: Bool) async throws {
        let (ended, count) = (Counter(), 3_000)
        let isRight = try await finishing(stackSize: 256 << 10) {
            let keys = Self.chain(count, reloads: reloads, ended: ended)
            var container: Container? = Container().unreported
            for key in keys { _ = container![key] }
            var child: Container? = container!.child { $0[Bottom.self] = 5 }
            for key in keys { _ = child![key] }
            var isRight = child![keys[count - 1]].value == count + 4
            child!.reset(Bottom.self)
            isRight = isRight && child![keys[count - 1]].value == count && ended.value == count
            child = nil
            container![Bottom.self] = 2
            isRight = isRight && (container!.ifLoaded { _ in keys[count - 1] } == nil) == reloads
            container!.reset { _ in keys[count / 2] }
            container = nil
            return isRight
        }
        expect(isRight)
        expect(ended.value, equals: 2 * count)
    }
}
