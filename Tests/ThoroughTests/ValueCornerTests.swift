import Fugu
import Support
import Testing

private enum A: Property { static var defaultValue: Int { 1 } }
private enum B: Property { static var defaultValue: Int { 10 } }
private enum Opt: Property { static var defaultValue: Int?? { 5 } }
private enum Fresh: Property { static var defaultValue: Witness { Witness() } }
private struct Opaque: Sendable { var n: Int }
private enum Odd: Property { static var defaultValue: Opaque { Opaque(n: 0) } }

private struct Oops: Error, Equatable {}

@Suite("Corner cases of values and change") struct ValueCornerTests {}

extension ValueCornerTests {
    static let cases: [Case<ValueCornerTests>] = [
        Case("Optionals of optionals keep what was set (law 1)", optionals),
        Case("A default is made once for a family, and anew after a reset (law 3)", fresh),
        Case("Updates of parent and child join (law 7)", familyUpdates),
        Case("An observer that sets its own key and another sees every change in order (law 10)", settingObservers),
        Case("An observer may cancel itself and others; nobody is called after that (law 11)", cancelling),
        Case("An equal value notifies nobody, one that cannot be compared always does (law 10)", equality),
        Case("A modify of what was never read is heard once (laws 7, 10)", modifyOfTheDefault),
        Case("modify in a child changes the child (laws 7, 14)", modifyInChild),
        Case(
            "An observer added or a sequence started in an observer hears later changes only (law 10)",
            observingInObserver),
        Case(
            "A child's observers hear the parent unless they are shadowed, and when shadowing ends (law 14)", shadowing),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<ValueCornerTests>) async throws { try await stated.run(self) }

    func optionals() {
        let c = Container()
        expect(c[Opt.self], equals: .some(.some(5)))
        c[Opt.self] = .some(nil)
        expect(c[Opt.self], equals: .some(nil))
        c[Opt.self] = nil
        expect(c[Opt.self], equals: Int??.none)
        let child = c.child()
        expect(child[Opt.self], equals: Int??.none)
        child[Opt.self] = 3
        expect(c[Opt.self], equals: Int??.none)
        expect(child[Opt.self], equals: 3)
        c.reset(Opt.self)
        child.reset(Opt.self)
        expect(child[Opt.self], equals: .some(.some(5)))
    }

    func fresh() {
        let c = Container()
        let child = c.child()
        let first = child[Fresh.self]
        expect(c[Fresh.self], is: first)
        child.reset(Fresh.self)
        expect(child[Fresh.self], is: first)
        c.reset(Fresh.self)
        expect(child[Fresh.self] !== first)
        expect(child[Fresh.self], is: c[Fresh.self])
        c.resetAll()
        expect(Container()[Fresh.self] !== c[Fresh.self])
    }

