import Fugu
import Observation
import Support
import Testing

/// Law 10: children and parents.
struct ChildrenTests {}

extension ChildrenTests {
    struct Size: Property { static var defaultValue: Int { 1 } }
    struct Title: Property { static var defaultValue: String { "untitled" } }
    struct Nickname: Property { static var defaultValue: String? { "none" } }
    struct Greeter: Feature {
        let text: String
        static func load(in container: any FeatureContainer) -> Greeter {
            Greeter(text: "Hello, \(container[Title.self])")
        }
    }

    private static let held: [String: Drawing.Held] = [
        "size": .property(Size.self), "title": .property(Title.self), "greeter": .instance(greeter),
    ]
    private static let greeter = FeatureKey { Thing("Hello, \($0[Title.self])", $0) }

    @Test("A value that is set in a child, nil too, stays there and hides the parent's (laws 1, 10)")
    func setStays() {
        // A value set in a child stays there.
        do {
            Drawing(
                """
                root               → 1
                  child    size=7  → 7
                    below          → 7
                  sibling          → 1
                """, Self.held, reading: { $0[Size.self] })
            Drawing(
                """
                root                  → root: Hello, untitled
                  child    greeter=Hi → child: Hi
                    below             → child: Hi
                  sibling             → root: Hello, untitled
                """, Self.held
            ) { $0[Self.greeter] }
        }
        // A child that sets nil hides its parent's value.
        do {
            let root = Container()
            root[Nickname.self] = "Ada"
            let child = root.child { $0[Nickname.self] = nil }
            expect(child[Nickname.self] == nil)
            expect(root[Nickname.self], equals: "Ada")
            child.reset(Nickname.self)
            expect(child[Nickname.self], equals: "Ada")
        }
    }

    @Test("A child sees what its parent is set to, before and after it has read it, until it sets it itself (law 10)")
    func seesParent() {
        // A child sees what its parent is set to, before and after it has read it.
        do {
            let title = Drawing(
                """
                root            title=A → A
                  child
                    grandchild          → A
                """, Self.held, reading: { $0[Title.self] })
            title.show(
                """
                root            title=B → B
                  child                 → B
                    grandchild          → B
                """)
            title.show(
                """
                root                    → untitled
                  child                 → untitled
                    grandchild          → untitled
                """)
            Drawing(
                """
                root            greeter=set → root: set
                  child                     → root: set
                    grandchild              → root: set
                """, Self.held
            ) { $0[Self.greeter] }
        }
        // A child that set it itself does not see the parent's changes until it resets it.
        do {
            let family = Drawing(
                """
                root     size=3 → 3
                  child  size=2 → 2
                """, Self.held, reading: { $0[Size.self] })
            family.show(
                """
                root     size=4 → 4
                  child  size=2 → 2
                """)
            family.show(
                """
                root     size=4 → 4
                  child         → 4
                """)
        }
    }

