import Support
import Testing

@testable import Fugu

@Suite("Law 10: families that live long") struct OverrideLongLivedTests {}

extension OverrideLongLivedTests {
    struct First: Property { static var defaultValue: Int { 1 } }
    struct Second: Property { static var defaultValue: Int { 2 } }

    @Test(
        "However much changes in between, a child does not take what was made from what it overrides (law 10)",
        arguments: [8, 16, 24])
    func manyChanges(_ bits: Int) {
        let readsSecond = Counter()
        let key = FeatureKey(id: UniqueID()) { readsSecond.value == 0 ? $0[First.self] : $0[Second.self] }
        // Numbers of so many bits come round after that many changes, or about that.
        for extra in bits == 24 ? 0...0 : -3...3 {
            let root = Container()
            let child = root.child { $0[Second.self] = 42 }
            let grandchild = child.child()
            _ = root[key]
            expect(child[key], equals: 1)
            expect(grandchild[key], equals: 1)
            let before = readsSecond.add(-readsSecond.value)
            expect(before, equals: 0)
            root.reset { _ in key }
            readsSecond.add()
            root.node.family.pass((1 << bits) + extra)
            expect(root[key], equals: 2)
            expect(child[key] == 42 && grandchild[key] == 42, "\(bits) bits, \(extra) more")
            readsSecond.add(-1)
        }
    }

    @Test("Nor does one that overrides it only then (law 10)", arguments: [8, 16, 24])
    func lateOverride(_ bits: Int) {
        let key = FeatureKey(id: UniqueID()) { $0[First.self] * 10 }
        for extra in bits == 24 ? 0...0 : -3...3 {
            let root = Container()
            let child = root.child()
            expect(root[key], equals: 10)
            expect(child[key], equals: 10)
            child[First.self] = 5
            root.node.family.pass((1 << bits) + extra)
            expect(child[key] == 50 && root[key] == 10, "\(bits) bits, \(extra) more")
            child.reset(First.self)
            expect(child[key], equals: 10)
        }
    }
}

extension Family {
    /// Lets the clock go on as if there had been so many changes.
    fileprivate func pass(_ changes: Int) {
        lock.withLock { token in
            for _ in 0..<changes { _ = state[token].tick() }
        }
    }
}
