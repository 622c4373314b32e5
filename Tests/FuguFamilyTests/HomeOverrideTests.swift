import Fugu
import FuguInspection
import Support
import Testing

extension ContainerKeys {
    fileprivate var tenant: PropertyKey<String> { .init(defaultValue: "none") }
    fileprivate var region: PropertyKey<String> { .init(defaultValue: "nowhere") }
    fileprivate var address: PropertyKey<String> { .init(defaultValue: "localhost") }
    fileprivate var port: PropertyKey<Int> { .init(defaultValue: 80) }
    fileprivate var usesCart: PropertyKey<Bool> { .init(defaultValue: false) }
    /// Makes the port an indirect input.
    fileprivate var route: FeatureKey<String> { .init { "port \($0.port)" } }
    fileprivate var cart: FeatureKey<HomeOverrideTests.Made> {
        .init(home: .local) { _ in HomeOverrideTests.Made("cart") }
    }
}

@Suite("Law 11: readers that override what a declared home was made from", .timeLimit(.minutes(5)))
struct HomeOverrideTests {
    final class Made: Sendable {
        let text: String
        init(_ text: String) { self.text = text }
        convenience init(in container: any FeatureContainer) {
            if container.usesCart { _ = container.cart }
            self.init("\(container.address), \(container.route)")
        }
    }

    /// A place where a feature declares to live.
    protocol Place: Sendable, SendableMetatype {
        static var home: Home { get }
        /// The container of three in line that it is.
        static func container(of family: [Container]) -> Container
    }
    enum Shared: Place {
        static var home: Home { .shared }
        static func container(of family: [Container]) -> Container { family[0] }
    }
    enum WithOne: Place {
        static var home: Home { .with(\.tenant) }
        static func container(of family: [Container]) -> Container { family[1] }
    }
    enum WithTwo: Place {
        static var home: Home { .with(\.region, \.tenant) }
        static func container(of family: [Container]) -> Container { family[1] }
    }

    struct Plain<P: Place>: Feature {
        static var home: Home { P.home }
        static func load(in container: any FeatureContainer) -> Made { Made(in: container) }
    }
    struct OnMain<P: Place>: MainActorFeature {
        static var home: Home { P.home }
        static func load(in container: any FeatureContainer) -> Made { Made(in: container) }
    }
    struct Throwing<P: Place>: ThrowingFeature {
        static var home: Home { P.home }
        static func load(in container: any FeatureContainer) throws -> Made { Made(in: container) }
    }
    struct Async<P: Place>: AsyncFeature {
        static var home: Home { P.home }
        static func load(in container: any FeatureContainer) async throws -> Made { Made(in: container) }
    }

    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The name in paths.
        let name: String
        let canFail: Bool
        let place: any Place.Type
        let read: @MainActor @Sendable (Container) async throws -> Made
        let reset: @MainActor @Sendable (Container) -> Void
        let replace: @MainActor @Sendable (Container, @escaping @Sendable (any FeatureContainer) -> Made) -> Void

