import Fugu
import FuguInspection
import Support
import Testing

private enum A: Property { static var defaultValue: Int { 1 } }
private enum B: Property { static var defaultValue: Int { 10 } }
private enum Fresh: Property { static var defaultValue: Witness { Witness() } }
private enum LoadsOf: Property { static var defaultValue: Log<String> { Log() } }

private final class Left: Feature, Sendable {
    let n: Int
    init(_ n: Int) { self.n = n }
    static func load(in c: any FeatureContainer) -> Left { c[LoadsOf.self].add("Left"); return Left(c[A.self]) }
    static var reloadsWhenInputsChange: Bool { true }
}
private final class Right: Feature, Sendable {
    let n: Int
    init(_ n: Int) { self.n = n }
    static func load(in c: any FeatureContainer) -> Right { c[LoadsOf.self].add("Right"); return Right(c[A.self] * 2) }
    static var reloadsWhenInputsChange: Bool { true }
}
private final class Top: Feature, Sendable {
    let n: Int
    init(_ n: Int) { self.n = n }
    static func load(in c: any FeatureContainer) -> Top {
        c[LoadsOf.self].add("Top")
        return Top(c[Left.self].n + c[Right.self].n)
    }
    static var reloadsWhenInputsChange: Bool { true }
}
private final class Kept: Feature, Sendable {
    let n: Int
    init(_ n: Int) { self.n = n }
    static func load(in c: any FeatureContainer) -> Kept { Kept(c[A.self]) }
}
private final class OfKept: Feature, Sendable {
    let kept: Kept
    init(_ kept: Kept) { self.kept = kept }
    static func load(in c: any FeatureContainer) -> OfKept { OfKept(c[Kept.self]) }
}
private final class Local: Feature, Sendable {
    static func load(in c: any FeatureContainer) -> Local { Local() }
    static var home: Home { .local }
}
private final class OfLocal: Feature, Sendable {
    let local: Local
    init(_ local: Local) { self.local = local }
    static func load(in c: any FeatureContainer) -> OfLocal { OfLocal(c[Local.self]) }
}
@Suite("Corner cases of families") struct FamilyCornerTests {}

extension FamilyCornerTests {
    static let cases: [Case<FamilyCornerTests>] = [
        Case(
            "A diamond is loaded once at each of its corners, in a child that overrides its root too (laws 15, 16)",
            diamond),
        Case("A diamond that reloads is built once for each change (law 19)", reload),
        Case("A feature that doesn't reload stays and is stale (law 19)", stale),
        Case("An override two levels up, of a feature that was set, and late (law 16)", overrides),
        Case("An instance that reads something local is local (law 15)", local),
        Case("A copy takes what was set, nearest first, the last winning, and nothing loaded (law 18)", copies),
        Case("A child keeps its parent alive, a parent not its child (law 8)", lifetimes),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<FamilyCornerTests>) async throws { try await stated.run(self) }

    func diamond() {
        let c = Container()
        let log = c[LoadsOf.self]
        expect(c[Top.self].n, equals: 3)
        expect(log.removeAll().sorted(), equals: ["Left", "Right", "Top"])
        let child = c.child { $0[A.self] = 2 }
        expect(child[Top.self].n, equals: 6)
        expect(child[Top.self] !== c[Top.self])
        expect(log.removeAll().sorted(), equals: ["Left", "Right", "Top"])
        let grandchild = child.child()
        expect(grandchild[Top.self], is: child[Top.self])
        grandchild[B.self] = 5
        expect(grandchild[Top.self], is: child[Top.self])
        grandchild[A.self] = 1
        expect(grandchild[Top.self].n, equals: 3)
        grandchild.reset(A.self)
        expect(grandchild[Top.self], is: child[Top.self])
        child.reset(A.self)
        expect(grandchild[Top.self], is: c[Top.self])
    }

    func reload() {
        let c = Container()
        let log = c[LoadsOf.self]
        let heard = Log<Int>()
        c.observe(Top.self) { heard.add($0.n) }
        _ = c[Top.self]
        log.removeAll()
        c[A.self] = 5
        expect(log.removeAll().sorted(), equals: ["Left", "Right", "Top"])
        expect(heard.all, equals: [3, 15])
        c.update {
            $0[A.self] = 6
            $0[A.self] = 7
        }
        expect(log.removeAll().sorted(), equals: ["Left", "Right", "Top"])
        expect(heard.all, equals: [3, 15, 21])
    }

    func stale() throws {
        let c = Container()
        let of = c[OfKept.self]
        c[A.self] = 2
        expect(c[OfKept.self], is: of)
        let entries = c.graph.entries
        expect(entries.first { $0.name == "Kept" }?.isStale, equals: true)
        expect(entries.first { $0.name == "A" }?.state, equals: .set)
        c.reset(Kept.self)
        expect(c[Kept.self].n, equals: 2)
        expect(c[OfKept.self], is: of)
        expect(c.graph.entries.first { $0.name == "OfKept" }?.isStale, equals: true)
    }

