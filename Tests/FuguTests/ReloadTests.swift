@testable import Fugu
import FuguInspection
import Support
import Testing

/// Law 12: kept unless asked.
struct ReloadTests {}

extension ReloadTests {
    struct Size: Property { static var defaultValue: Int { 1 } }
    struct Color: Property { static var defaultValue: String { "red" } }

    final class Kept: Feature, Sendable {
        let size: Int
        init(_ size: Int) { self.size = size }
        static func load(in container: any FeatureContainer) -> Kept { Kept(container[Size.self]) }
    }
    final class Live: Feature, Sendable {
        let size: Int
        init(_ size: Int) { self.size = size }
        static func load(in container: any FeatureContainer) -> Live { Live(container[Size.self]) }
        static var reloadsWhenInputsChange: Bool { true }
    }

    @Test("When an input changes, a feature stays as it is and is marked stale in the graph (law 12)")
    func kept() {
        let key = FeatureKey(id: UniqueID()) { Thing($0[Size.self], $0) }
        let family = Drawing(
            """
            root               → root: 1
              child            → root: 1
            """, ["size": .property(Size.self)], order: .asDrawn
        ) { $0[key] }
        let root = family["root"]
        func isStale() -> Bool { root.graph.entries.contains { $0.state == .loaded && $0.isStale } }
        expect(!isStale())
        family.show(
            """
            root       size=2  → root kept: 1
              child            → root kept: 1
            """)
        expect(isStale())
        root.reset { _ in key }
        family.show(
            """
            root       size=2  → root new: 2
              child            → root new: 2
            """)
        expect(!isStale())
    }

    @Test(
        "If an input changes during the load, its readers get the instance, which isn't kept (law 4)",
        arguments: [false, true])
    func changedDuringLoad(reloads: Bool) {
        let (began, goOn, loads) = (Gate(), Gate(), Counter())
        let key = FeatureKey(reloadsWhenInputsChange: reloads, id: UniqueID()) { container in
            let size = container[Size.self]
            loads.add()
            began.open()
            goOn.wait()
            return Token(size)
        }
        let above = FeatureKey(id: UniqueID()) { $0[key] }
        let root = Container()
        let worker = startThread { expect(root[above].number, equals: 1) }
        began.wait()
        root[Size.self] = 2
        goOn.open()
        worker.wait()
        expect(root.ifLoaded { _ in key } == nil && root.ifLoaded { _ in above } == nil)
        expect(root[above].number == 2 && root[above] === root[key])
        expect(loads.value, equals: 2)
    }

    @Test(
        "Who waits for a load whose input changes looks again, and who comes later doesn't join it (law 4)",
        arguments: [false, true])
    func waitersOfAnOutdatedLoad(hasLaterReader: Bool) {
        let (began, goOn, loads) = (Gate(), Gate(), Counter())
        let key = FeatureKey(id: UniqueID()) { container in
            let size = container[Size.self]
            if loads.add() == 1 {
                began.open()
                goOn.wait()
            }
            return Token(size)
        }
        let root = Container()
        let (own, waiting) = (Log<Token>(), Log<Token>())
        let first = startThread { own.add(root[key]) }
        began.wait()
        let second = startThread { waiting.add(root.child()[key]) }
        root.awaitWaiters(1, for: key)
        root[Size.self] = 2
        if hasLaterReader { expect(root[key].number, equals: 2) }
        goOn.open()
        first.wait()
        second.wait()
        // What another load has kept by then wins.
        expect(own.all[0].number, equals: hasLaterReader ? 2 : 1)
        expect(waiting.all[0], is: root[key])
        expect(loads.value, equals: 2)
    }

    @Test(
        "Readers get an instance though each load finds that an input has changed; none is kept (law 4)",
        arguments: [false, true])
    func changedInEachLoad(reloads: Bool) {
        let root = Container().unreported
        let loads = Counter()
        let key = FeatureKey(reloadsWhenInputsChange: reloads, id: UniqueID()) { container in
            let size = container[Size.self]
            loads.add()
            onAnotherThread { root[Size.self] = size + 1 }
            return Token(size)
        }
        let above = FeatureKey(id: UniqueID()) { Token($0[key].number * 10) }
        for size in 1...3 { expect(root[key].number, equals: size) }
        expect(root[above].number, equals: 40)
        expect(root.child()[above].number, equals: 50)
        expect(root.ifLoaded { _ in above } == nil && loads.value == 5)
    }

    private static let live = FeatureKey(reloadsWhenInputsChange: true) { Thing($0[Size.self], $0) }