        static func all<P: Place>(_: P.Type) -> [Kind] {
            [
                Kind(
                    testDescription: "plain, \(P.self)", name: "\(Plain<P>.self)", canFail: false, place: P.self,
                    read: { $0[Plain<P>.self] }, reset: { $0.reset(Plain<P>.self) },
                    replace: { $0.replace(Plain<P>.self, load: $1) }),
                Kind(
                    testDescription: "main actor, \(P.self)", name: "\(OnMain<P>.self)", canFail: false, place: P.self,
                    read: { $0[OnMain<P>.self] }, reset: { $0.reset(OnMain<P>.self) },
                    replace: { container, load in container.replace(OnMain<P>.self) { load($0) } }),
                Kind(
                    testDescription: "throwing, \(P.self)", name: "\(Throwing<P>.self)", canFail: true, place: P.self,
                    read: { try $0[Throwing<P>.self] }, reset: { $0.reset(Throwing<P>.self) },
                    replace: { $0.replace(Throwing<P>.self, load: $1) }),
                Kind(
                    testDescription: "async, \(P.self)", name: "\(Async<P>.self)", canFail: true, place: P.self,
                    read: { try await $0[Async<P>.self] }, reset: { $0.reset(Async<P>.self) },
                    replace: { container, load in container.replace(Async<P>.self) { load($0) } }),
            ]
        }
        static let all = all(Shared.self) + all(WithOne.self) + all(WithTwo.self)
    }

    /// An input that a child overrides, and the end of the path to it.
    enum Input: CaseIterable, Sendable {
        case direct, indirect

        func override(in container: Container) {
            if self == .direct { container.address = "elsewhere" } else { container.port = 81 }
        }
        func reset(in container: Container) {
            if self == .direct { container.reset(\.address) } else { container.reset(\.port) }
        }
        var way: [String] { self == .direct ? [#"\.address"#] : [#"\.route"#, #"\.port"#] }
        var text: String { self == .direct ? "elsewhere, port 80" : "localhost, port 81" }
    }

    /// A root, a tenant, and a child of the tenant that overrides an input of the feature.
    private struct Family {
        let root = Container.program()
        let tenant: Container
        let child: Container
        let reports: Log<String>
        let home: Container

        init(_ kind: Kind) {
            reports = root.logReports()
            tenant = root.child { $0.tenant = "a" }
            child = tenant.child()
            home = kind.place.container(of: [root, tenant, child])
        }
    }

    /// Reads in a child that overrides an input: the child's own instance if the read can't throw, and an error otherwise.
    @MainActor private func readOwn(_ kind: Kind, in child: Container, _ text: String, _ way: [String]) async throws {
        if kind.canFail {
            let error = await #expect(throws: LoadError.self) { try await kind.read(child) }
            expect(error?.code, equals: .inputOverridden)
            expect(error?.path, equals: [kind.name] + way)
        } else {
            let own = try await kind.read(child)
            expect(own.text, equals: text)
            try await expect(kind.read(child), is: own)
            try await expect(kind.read(child.child()), is: own)
        }
    }

    @Test(
        "One that can't throw gives the reader an instance of its own, others an error with the way; each is reported once",
        arguments: Kind.all, Input.allCases)
    @MainActor func overrides(kind: Kind, input: Input) async throws {
        for isHomeFirst in [true, false] {
            let family = Family(kind)
            if isHomeFirst { _ = try await kind.read(family.home) }
            input.override(in: family.child)
            try await readOwn(kind, in: family.child, input.text, input.way)
            let shared = try await kind.read(family.home)
            expect(shared.text, equals: "localhost, port 80")
            try await expect(kind.read(family.tenant.child()), is: shared)
            let other = family.tenant.child()
            input.override(in: other)
            try await readOwn(kind, in: other, input.text, input.way)
            input.reset(in: family.child)
            try await expect(kind.read(family.child), is: shared)
            let found = family.reports.all.filter { $0.contains("\(kind.name) has the home") }
            expect(found.count, equals: 1, "\(family.reports.all)")
            let way = ([kind.name] + input.way).joined(separator: " → ")
            expect(found.first?.contains("Path: \(way)") == true, "\(found)")
        }
    }

    @Test("So it is where an input is local: each container that can't throw has its own", arguments: Kind.all)
    @MainActor func localInput(kind: Kind) async throws {
        let family = Family(kind)
        family.root.usesCart = true
        let shared = try await kind.read(family.home)
        for child in [family.child, family.tenant.child()] {
            if kind.canFail {
                let error = await #expect(throws: LoadError.self) { try await kind.read(child) }
                expect(error?.path, equals: [kind.name, #"\.cart"#])
            } else {
                let own = try await kind.read(child)
                expect(own !== shared)
                try await expect(kind.read(child), is: own)
            }
        }
        try await expect(kind.read(family.home), is: shared)
        expect(family.reports.all.count { $0.contains("is made from \\.cart") }, equals: 1, "\(family.reports.all)")
    }

    @Test("A reset at home leaves the reader's own, and a replacement there takes its place", arguments: Kind.all)
    @MainActor func changesAbove(kind: Kind) async throws {
        let family = Family(kind)
        family.child.address = "elsewhere"
        try await readOwn(kind, in: family.child, "elsewhere, port 80", Input.direct.way)
        let own = kind.canFail ? nil : try await kind.read(family.child)
        let shared = try await kind.read(family.home)
        kind.reset(family.home)
        if let own { try await expect(kind.read(family.child), is: own) }
        try await expect(kind.read(family.home) !== shared)
        kind.replace(family.home) { Made("replaced \($0.address)") }
        try await readOwn(kind, in: family.child, "replaced elsewhere", Input.direct.way)
        try await expect(kind.read(family.home).text, equals: "replaced localhost")
        kind.replace(family.home) { _ in Made("alone") }
        try await expect(kind.read(family.child), is: kind.read(family.home))
        kind.replace(family.child) { Made("of the child \($0.address)") }
        try await expect(kind.read(family.child).text, equals: "of the child elsewhere")
        try await expect(kind.read(family.home).text, equals: "alone")
        kind.reset(family.child)
        kind.reset(family.home)
        try await readOwn(kind, in: family.child, "elsewhere, port 80", Input.direct.way)
        try await expect(kind.read(family.home).text, equals: "localhost, port 80")
    }

    @Test("A key of the home that's set below has an instance of its own there, not that of a reader above")
    func keyBelowReader() {
        func check<P: Place>(_: P.Type) {
            let family = Family(Kind.all(P.self)[0])
            family.child.address = "elsewhere"
            let own = family.child[Plain<P>.self]
            let other = family.child.child { $0.tenant = "b" }
            expect(other[Plain<P>.self] !== own)
            expect(other[Plain<P>.self].text, equals: "elsewhere, port 80")
            expect(other.child()[Plain<P>.self], is: other[Plain<P>.self])
            family.child.tenant = "c"
            expect(family.child[Plain<P>.self] !== family.tenant[Plain<P>.self])
        }
        check(WithOne.self)
        check(WithTwo.self)
    }

    @Test("Threads of many children each get the instance of their child, and one report is made")
    func threads() {
        let family = Family(Kind.all(Shared.self)[0])
        let children = (0..<8).map { number in family.tenant.child { $0.address = "\(number)" } }
        let texts = Log<[String]>()
        onThreads(8) { number in
            texts.add((0..<8).map { children[(number + $0) % 8][Plain<Shared>.self].text })
        }
        for text in texts.all { expect(Set(text), equals: Set((0..<8).map { "\($0), port 80" })) }
        expect(Set(children.map { ObjectIdentifier($0[Plain<Shared>.self]) }).count, equals: 8)
        expect(family.root[Plain<Shared>.self].text, equals: "localhost, port 80")
        expect(family.reports.all.count { $0.contains("has the home") }, equals: 1)
    }

    @Test("An observer in a child that overrides an input hears the child's own instance, and then the shared one")
    func observer() {
        let family = Family(Kind.all(Shared.self)[0])
        let heard = Log<String>()
        _ = family.child[Plain<Shared>.self]
        family.child.observe(Plain<Shared>.self) { heard.add($0.text) }
        family.child.address = "elsewhere"
        expect(family.child[Plain<Shared>.self].text, equals: "elsewhere, port 80")
        family.child.reset(\.address)
        expect(family.child[Plain<Shared>.self].text, equals: "localhost, port 80")
        expect(heard.all.last, equals: "localhost, port 80")
        expect(heard.all.contains("elsewhere, port 80"), "\(heard.all)")
    }

    @Test("A load that catches the error was made from what the child overrides, and nobody else gets what it made")
    func caught() {
        let page = FeatureKey<Made>(reloadsWhenInputsChange: true, id: UniqueID()) { container in
            Made((try? container[Throwing<Shared>.self])?.text ?? "refused")
        }
        let family = Family(Kind.all(Shared.self)[2])
        family.child.port = 81
        let made = family.child[page]
        expect(made.text, equals: "refused")
        expect(family.child[page], is: made)
        expect(family.child.child()[page], is: made)
        expect(family.root[page].text, equals: "localhost, port 80")
        expect(family.tenant.child()[page], is: family.root[page])
        family.child.reset(\.port)
        expect(family.child[page], is: family.root[page])
    }

    struct Failing: ThrowingFeature {
        static var home: Home { .with(\.tenant) }
        struct Failure: Error {}
        static func load(in container: any FeatureContainer) throws -> Made {
            if container.tenant == "a" { throw Failure() }
            return Made("of \(container.tenant)")
        }
    }

    @Test("A load in the home that fails is an input of the load that catches it, as one without a declared home is")
    func caughtFailure() {
        let page = FeatureKey<Made>(reloadsWhenInputsChange: true, id: UniqueID()) { container in
            Made((try? container[Failing.self])?.text ?? "failed")
        }
        let family = Family(Kind.all(WithOne.self)[2])
        let made = family.child[page]
        expect(made.text, equals: "failed")
        expect(family.tenant[page], is: made)
        expect(family.root[page].text, equals: "of none")
        family.tenant.tenant = "b"
        expect(family.child[page].text, equals: "of b")
    }

    @Test("What reads the child's own instance lives in the child, too, and is kept", arguments: [true, false])
    func readers(reloads: Bool) {
        let page = FeatureKey<Made>(reloadsWhenInputsChange: reloads, id: UniqueID()) { container in
            Made("page of \(container[Plain<WithTwo>.self].text)")
        }
        let family = Family(Kind.all(WithTwo.self)[0])
        family.child.port = 81
        let made = family.child[page]
        expect(made.text, equals: "page of localhost, port 81")
        expect(family.child[page], is: made)
        expect(family.child.child()[page], is: made)
        expect(family.tenant.child()[page], is: family.tenant[page])
        expect(family.tenant[page].text, equals: "page of localhost, port 80")
        family.child.reset(\.port)
        expect(family.child[page], is: family.tenant[page])
    }

    @Test("The child's own instance is kept, though its load is the first to read the home's key (laws 3, 11)")
    func firstReadOfHomeKey() {
        let key = FeatureKey<Made>(home: .with(\.tenant), id: UniqueID()) { container in
            Made(container.address == "localhost" ? "of the root" : "of \(container.tenant)")
        }
        let child = Container().unreported.child { $0.address = "elsewhere" }
        let made = child[key]
        expect(made.text, equals: "of none")
        expect(child[key], is: made)
    }

    @Test("So it is if its load reads the same keys as that of the home, the home's key first (laws 3, 11)")
    func sameKeys() {
        let key = FeatureKey<Made>(home: .with(\.tenant), id: UniqueID()) { Made("\($0.tenant) \($0.address)") }
        let child = Container().unreported.child { $0.address = "elsewhere" }
        let made = child[key]
        expect(made.text, equals: "none elsewhere")
        expect(child[key], is: made)
        expect(child.child()[key], is: made)
    }

    @Test("After a reload, too, who sets the home's key shares no instance of who doesn't see the home's (laws 11, 12)")
    func reloaded() {
        final class Pool: Feature, Sendable {
            static var reloadsWhenInputsChange: Bool { true }
            static var home: Home { .with(\.tenant) }
            static func load(in container: any FeatureContainer) -> Pool {
                _ = container.address
                return Pool()
            }
        }
        let server = Container().unreported.child { $0.address = "elsewhere" }
        let (one, other) = (server.child { $0.tenant = "one" }, server.child { $0.tenant = "other" })
        for address in ["here", "there"] {
            let made = server[Pool.self]
            server.address = address
            expect(server[Pool.self] !== made)
            expect(one[Pool.self] !== other[Pool.self])
            expect(one[Pool.self] !== server[Pool.self])
        }
    }

    @Test("A check lists both kinds, with the way to what the child overrides")
    func check() async {
        let container = Container()
        let check = await container.check(overriding: \.port) {
            $0.load(Plain<Shared>.self)
            $0.load(Throwing<Shared>.self)
            $0.load(Async<WithOne>.self)
        }
        let names = ["\(Plain<Shared>.self)", "\(Throwing<Shared>.self)", "\(Async<WithOne>.self)"]
        expect(check.failures.map(\.feature.name), equals: names)
        expect(check.failures.map(\.feature.path), equals: names.map { [$0, #"\.route"#, #"\.port"#] })
        expect(check.hasProblems)
    }
}
