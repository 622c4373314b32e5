import Fugu
import Support
import Testing

/// A set of an equal value changes nothing, a reset does (laws 9, 12, and 13).
struct ObserverEqualValuesTests {}

extension ContainerKeys {
    fileprivate var base: PropertyKey<Int> { .init(defaultValue: 1) }
    fileprivate var constant: PropertyKey<Int> { .init(defaultValue: 5) }
    fileprivate var computed: PropertyKey<Int> { .init(defaultValue: Container.current.base + 10) }
    fileprivate var computedText: PropertyKey<[String]> { .init(defaultValue: ["\(Container.current.base)"]) }
    fileprivate var port: PropertyKey<Int> { .init(defaultValue: 80) }
    fileprivate var address: PropertyKey<Int> { .init(defaultValue: Container.current.port + 1) }
    fileprivate var client: FeatureKey<Token> { .init(reloadsWhenInputsChange: true) { Token($0.address) } }
    fileprivate var reader: FeatureKey<Token> {
        .init(reloadsWhenInputsChange: true) {
            Token($0.constant + $0.computed + $0.computedText.count + $0[ObserverEqualValuesTests.Size.self])
        }
    }
}

extension ObserverEqualValuesTests {
    struct Size: Property { static var defaultValue: Int { Container.current.base * 2 } }

    /// What observers of everything have heard, and the instance that reloads.
    private struct Watched {
        let container = Container().unreported
        let heard = Log<String>()
        let first: Token

        init() {
            let heard = heard
            container.observe(\.constant) { heard.add("constant \($0)") }
            container.observe(\.computed) { heard.add("computed \($0)") }
            container.observe(\.computedText) { heard.add("text \($0)") }
            container.observe(Size.self) { heard.add("size \($0)") }
            container.observe(\.reader) { heard.add("reader \($0.number)") }
            first = container.reader
            heard.removeAll()
        }

        func expectNothing(line: Int = #line) {
            expect(heard.all, equals: [], line: line)
            expect(container.reader, is: first, line: line)
        }
    }

    @Test("Setting a key again to an equal value changes nothing, and for the first time it does (laws 9, 11, and 12)")
    func sets() {
        // Setting a key again to an equal value changes nothing.
        do {
            let watched = Watched()
            for _ in 1...2 {
                watched.container.constant = 6
                watched.container.computedText = ["2"]
                watched.container[Size.self] = 3
            }
            expect(
                watched.heard.all.filter { !$0.hasPrefix("reader") }, equals: ["constant 6", "text [\"2\"]", "size 3"])
            let reader = watched.container.reader
            watched.heard.removeAll()
            watched.container.update {
                $0.constant = 6
                $0.computedText = ["2"]
            }
            watched.container.modify(Size.self) { $0 += 0 }
            expect(watched.heard.all.isEmpty)
            expect(watched.container.reader, is: reader)
        }
        // Setting a key for the first time is a change, even to the value of its default.
        do {
            let watched = Watched()
            watched.container.computed = 11
            expect(watched.heard.all, equals: ["computed 11", "reader 19"])
            expect(watched.container.reader !== watched.first)
            // So nothing depends on the inputs of the default that it hides.
            watched.container.base = 3
            expect(watched.heard.all.filter { $0.hasPrefix("computed") }, equals: ["computed 11"])
            watched.container.constant = 5
            expect(watched.heard.all.last, equals: "reader 23")
        }
    }

    @Test("What was loaded before a set of a computed default doesn't keep the default's inputs (laws 9, 10, and 11)")
    func inputsOfTheDefault() throws {
        for value in [81, 82] {
            let app = Container()
            _ = try (app[Shared.self], app.client)
            app.address = value
            // The child sees the address of the parent, so the port is no input of either.
            let child = app.child { $0.port = 5 }
            try expect(child[Shared.self].number, equals: value)
            expect(child.client, is: app.client)
        }
    }