    @Test("A feature that reloads is dropped when an input changes, and loaded again at the next read (law 12)")
    func reloads() {
        let family = Drawing(
            """
            root               → root: 1
              child            → root: 1
              other    size=7  → other: 7
            """, ["size": .property(Size.self)]
        ) { $0[Self.live] }
        family.show(
            """
            root       size=2  → root new: 2
              child            → root new: 2
              other    size=7  → other kept: 7
            """)
        family.show(
            """
            root               → root new: 1
              child            → root new: 1
              other    size=8  → other new: 8
            """)
        family["root"].modify(Size.self) { $0 += 4 }
        expect(family["root"].ifLoaded { _ in Self.live } == nil)
        expect(family["root"][Self.live].text, equals: "5")
    }

    @Test("Setting an input to what it already is reloads nothing, nor does a change that is none (laws 9, 12)")
    func equalSet() {
        let root = Container()
        for _ in 1...2 {
            root[Size.self] = 1
            root[Color.self] = "blue"
        }
        let live = root[Live.self]
        root[Size.self] = 1
        root.modify(Size.self) { _ in }
        root[Color.self] = "blue"
        root.child().reset(Size.self)
        root.update { $0[Size.self] = 1 }
        expect(root[Live.self], is: live)
    }

    @Test("A feature that doesn't reload ends the chain: it stays, and so do those made from it (law 12)")
    func chainEndsAtKept() {
        let middle = FeatureKey { Token($0[Size.self]) }
        let top = FeatureKey(reloadsWhenInputsChange: true) { Token($0[middle].number) }
        let root = Container().unreported
        let (before, made) = (root[middle], root[top])
        root[Size.self] = 2
        expect(root[middle], is: before)
        expect(root[top], is: made)
        root.reset { _ in middle }
        expect(root[top] !== made)
        expect(root[top].number, equals: 2)
    }

    /// A diamond of features that reload: top from left and right, both from bottom.
    private struct Diamond {
        let loads = Log<String>()
        let (bottom, left, right, top): (FeatureKey<Token>, FeatureKey<Token>, FeatureKey<Token>, FeatureKey<Token>)

        init() {
            let loads = loads
            let bottom = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { container in
                loads.add("bottom")
                return Token(container[Size.self] * 1000 + container[Color.self].count)
            }
            let left = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { container in
                loads.add("left")
                return Token(container[bottom].number + 1)
            }
            let right = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { container in
                loads.add("right")
                return Token(container[bottom].number + 2)
            }
            top = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { container in
                loads.add("top")
                return Token(container[left].number + container[right].number)
            }
            (self.bottom, self.left, self.right) = (bottom, left, right)
        }
    }

    @Test("A diamond of what reloads is built once, at the next read, and at once if it is observed (laws 6 and 12)")
    func diamond() {
        // A diamond of what reloads is built once after a change.
        do {
            let diamond = Diamond()
            let root = Container()
            expect(root[diamond.top].number, equals: 2009)
            root[Size.self] = 2
            expect(root.ifLoaded { _ in diamond.left } == nil)
            expect(root.ifLoaded { _ in diamond.top } == nil)
            expect(root[diamond.top].number, equals: 4009)
            expect(diamond.loads.all.count, equals: 8)
        }
        // An observed diamond is built at once, each part once, and each observer hears once.
        do {
            let diamond = Diamond()
            let root = Container()
            _ = root[diamond.top]
            let heard = Log<String>()
            root.observe({ _ in diamond.top }) { heard.add("top \($0.number)") }
            root.observe({ _ in diamond.left }) { heard.add("left \($0.number)") }
            root.observe({ _ in diamond.bottom }) { heard.add("bottom \($0.number)") }
            root[Size.self] = 2
            expect(diamond.loads.all.count, equals: 8)
            expect(heard.all.sorted(), equals: ["bottom 2003", "left 2004", "top 4009"])
        }
        // An update of several inputs reloads what is observed once.
        do {
            let diamond = Diamond()
            let root = Container()
            _ = root[diamond.top]
            let heard = Log<Int>()
            root.observe({ _ in diamond.top }) { heard.add($0.number) }
            root.update {
                $0[Size.self] = 3
                $0[Color.self] = "green"
            }
            expect(diamond.loads.all.count == 8 && heard.all == [6013])
        }
    }

    @Test(
        "A feature that reloads and is observed is loaded before the set returns, unless it was never loaded (law 12)")
    func eager() {
        // A feature that reloads and is observed is loaded at once, before the set returns.
        do {
            let root = Container()
            _ = root[Live.self]
            let heard = Log<Int>()
            let token = root.observe(Live.self) { heard.add($0.size) }
            root[Size.self] = 2
            expect(heard.all, equals: [2])
            expect(root.ifLoaded(Live.self)?.size, equals: 2)
            token.cancel()
            root[Size.self] = 3
            expect(heard.all, equals: [2])
            expect(root.ifLoaded(Live.self) == nil)
        }
        // A change doesn't load a feature that is observed but was never loaded.
        do {
            let root = Container()
            let heard = Counter()
            root.observe(Live.self) { _ in heard.add() }
            root[Size.self] = 2
            expect(root.ifLoaded(Live.self) == nil)
            expect(heard.value, equals: 0)
        }
    }

