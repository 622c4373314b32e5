import Foundation
import Support
import Synchronization
import Testing

@testable import Fugu

/// Law 3: single flight, no lock in user code.
struct SingleFlightThreadsTests {}

extension SingleFlightThreadsTests {
    @Test("Different features load in parallel (law 3)")
    func parallel() {
        let container = Container()
        let (firstBegan, secondBegan) = (Gate(), Gate())
        let first = FeatureKey { _ in
            firstBegan.open()
            secondBegan.wait()
            return 1
        }
        let second = FeatureKey { _ in
            secondBegan.open()
            firstBegan.wait()
            return 2
        }
        onThreads(2) { _ = $0 == 0 ? container[first] : container[second] }
        expect(container.ifLoaded { _ in first }, equals: 1)
        expect(container.ifLoaded { _ in second }, equals: 2)
    }

    @Test("A loader may block on another thread that reads a different key (law 3)")
    func blockingLoader() {
        let container = Container()
        let inner = FeatureKey { _ in "inner" }
        let throughContainer = FeatureKey { _ in "outer of " + onAnotherThread { container[inner] } }
        let throughHandle = FeatureKey { handle in "outer of " + onAnotherThread { handle[inner] } }
        expect(container[throughHandle], equals: "outer of inner")
        container.resetAll()
        expect(container[throughContainer], equals: "outer of inner")
    }

    /// Uses the family of `container` from another thread, in all ways, and waits for its end.
    static func useElsewhere(_ container: Container) {
        onAnotherThread {
            let property = PropertyKey(defaultValue: 1, id: UniqueID())
            let feature = FeatureKey(id: UniqueID()) { $0[property] + 1 }
            let token = container.observe({ _ in property }) { _ in }
            _ = container.unreported[feature]
            container[property] = 2
            container.modify({ _ in property }) { $0 += 1 }
            container.update { $0[property] = 4 }
            _ = container.child()[feature]
            token.cancel()
            container.reset { _ in property }
        }
    }

    struct Touching: Equatable, Sendable {
        let number: Int
        let container: Container
        static func == (left: Self, right: Self) -> Bool {
            useElsewhere(left.container)
            return left.number == right.number
        }
    }

    @Test("No lock is held while defaults, loads, observers, bodies and == run (law 3)")
    func noLockInUserCode() {
        let container = Container().unreported
        let property = PropertyKey<Int>(
            defaultValue: {
                Self.useElsewhere(container)
                return 1
            }())
        container.observe({ _ in property }) { _ in Self.useElsewhere(container) }
        let feature = FeatureKey { _ in
            Self.useElsewhere(container)
            return 2
        }
        expect(container[property], equals: 1)
        expect(container[feature], equals: 2)
        container[property] = 3
        container.modify({ _ in property }) { value in
            Self.useElsewhere(container)
            value = 4
        }
        container.update { handle in
            Self.useElsewhere(container)
            handle[property] = 5
        }
        expect(container[property], equals: 5)
        let equatable = PropertyKey(defaultValue: Touching(number: 1, container: container))
        let heard = Counter()
        let token = container.observe({ _ in equatable }) { _ in heard.add() }
        container[equatable] = Touching(number: 2, container: container)
        container.modify({ _ in equatable }) { $0 = Touching(number: 3, container: container) }
        container.update { $0[equatable] = Touching(number: 4, container: container) }
        expect(heard.value, equals: 3)
        token.cancel()
        container.reset { _ in equatable }
    }
}
