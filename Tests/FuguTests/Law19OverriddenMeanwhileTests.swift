import Fugu
import Support
import Testing

@Suite("Laws 10 and 19: what is overridden while it loads again") struct Law19OverriddenMeanwhileTests {
    struct Number: Property { static var defaultValue: Int { 0 } }

    @Test("A child that overrides an input while its observed feature loads again gets its own (laws 10, 16, 19)")
    func overridden() {
        let (began, goesOn) = (Gate(), Gate())
        let loads = Counter()
        let live = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { $0[Number.self] }
        let above = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { container in
            let number = container[live]
            if loads.add() == 2 {
                began.open()
                goesOn.wait()
            }
            return number * 100
        }
        let root = Container()
        let child = root.child()
        let heard = Log<Int>()
        _ = child[above]
        child.observe(above) { heard.add($0) }
        // The child's observer has it loaded again, for the root as it seems.
        let thread = startThread { root[Number.self] = 1 }
        began.wait()
        child[Number.self] = 5
        goesOn.open()
        thread.wait()
        expect(child.ifLoaded(above), equals: 500)
        expect(heard.all.last, equals: 500)
        expect(root[above], equals: 100)
    }
}
