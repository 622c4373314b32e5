import Fugu
import Support
import Testing

@Suite("Law 10: what children cost") struct ChildrenCostTests {}

extension ChildrenCostTests {
    struct Size: Property { static var defaultValue: Int { 1 } }
    struct Request: Property { static var defaultValue: Int { 0 } }
    final class Handler: Feature, Sendable {
        let request: Int
        init(_ request: Int) { self.request = request }
        static func load(in container: any FeatureContainer) -> Handler { Handler(container[Request.self]) }
    }

    /// Nanoseconds of one set on the root, the best of several rounds.
    private static func costOfSet(_ root: Container) -> Double {
        let clock = ContinuousClock()
        return (0..<9).map { _ in
            let time = clock.measure { for value in 0..<1000 { root[Size.self] = value } }
            return Double(time.components.attoseconds) / 1e9 / 1000
        }.min()!
    }

    @Test(
        "With 10,000 live children that read it, a set on the root costs at most ten times as much as with none (law 10)"
    )
    func setNanosecondsDoNotCountChildren() {
        let root = Container()
        root[Size.self] = 0
        let alone = Self.costOfSet(root)
        let children = (0..<10_000).map { _ in root.child() }
        for child in children { _ = child[Size.self] }
        let crowded = Self.costOfSet(root)
        // An observer sends every set the long way, which must not count children either.
        let lonely = Container()
        let heard = Counter()
        for observed in [lonely, children[0]] { observed.observe(Size.self) { _ in heard.add() } }
        let (observedAlone, observed) = (Self.costOfSet(lonely), Self.costOfSet(root))
        expect(crowded <= alone * 10, "\(Int(alone)) ns alone, \(Int(crowded)) ns with 10,000 children")
        expect(
            observed <= observedAlone * 10,
            "\(Int(observedAlone)) ns alone, \(Int(observed)) ns with 10,000 children of which one observes")
        expect(children.last![Size.self], equals: 999)
        expect(heard.value > 0)
    }

    @Test("50,000 children made, used and dropped leave the memory flat (laws 7, 10)")
    func residentMemoryIsFlat() async {
        await #expect(processExitsWith: .success) {
            let root = Container()
            let keys = (0..<12).map { PropertyKey(defaultValue: 0, id: $0) }
            func use(_ count: Int) {
                for number in 0..<count {
                    let child = root.child { $0[Request.self] = number }
                    precondition(child[Request.self] == number && child[Size.self] == 1)
                    guard number.isMultiple(of: 8) else { continue }
                    precondition(child[Handler.self].request == number)
                    // More than a container has room for at first.
                    for key in keys { child[key] = number }
                }
            }
            use(10_000)
            let before = ThisProcess.residentBytes ?? 0
            use(50_000)
            let after = ThisProcess.residentBytes ?? 0
            // One forgotten node alone would take some 200 bytes of each: 10 MB.
            precondition(after - before < 2_000_000, "\(after - before) bytes more")
        }
    }
}
