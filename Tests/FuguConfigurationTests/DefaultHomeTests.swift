import Fugu
import FuguConfiguration
import Support
import Testing

private final class Keeper: Sendable {
    let container = Container.current
    let currency = Injected(\.currency)
}

private struct Receipt: Feature {
    let text: String
    static func load(in container: any FeatureContainer) -> Receipt { Receipt(text: container.greeting) }
}

extension ContainerKeys {
    fileprivate var currency: PropertyKey<String> { .init("currency", defaultValue: "EUR") }
    fileprivate var greeting: PropertyKey<String> {
        .init("greeting", defaultValue: "Hi \(Container.current.currency)")
    }
    fileprivate var shout: PropertyKey<String> { .init(defaultValue: Container.current.greeting.uppercased()) }
    fileprivate var keeper: PropertyKey<Keeper> { .init(defaultValue: Keeper()) }
}

/// Defaults that are made from other values (law 11).
struct DefaultHomeTests {
    private let root = Container()
    private let child: Container

    init() {
        child = root.child { $0.currency = "NOK" }
    }

    @Test(
        "A default lives where what it reads is set, also through another default, as does what reads it, and follows (laws 11 and 12)"
    )
    func homes() {
        // A default that reads what a child sets lives there, and nobody else gets it.
        do {
            expect(Container.with(child) { child.greeting }, equals: "Hi NOK")
            expect(root.greeting, equals: "Hi EUR")
            expect(root.child { $0.currency = "SEK" }.greeting, equals: "Hi SEK")
            expect(child.child().greeting, equals: "Hi NOK")
        }
        // A default that needs another default lives and follows as that does.
        do {
            let fresh = Self()
            let (root, child) = (fresh.root, fresh.child)
            expect(child.shout, equals: "HI NOK")
            child.currency = "SEK"
            expect(child.shout, equals: "HI SEK")
            child.greeting = "yo"
            expect(child.shout, equals: "YO")
            expect(root.shout, equals: "HI EUR")
        }
        // A default is made anew when something changes that it was made from.
        do {
            let fresh = Self()
            let (root, child) = (fresh.root, fresh.child)
            expect(root.greeting, equals: "Hi EUR")
            root.currency = "DKK"
            expect(root.greeting, equals: "Hi DKK")
            expect(child.greeting, equals: "Hi NOK")
            child.reset(\.currency)
            expect(child.greeting, equals: "Hi DKK")
            root.update { $0.currency = "ISK" }
            expect(child.greeting, equals: "Hi ISK")
        }
        // A feature that reads a default has the home that it has.
        do {
            let fresh = Self()
            let (root, child) = (fresh.root, fresh.child)
            expect(child[Receipt.self].text, equals: "Hi NOK")
            expect(root[Receipt.self].text, equals: "Hi EUR")
            expect(root.child()[Receipt.self].text, equals: "Hi EUR")
        }
    }

    @Test(
        "A set above, or a source anywhere, comes before a child's own default, and a reset brings it back (laws 10, 13, and 15)"
    )
    func setsAbove() throws {
        // A set above replaces a child's own default, and a reset brings it back.
        do {
            expect(child.greeting, equals: "Hi NOK")
            root.greeting = "Hello"
            expect(child.greeting, equals: "Hello")
            root.reset(\.greeting)
            expect(child.greeting, equals: "Hi NOK")
            child.greeting += "!"
            expect(child.greeting, equals: "Hi NOK!")
            expect(root.greeting, equals: "Hi EUR")
            child.reset(\.greeting)
            expect(child.greeting, equals: "Hi NOK")
        }
        // A source comes before a child's own default, wherever it's applied.
        do {
            let fresh = Self()
            let (root, child) = (fresh.root, fresh.child)
            expect(child.greeting, equals: "Hi NOK")
            let source = MutableSource(name: "above")
            try root.apply(source)
            source["greeting"] = "source"
            expect(child.greeting, equals: "source")
            source["greeting"] = nil
            source["currency"] = "SEK"
            expect(root.greeting, equals: "Hi SEK")
            expect(child.greeting, equals: "Hi NOK")
            try child.apply(DictionarySource(["greeting": "own"], name: "below"))
            expect(child.greeting, equals: "own")
        }
    }

    @Test("Observers hear once of their own default that follows, and nothing of another container's (laws 9 and 12)")
    func observed() {
        // Observers hear of a default that follows, once for a change.
        do {
            let seen = Log<String>()
            expect(child.greeting, equals: "Hi NOK")
            let token = child.observe(\.greeting) { seen.add($0) }
            child.currency = "SEK"
            root.greeting = "Hello"
            root.reset(\.greeting)
            child.reset(\.currency)
            root.currency = "DKK"
            token.cancel()
            expect(seen.all, equals: ["Hi SEK", "Hello", "Hi SEK", "Hi EUR", "Hi DKK"])
        }
        // Another container's default isn't told to observers who have their own.
        do {
            let fresh = Self()
            let (root, child) = (fresh.root, fresh.child)
            let seen = Log<String>()
            expect(child.greeting, equals: "Hi NOK")
            let token = child.observe(\.greeting) { seen.add($0) }
            expect(root.greeting, equals: "Hi EUR")
            token.cancel()
            expect(seen.all, equals: [])
        }
    }

    @Test("An instance made from an equal value follows the default that it hid (law 12)")
    func equal() {
        let key = FeatureKey<String>(reloadsWhenInputsChange: true) { $0.greeting }
        let below = child.child()
        expect(child.greeting, equals: "Hi NOK")
        below.greeting = "Hi NOK"
        expect(below[key], equals: "Hi NOK")
        below.reset(\.greeting)
        child.currency = "SEK"
        expect(below[key], equals: "Hi SEK")
    }

    @Test("A copy evaluates defaults from its own values (law 2)")
    func copies() {
        expect(child.greeting, equals: "Hi NOK")
        let copy = Container(copying: child)
        copy.currency = "SEK"
        expect(copy.greeting, equals: "Hi SEK")
        expect(child.greeting, equals: "Hi NOK")
    }

    @Test("What a default keeps reads from the default's home, and keeps no child alive (law 11)")
    func keepers() {
        let root = root.unreported
        weak var released: Container?
        do {
            let child = root.child { $0.currency = "SEK" }
            released = child
            expect(Container.with(child) { child.keeper.container.currency }, equals: "EUR")
            expect(Container.with(child) { child.keeper.currency.wrappedValue }, equals: "SEK")
        }
        expect(released == nil)
        root.currency = "DKK"
        expect(root.keeper.container.currency, equals: "DKK")
    }

    @Test("A default follows in a closed container, too (laws 12 and 18)")
    func closed() async throws {
        expect(child.greeting, equals: "Hi NOK")
        try await child.close()
        child.currency = "SEK"
        expect(child.greeting, equals: "Hi SEK")
    }

    @Test("A default reads from the container that was asked, whatever its caller binds (law 11)")
    func unrelated() {
        let other = Container()
        other.currency = "USD"
        expect(Container.with(other) { root.greeting }, equals: "Hi EUR")
        expect(Container.with(child) { root.greeting }, equals: "Hi EUR")
    }
}
