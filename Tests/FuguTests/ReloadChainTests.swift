import Fugu
import Support
import Testing

@Suite("A change reaches the top of a long chain of features, and needs no stack for its length (laws 10, 17, and 19)")
struct ReloadChainTests {}

extension ContainerKeys {
    fileprivate var chainStart: PropertyKey<Int> { .init(defaultValue: 1) }
    fileprivate func chainLink(_ number: Int) -> FeatureKey<Int> {
        .init(reloadsWhenInputsChange: true, id: number) {
            $0[ReloadChainTests.Loads.self].add()
            return number == 0 ? $0.chainStart : $0[ContainerKeys().chainLink(number - 1)] + 1
        }
    }
    fileprivate func chainDefault(_ number: Int) -> PropertyKey<Int> {
        .init(
            defaultValue: number == 0
                ? Container.current.chainStart : Container.current[ContainerKeys().chainDefault(number - 1)] + 1,
            id: number)
    }
    /// Each reads all below it.
    fileprivate func chainSum(_ number: Int) -> FeatureKey<Int> {
        .init(reloadsWhenInputsChange: true, id: number) { container in
            (0..<number).reversed().reduce(container.chainStart) { max($0, container[ContainerKeys().chainSum($1)]) }
        }
    }
}

extension ReloadChainTests {
    struct Loads: Property { static var defaultValue: Counter { Counter() } }

    /// Runs code where a fraction of the chain has room.
    private static func onSmallStack(_ body: @escaping @Sendable () -> Void) {
        startThread(stackSize: 512 << 10, body).wait()
    }

    @Test(
        "A set loads all features again that are made one from the other, each once (law 19)", arguments: [true, false])
    func features(isInRoot: Bool) {
        let root = Container()
        let loads = root[Loads.self]
        let container = isInRoot ? root : root.child { $0.chainStart = 1 }
        let count = 600
        for number in 0...count { _ = container[ContainerKeys().chainLink(number)] }
        let (seen, before) = (Log<Int>(), loads.value)
        Self.onSmallStack {
            container.observe({ $0.chainLink(count) }) { seen.add($0) }
            container.chainStart = 100
        }
        expect(seen.all, equals: [count + 100])
        expect(loads.value - before, equals: count + 1)
    }

    @Test("A set evaluates all defaults again that are made one from the other (laws 10 and 19)")
    func defaults() {
        let container = Container()
        let count = 600
        for number in 0...count { _ = container[ContainerKeys().chainDefault(number)] }
        let seen = Log<Int>()
        Self.onSmallStack {
            container.observe({ $0.chainDefault(count) }) { seen.add($0) }
            container.chainStart = 100
        }
        expect(seen.all, equals: [count + 100])
    }

    @Test("The chain may branch: what nests is what the loads read first (law 19)")
    func branches() {
        let container = Container()
        for number in 0...150 { _ = container[ContainerKeys().chainSum(number)] }
        let seen = Log<Int>()
        Self.onSmallStack {
            container.observe({ $0.chainSum(150) }) { seen.add($0) }
            container.chainStart = 100
        }
        expect(seen.all, equals: [100])
    }

    @Test("A feature that a short chain needs no longer isn't loaded again before somebody reads it (laws 3 and 19)")
    func lazy() {
        let (container, loads) = (Container(), Counter())
        let other = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { container -> Int in
            loads.add()
            return container.chainStart
        }
        let top = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { $0.chainStart == 1 ? $0[other] : 0 }
        let seen = Log<Int>()
        container.observe({ _ in top }) { seen.add($0) }
        _ = container[top]
        container.chainStart = 2
        expect(seen.all, equals: [1, 0])
        expect(loads.value, equals: 1)
    }
}