    struct Shared: ThrowingFeature {
        static var home: Home { .shared }
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) throws -> Token { Token(container.address) }
    }

    @Test(
        "A reset of a default that was read is one change, alone, in an update, and with all others (laws 6, 9, 12, and 13)"
    )
    func resets() {
        // A reset of a default that was read is a change, even if it stays equal.
        do {
            let watched = Watched()
            watched.container.reset(\.constant)
            expect(watched.heard.all.sorted(), equals: ["constant 5", "reader 19"])
            expect(watched.container.reader !== watched.first)
            watched.heard.removeAll()
            watched.container.update {
                $0.reset(\.computed)
                $0.reset(Size.self)
            }
            expect(watched.heard.all.sorted(), equals: ["computed 11", "reader 19", "size 2"])
            watched.heard.removeAll()
            watched.container.base = 2
            expect(Set(watched.heard.all), equals: ["computed 12", "text [\"2\"]", "size 4", "reader 22"])
        }
        // A reset of a default and a set of its input in one update give the new default.
        do {
            let watched = Watched()
            watched.container.update {
                $0.reset(\.computed)
                $0.base = 4
            }
            expect(watched.container.computed, equals: 14)
            expect(watched.heard.all.filter { $0.hasPrefix("computed") }, equals: ["computed 14"])
            expect(watched.container.reader.number, equals: 5 + 14 + 1 + 8)
        }
        // resetAll tells once of each default that was read.
        do {
            let container = Container()
            let heard = Log<Int>()
            container.observe(\.constant) { heard.add($0) }
            container.observe(\.computed) { heard.add($0) }
            _ = (container.constant, container.computed)
            heard.removeAll()
            container.resetAll()
            expect(heard.all.sorted(), equals: [5, 11])
            expect(container.computed, equals: 11)
        }
    }

    @Test(
        "A default that gives another value is seen after a reset, by observers and by what reloads (laws 3, 9, and 13)"
    )
    func others() {
        let (made, container, heard) = (Counter(), Container(), Log<Int>())
        let key = PropertyKey<Int>(defaultValue: made.add(), id: UniqueID())
        let reader = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { $0[key] * 10 }
        container.observe({ _ in key }) { heard.add($0) }
        expect(container[reader], equals: 10)
        container.reset { _ in key }
        let now = container[key]
        expect(now > 1)
        expect(heard.all, equals: [1, now])
        expect(container[reader], equals: now * 10)
    }

    @Test(
        "A value that equals a computed default is the child's own, and what is made from it in the root is shared (laws 10, 11, and 12)"
    )
    func inChild() {
        // A value that equals a computed default is the child's own, and hides the parent's.
        do {
            let container = Container()
            let heard = Log<Int>()
            let child = container.child()
            child.observe(\.computed) { heard.add($0) }
            expect(child.computed, equals: 11)
            child.computed = 11
            container.base = 7
            expect(child.computed, equals: 11)
            expect(container.computed, equals: 17)
            expect(heard.all, equals: [11, 11])
            child.reset(\.computed)
            expect(child.computed, equals: 17)
            expect(heard.all, equals: [11, 11, 17])
        }
        // What is made from a computed default that is set to its value is shared by a child.
        do {
            let container = Container()
            let key = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { Thing($0.computed, $0) }
            _ = container[key]
            container.computed = 11
            let child = container.child { $0.base = 5 }
            expect(child[key].text, equals: "11")
            expect(child[key], is: container[key])
            container.computed = 12
            expect(child[key].text, equals: "12")
            expect(child[key], is: container[key])
        }
    }

    @Test(
        "A default that's uncovered counts as another value than an equal one that hid it, for it's made from more (laws 10 and 11)"
    )
    func uncovered() {
        let container = Container()
        let key = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { $0.computed + $0.constant }
        expect(container.computed, equals: 11)
        // Something else keeps the child's own there.
        let child = container.child { $0.constant = 100 }
        child.computed = 11
        expect(child[key], equals: 111)
        child.reset(\.computed)
        let below = child.child { $0.base = 5 }
        expect(below[key], equals: 115)
        expect(child[key], equals: 111)
        container.base = 2
        expect(child[key], equals: 112)
    }

    @Test(
        "A value that's set before anything has read the default is told, since there is nothing yet that it could equal (law 9)"
    )
    func unread() {
        let (container, heard) = (Container(), Log<Int>())
        container.observe(\.constant) { heard.add($0) }
        container.constant = 5
        expect(heard.all, equals: [5])
        container.constant = 5
        expect(heard.all, equals: [5])
    }
}