    @Test("A child is configured at birth, and one whose configuration throws leaves nothing behind (law 10)")
    func configuredAtBirth() throws {
        struct Refused: Error {}
        let root = Container()
        let child = root.child { $0[Size.self] = 5 }
        expect(child[Size.self], equals: 5)
        #expect(throws: Refused.self) {
            _ = try root.child { (container: Container) throws(Refused) in
                container[Size.self] = 6
                throw Refused()
            }
        }
        expect(root[Size.self], equals: 1)
    }

    @Test("Set and reset on every level are seen below at once, eight generations deep (law 10)")
    func everyLevel() {
        var line = [Container()]
        for _ in 0..<8 { line.append(line.last!.child()) }
        func expected(_ values: [Int: Int], _ level: Int) -> Int {
            (0...level).reversed().lazy.compactMap { values[$0] }.first ?? 1
        }
        var random = SeededGenerator(seed: 14)
        var values: [Int: Int] = [:]
        for step in 0..<400 {
            let level = Int.random(in: 0...8, using: &random)
            if Bool.random(using: &random) {
                line[level][Size.self] = step
                values[level] = step
            } else {
                line[level].reset(Size.self)
                values[level] = nil
            }
            // Those not read now have an outdated link to be seen through later.
            for reader in 0...8 where Bool.random(using: &random) {
                expect(line[reader][Size.self], equals: expected(values, reader))
            }
        }
    }

    @Test(
        "Observers of children hear the parent's changes, of a value or a set feature, unless they are shadowed (law 10)"
    )
    func observersHearParents() {
        // Observers of children hear the parent's changes unless they are shadowed.
        do {
            let root = Container()
            let middle = root.child()
            let child = middle.child()
            let sibling = root.child()
            let heard = Log<String>()
            for (name, container) in [("root", root), ("middle", middle), ("child", child), ("sibling", sibling)] {
                container.observe(Size.self) { heard.add("\(name) \($0)") }
            }
            root[Size.self] = 2
            expect(Set(heard.all), equals: ["root 2", "middle 2", "child 2", "sibling 2"])
            middle[Size.self] = 3
            expect(Set(heard.all.dropFirst(4)), equals: ["middle 3", "child 3"])
            root[Size.self] = 4
            expect(Set(heard.all.dropFirst(6)), equals: ["root 4", "sibling 4"])
            middle.reset(Size.self)
            expect(Set(heard.all.dropFirst(8)), equals: ["middle 4", "child 4"])
            expect(heard.all.count, equals: 10)
        }
        // Observers of children hear of a feature that was set in the parent.
        do {
            let root = Container()
            let child = root.child()
            let shadowed = root.child { $0[Greeter.self] = Greeter(text: "own") }
            let heard = Log<String>()
            child.observe(Greeter.self) { heard.add($0.text) }
            shadowed.observe(Greeter.self) { heard.add("shadowed \($0.text)") }
            root[Greeter.self] = Greeter(text: "set")
            expect(heard.all, equals: ["set"])
        }
    }

    @Test(
        "The values of a child's property and its observable follow the parent, unless the child hides the key (law 10)"
    )
    func valuesFollow() async {
        // The values of a child's property follow the parent.
        do {
            let root = Container()
            let child = root.child()
            var values = child.values(of: Size.self).makeAsyncIterator()
            await expect(values.next(isolation: nil), equals: 1)
            root[Size.self] = 2
            await expect(values.next(isolation: nil), equals: 2)
            child[Size.self] = 3
            await expect(values.next(isolation: nil), equals: 3)
            root[Size.self] = 4
            child.reset(Size.self)
            await expect(values.next(isolation: nil), equals: 4)
        }
        // A child's observable follows the parent, unless the child hides the key.
        do {
            let root = Container()
            let child = root.child()
            let changes = Counter()
            func track() {
                withObservationTracking {
                    _ = child.observable[Size.self]
                } onChange: {
                    changes.add()
                }
            }
            track()
            root[Size.self] = 2
            expect(changes.value, equals: 1)
            child[Size.self] = 3
            track()
            root[Size.self] = 4
            expect(changes.value, equals: 1)
        }
    }

    @Test("A child keeps its parent alive, and nothing keeps a child (laws 7, 10)")
    func lifetimes() {
        let alive = Counter()
        struct Held: Property { static var defaultValue: Token? { nil } }
        weak var root: Container?
        weak var middle: Container?
        weak var child: Container?
        do {
            var strongRoot: Container? = Container()
            root = strongRoot
            root![Held.self] = Token(1, alive: alive)
            var strongMiddle: Container? = strongRoot!.child { $0[Held.self] = Token(2, alive: alive) }
            middle = strongMiddle
            var strongChild: Container? = strongMiddle!.child { $0[Held.self] = Token(3, alive: alive) }
            child = strongChild
            strongRoot = nil
            strongMiddle = nil
            expect(root != nil)
            expect(middle != nil)
            expect(alive.value, equals: 3)
            strongChild!.reset(Held.self)
            expect(strongChild![Held.self]!.number, equals: 2)
            strongChild = nil
        }
        expect(child == nil)
        expect(middle == nil)
        expect(root == nil)
        expect(alive.value, equals: 0)
    }

    @Test("A child that is released releases what it held, while its parent lives on (laws 7, 10)")
    func childReleases() {
        struct Request: Property { static var defaultValue: Int { 0 } }
        struct Handler: Feature {
            let token: Token
            let handle: any FeatureContainer
            static func load(in container: any FeatureContainer) -> Handler {
                Handler(token: Token(container[Request.self], alive: handlersAlive), handle: container)
            }
        }
        let root = Container()
        for number in 1...3 {
            let child = root.child { $0[Request.self] = number }
            expect(child[Handler.self].token.number, equals: number)
            expect(handlersAlive.value, equals: 1)
        }
        expect(handlersAlive.value, equals: 0)
        withExtendedLifetime(root) {}
    }
}

private let handlersAlive = Counter()