    @Test("A nested update that throws takes back its own writes only (law 7)")
    func nestedUpdates() {
        let c = Container()
        let heard = Log<String>()
        _ = (c[A.self], c[B.self])
        c.observe(A.self) { heard.add("A\($0)") }
        c.observe(B.self) { heard.add("B\($0)") }
        c.update { outer in
            outer[A.self] = 2
            #expect(throws: Oops.self) {
                try c.update { inner in
                    expect(inner[A.self], equals: 2)
                    inner[A.self] = 3
                    inner[B.self] = 30
                    throw Oops()
                }
            }
            expect(outer[A.self], equals: 2)
            expect(outer[B.self], equals: 10)
            c.update { $0[B.self] = 20 }
        }
        expect(heard.all, equals: ["A2", "B20"])
        #expect(throws: Oops.self) {
            try c.update { outer in
                c.update { $0[B.self] = 99 }
                outer.reset(A.self)
                expect(outer[A.self], equals: 2)
                throw Oops()
            }
        }
        expect(c[A.self], equals: 2)
        expect(c[B.self], equals: 20)
        expect(heard.count, equals: 2)
    }

    @Test("A key that an update reads first and then changes is delivered once (law 7)")
    func readThenChanged() {
        let c = Container()
        let child = c.child()
        let root = Log<Int>(), heard = Log<Int>()
        c.observe(A.self) { root.add($0) }
        child.observe(A.self) { heard.add($0) }
        c.update {
            $0[A.self] += 1
            $0[A.self] += 1
        }
        expect(root.all == [3] && heard.all == [3])
        let other = Container()
        let otherChild = other.child()
        let above = Log<Int>(), below = Log<Int>()
        other.observe(A.self) { above.add($0) }
        otherChild.observe(A.self) { below.add($0) }
        otherChild.update { $0[A.self] += 1 }
        expect(above.all == [1] && below.all == [2])
        let same = Container()
        let first = Log<Int>()
        same.observe(A.self) { first.add($0) }
        same.update { $0[A.self] += 0 }
        expect(first.all, equals: [1])
        #expect(throws: Oops.self) {
            try same.update {
                $0[B.self] += 1
                throw Oops()
            }
        }
        expect(same.ifLoaded(B.self), equals: 10)
    }

    func familyUpdates() {
        let c = Container()
        let child = c.child { $0[A.self] = 5 }
        #expect(throws: Oops.self) {
            try c.update { outer in
                outer[A.self] = 7
                child.update { inner in inner[A.self] = 6 }
                throw Oops()
            }
        }
        expect(c[A.self], equals: 1)
        expect(child[A.self], equals: 5)
        c.update { outer in
            outer[A.self] = 7
            child.update { inner in
                inner.reset(A.self)
                expect(inner[A.self], equals: 5)
            }
        }
        expect(child[A.self], equals: 7)
    }

    func settingObservers() {
        let c = Container()
        let one = Log<Int>(), two = Log<Int>(), other = Log<Int>()
        c.observe(A.self) { n in
            one.add(n)
            if n < 5 { c[A.self] = n + 1 }
            c[B.self] = n
        }
        c.observe(A.self) { two.add($0) }
        c.observe(B.self) { other.add($0) }
        c[A.self] = 2
        expect(one.all, equals: [2, 3, 4, 5])
        expect(two.all, equals: one.all)
        expect(other.all.last, equals: c[B.self])
        expect(c[A.self], equals: 5)
    }

    func cancelling() {
        let c = Container()
        let heard = Log<String>()
        let tokens = Log<ObservationToken>()
        tokens.add(
            c.observe(A.self) { _ in
                heard.add("first")
                tokens.all.forEach { $0.cancel() }
            })
        tokens.add(c.observe(A.self) { _ in heard.add("second") })
        c[A.self] = 2
        c[A.self] = 3
        expect(heard.all, equals: ["first"])
    }

    func equality() {
        let c = Container()
        let heard = Log<Int>()
        c.observe(A.self) { heard.add($0) }
        c.observe(Odd.self) { heard.add($0.n) }
        c[A.self] = 1
        expect(heard.count <= 1)
        heard.removeAll()
        c[A.self] = 1
        expect(heard.all, equals: [])
        c[Odd.self] = Opaque(n: 4)
        c[Odd.self] = Opaque(n: 4)
        expect(heard.all, equals: [4, 4])
        // Setting what is there already counts as set.
        let child = c.child()
        child[A.self] = 1
        c[A.self] = 9
        expect(child[A.self], equals: 1)
    }

    func modifyOfTheDefault() {
        let container = Container()
        let heard = Log<Int>()
        container.observe(A.self) { heard.add($0) }
        container.modify(A.self) { $0 += 1 }
        expect(heard.all, equals: [container[A.self]])
    }

    func modifyInChild() {
        let c = Container()
        let child = c.child()
        child.modify(A.self) { $0 += 1 }
        expect(child[A.self], equals: 2)
        expect(c[A.self], equals: 1)
    }

    func observingInObserver() {
        let c = Container()
        let inner = Log<Int>()
        let once = Counter()
        c.observe(A.self) { _ in if once.add() == 1 { c.observe(A.self) { inner.add($0) } } }
        c[A.self] = 2
        c[A.self] = 3
        expect(inner.all == [3] || inner.all == [2, 3])
        expect(inner.all, equals: [3])
    }

    func shadowing() {
        let c = Container()
        let child = c.child().child()
        let heard = Log<Int>()
        child.observe(A.self) { heard.add($0) }
        c[A.self] = 2
        child[A.self] = 3
        c[A.self] = 4
        child.reset(A.self)
        c.update { $0[A.self] = 5 }
        expect(heard.all, equals: [2, 3, 4, 5])
    }
}