    @Test(
        "A child hears of the reload of what it shares, and of the instance that the end of its override uncovers (laws 9, 10, 12)"
    )
    func childrenHear() {
        // A child that shares what reloads hears of its reload, and one with its own does not.
        do {
            let root = Container()
            let sharing = root.child()
            let own = root.child { $0[Size.self] = 10 }
            _ = (sharing[Live.self], own[Live.self])
            let heard = Log<String>()
            sharing.observe(Live.self) { heard.add("sharing \($0.size)") }
            own.observe(Live.self) { heard.add("own \($0.size)") }
            root[Size.self] = 2
            expect(heard.all, equals: ["sharing 2"])
            own[Size.self] = 11
            expect(heard.all, equals: ["sharing 2", "own 11"])
        }
        // When the override ends, observers of the copy receive the parent's instance.
        do {
            let root = Container()
            let child = root.child { $0[Size.self] = 7 }
            let shared = root[Live.self]
            _ = child[Live.self]
            let heard = Log<Live>()
            child.observe(Live.self) { heard.add($0) }
            child.reset(Size.self)
            expect(child[Live.self], is: shared)
            expect(heard.all.count, equals: 1)
            expect(heard.all.first, is: shared)
        }
        // A first load in the parent is not heard by a child that has its own.
        do {
            let root = Container()
            let child = root.child { $0[Size.self] = 7 }
            _ = child[Kept.self]
            let heard = Log<Int>()
            child.observe(Kept.self) { heard.add($0.size) }
            _ = root[Kept.self]
            root.reset(Kept.self)
            _ = root[Kept.self]
            expect(heard.all.isEmpty)
        }
    }

    @Test("All who observe what was shared have theirs at once, though they share no more (laws 10, 12)")
    func sharersPartAtReload() {
        let live = FeatureKey(reloadsWhenInputsChange: true) { container in
            Token(container[Size.self] == 1 ? 0 : container[Color.self].count)
        }
        let root = Container()
        let heard = Log<Int>()
        let children = ["a", "bb", "ccc"].map { color in root.child { $0[Color.self] = color } }
        defer { withExtendedLifetime(children) {} }
        for child in children {
            expect(child[live], is: root[live])
            child.observe({ _ in live }) { heard.add($0.number) }
        }
        root[Size.self] = 2
        expect(heard.all.sorted(), equals: [1, 2, 3])
    }

    @Test("Children that observe may go away while the parent changes (laws 7, 12)")
    func observersGoAway() {
        let root = Container()
        _ = root[Live.self]
        let isDone = Locked(false)
        let changing = startThread {
            var size = 0
            while !isDone.withLock({ $0 }) {
                size += 1
                root[Size.self] = size
            }
        }
        for _ in 0..<300 {
            let child = root.child()
            child.observe(Live.self) { _ in }
            _ = child[Live.self]
        }
        isDone.withLock { $0 = true }
        changing.wait()
        expect(root[Live.self].size, equals: root[Size.self])
    }

    @Test("A closed container loads nothing eagerly (laws 12, 18)")
    func closedStaysClosed() async throws {
        let root = Container()
        _ = root[Live.self]
        let heard = Counter()
        root.observe(Live.self) { _ in heard.add() }
        try await root.close()
        root[Size.self] = 2
        root[Live.self] = Live(9)
        root.reset(Live.self)
        expect(heard.value, equals: 1)
    }

    @Test("A local input that the parent sets reloads what was made from it (laws 10, 11, 12)")
    func localInputSet() {
        let local = FeatureKey(home: .local) { _ in Token(1) }
        let live = FeatureKey(reloadsWhenInputsChange: true) { Token($0[local].number) }
        let root = Container()
        let child = root.child()
        expect(child[live].number, equals: 1)
        root[local] = Token(2)
        expect(child[live].number, equals: 2)
        expect(child[live], is: root[live])
    }

    @Test(
        "An override between a feature's home and its input's reloads it, and below a replaced loader too (laws 10, 12)"
    )
    func overrideBetween() {
        // An override between a feature's home and its input's reloads it.
        do {
            let base = FeatureKey { Token($0[Size.self]) }
            let live = FeatureKey(reloadsWhenInputsChange: true) { Token($0[base].number + $0[Color.self].count) }
            let root = Container()
            let middle = root.child()
            let child = middle.child { $0[Color.self] = "" }
            expect(child[live].number, equals: 1)
            middle[Size.self] = 50
            expect(child[live].number, equals: 50)
            middle.reset(Size.self)
            expect(child[live].number, equals: 1)
            expect(root[base].number, equals: 1)
        }
        // So does one that hides an instance that a replaced loader made above.
        do {
            let live = FeatureKey(reloadsWhenInputsChange: true, home: .local, id: UniqueID()) { $0[Kept.self].size }
            let root = Container()
            root.replace(Kept.self) { Kept($0[Size.self] * 10) }
            let middle = root.child()
            let below = middle.child()
            expect(below[live], equals: 10)
            middle[Size.self] = 7
            expect(below[live], equals: 70)
        }
    }