    func overrides() {
        let c = Container()
        let middle = c.child()
        let leaf = middle.child()
        let shared = leaf[OfKept.self]
        expect(c.ifLoaded(OfKept.self), is: shared)
        middle[Kept.self] = Kept(99)
        expect(leaf[OfKept.self].kept.n, equals: 99)
        expect(middle[OfKept.self], is: leaf[OfKept.self])
        expect(c[OfKept.self], is: shared)
        middle.replace(Kept.self) { Kept($0[A.self] + 100) }
        expect(leaf[Kept.self].n, equals: 101)
        leaf[A.self] = 7
        expect(leaf[Kept.self].n, equals: 107)
        expect(middle[Kept.self].n, equals: 101)
        middle.reset(Kept.self)
        expect(middle[OfKept.self], is: shared)
        expect(leaf[OfKept.self].kept.n, equals: 7)
    }

    func local() {
        let c = Container()
        let one = c.child(), two = c.child()
        expect(one[Local.self] !== two[Local.self])
        expect(one[Local.self] !== c[Local.self])
        expect(one[OfLocal.self].local, is: one[Local.self])
        expect(one[OfLocal.self], is: one[OfLocal.self])
        expect(one[OfLocal.self] !== two[OfLocal.self])
        expect(c[OfLocal.self].local, is: c[Local.self])
    }

    func copies() {
        let c = Container()
        c[A.self] = 2
        let child = c.child { $0[B.self] = 20 }
        let other = Container()
        other[A.self] = 3
        let kept = child[Kept.self]
        let copy = Container(copying: child, other)
        expect(copy[A.self], equals: 3)
        expect(copy[B.self], equals: 20)
        expect(copy.ifLoaded(Kept.self) == nil)
        expect(copy[Kept.self] !== kept)
        expect(copy[Kept.self].n, equals: 3)
        c[A.self] = 8
        expect(copy[A.self], equals: 3)
        copy.reset(A.self)
        expect(copy[A.self], equals: 1)
        let set = Container()
        set.replace(Kept.self) { Kept($0[A.self] * 1000) }
        expect(Container(copying: set, c)[Kept.self].n, equals: 8000)
    }

    func lifetimes() {
        weak var parent: Container?
        weak var child: Container?
        var grandchild: Container?
        do {
            let c = Container()
            parent = c
            let middle = c.child()
            child = middle
            grandchild = middle.child()
        }
        expect(parent != nil)
        expect(child != nil)
        grandchild = nil
        expect(parent == nil)
        expect(child == nil)
        expect(grandchild == nil)
    }

    @Test("A value that is replaced, reset, or closed is released at once (law 8)")
    func releases() async throws {
        let c = Container()
        weak var first: Witness?
        weak var second: Witness?
        do {
            let one = Witness()
            first = one
            c[Fresh.self] = one
        }
        expect(first != nil)
        c.update { changes in
            let two = Witness()
            second = two
            changes[Fresh.self] = two
        }
        expect(first == nil)
        expect(second != nil)
        let child = c.child()
        _ = child[Fresh.self]
        c.reset(Fresh.self)
        expect(second == nil)
        weak var kept: Kept?
        do { kept = c[Kept.self] }
        expect(kept != nil)
        try await c.close()
        expect(kept == nil)
    }

    @Test("A scope's rules see what earlier ones set, code wins, and a scope nobody holds is computed anew (law 21)")
    func rules() {
        let c = Container()
        c.configureScopes("/a/**") { $0[A.self] += 1 }
        let inner = c.child()
        inner.configureScopes("/a/*") { $0[A.self] *= 10 }
        let scope = inner.scope("/a/b")
        expect(scope[A.self], equals: 20)
        scope[A.self] = 5
        c.configureScopes("**") { $0[B.self] = $0[A.self] }
        expect(scope[A.self] == 5 && scope[B.self] == 20 || scope[B.self] == 2)
        scope.reset(A.self)
        expect(scope[A.self], equals: 20)
        c[A.self] = 3
        expect(scope[A.self], equals: 20)
        inner.invalidateScopes()
        expect(scope[A.self], equals: 40)
        let heard = Log<Int>()
        scope.observe(A.self) { heard.add($0) }
        c[A.self] = 4
        c.invalidateScopes()
        expect(heard.all, equals: [50])
    }

    @Test("A hundred loads may be nested; more than the stack has room for are reported (law 6)")
    func depth() async {
        func keys(_ count: Int) -> FeatureKey<Int> {
            var next = FeatureKey(id: 0) { _ in 0 }
            for number in 1..<count { next = FeatureKey(id: number) { [next] in $0[next] + 1 } }
            return next
        }
        expect(Container()[keys(100)], equals: 99)
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var next = FeatureKey { _ in 0 }
            for number in 1..<50_000 { next = FeatureKey(id: number) { [next] in $0[next] + 1 } }
            _ = Container()[next]
        }
        expectMessage(of: result, "the stack has no room for more")
    }
}