    struct Rooted: Feature {
        static var home: Home { .shared }
        let size: Int
        static func load(in container: any FeatureContainer) -> Rooted { Rooted(size: container[Size.self]) }
        static var reloadsWhenInputsChange: Bool { true }
    }

    @Test("A plain feature that fails to reload for its observers is reported, and stops no program (laws 4, 12)")
    func failedPlainReload() async throws {
        // A failed reload of a plain feature for its observers is reported: no set stops the program.
        do {
            let root = Container()
            let reports = Log<String>()
            root.node.family.reports.handle { reports.add($0) }
            let child = root.child()
            child.observe(Rooted.self) { _ in }
            _ = child[Rooted.self]
            child[Size.self] = 5
            expect(reports.all.count == 1 && reports.all[0].contains("Rooted → Size"), "\(reports.all)")
            child.reset(Size.self)
            expect(child[Rooted.self].size, equals: 1)
        }
        // Nor does a change that leaves an observed plain feature without an async one that it needs.
        do {
            let root = Container()
            let reports = Log<String>()
            root.node.family.reports.handle { reports.add($0) }
            root.observe(NeedsSlow.self) { _ in }
            try await root.warmUp { $0.load(Slow.self) }
            expect(root[NeedsSlow.self].size, equals: 1)
            root[Size.self] = 5
            expect(reports.all.count == 1 && reports.all[0].contains("Path: NeedsSlow → Slow"), "\(reports.all)")
            expect(root.ifLoaded(NeedsSlow.self) == nil)
            try await root.warmUp { $0.load(Slow.self) }
            expect(root[NeedsSlow.self].size, equals: 5)
        }
    }

    struct NeedsSlow: Feature {
        let size: Int
        static func load(in container: any FeatureContainer) -> NeedsSlow {
            NeedsSlow(size: container.loaded(Slow.self).size)
        }
        static var reloadsWhenInputsChange: Bool { true }
    }

    struct Slow: AsyncFeature {
        let size: Int
        static func load(in container: any FeatureContainer) async throws -> Slow {
            await Task.yield()
            return Slow(size: container[Size.self])
        }
        static var reloadsWhenInputsChange: Bool { true }
    }

    @Test("A main-actor feature loads at the next read, even if the main actor isn't free (laws 8, 12)")
    @MainActor func mainActor() async {
        let root = Container()
        let first = root[Screen.self]
        let heard = Log<Int>()
        root.observe(Screen.self) { heard.add($0.size) }
        root[Size.self] = 2
        expect(heard.all.isEmpty)
        expect(root.ifLoaded(Screen.self) == nil)
        let second = root[Screen.self]
        expect(second !== first)
        expect(second.size, equals: 2)
        await expect(heard.first(1), equals: [2])
        await Task { @MainActor in }.value
        expect(root[Screen.self] === second && heard.all == [2])
    }

    @MainActor final class Screen: MainActorFeature {
        let size: Int
        init(_ size: Int) { self.size = size }
        static func load(in container: any FeatureContainer) -> Screen { Screen(container[Size.self]) }
        static var reloadsWhenInputsChange: Bool { true }
    }

    @Test("A thousand children's copies that reload are dropped by one set of the parent (laws 10, 12)")
    func manyCopies() {
        let live = FeatureKey(reloadsWhenInputsChange: true) { Token($0[Size.self] * 10_000 + $0[Color.self].count) }
        let root = Container()
        let children = (0..<1000).map { number in root.child { $0[Color.self] = String(repeating: "x", count: number) }
        }
        for child in children { _ = child[live] }
        root[Size.self] = 2
        expect(children.allSatisfy { $0.ifLoaded { _ in live } == nil })
        expect(children.enumerated().allSatisfy { $1[live].number == 20_000 + $0 })
    }

    @Test("Whatever happens at once, what reloads is in the end made from what is there (law 12)")
    func settlesUnderThreads() {
        let diamond = Diamond()
        let root = Container()
        let children = (0..<4).map { number in root.child { $0[Color.self] = String(repeating: "x", count: number) } }
        onThreads(6) { index in
            for step in 1...100 {
                if index < 2 {
                    root[Size.self] = index * 100 + step
                } else {
                    _ = children[index - 2][diamond.top]
                }
            }
        }
        for (number, child) in children.enumerated() {
            expect(child[diamond.top].number, equals: 2 * (root[Size.self] * 1000 + number) + 3)
        }
    }
}
