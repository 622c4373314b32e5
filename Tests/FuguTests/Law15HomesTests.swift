@testable import Fugu
import Support
import Testing

extension ContainerKeys {
    fileprivate var law15Request: PropertyKey<Int> { .init(defaultValue: 0) }
}

@Suite("Law 15: a feature lives where its inputs live") struct Law15HomesTests {
    static let cases: [Case<Law15HomesTests>] = [
        Case("A feature that reads nothing lives in the root, whoever asks first (law 15)", readsNothing),
        Case("A feature that reads only the root's values lives in the root (law 15)", readsRoot),
        Case("A feature that reads what each request sets is made for each request (law 15)", readsRequest),
        Case("Inputs of inputs count, too (law 15)", throughOthers),
        Case("The deepest of those that hold what was read is the home (law 15)", deepest),
        Case("An input that was set is held where it was set (law 15)", setInput),
        Case("An instance of a replaced loader lives there or deeper, where its inputs live (law 15)", replacedLoader),
        Case("A local feature lives in the container that was asked, and what is made from it too (law 15)", local),
        Case("A read through Container.current or @Injected during a load is an input (law 15)", ambientReads),
        Case("Inside a load, Container.current is its recording view and not the container (law 15)", currentIsView),
        Case("A kept handle answers from the home, and what it reads later is no input (law 15)", keptHandle),
        Case(
            "Another load's read through a kept handle isn't an input of that load either (law 15)", keptHandleInALoad),
        Case("A kept handle writes to the home once the load has ended (law 15)", handleWritesAfterwards),
        Case(
            "A container captured beside the handle is not recorded, and debug builds report it (law 15)",
            capturedContainer),
        Case("Only what a load really read counts, whatever it reads on another condition (law 15)", conditionalInputs),
        Case("Throwing and async features have their homes by the same law (law 15)", otherKinds),
        Case("A read through a child made inside the load is an input as well (law 15)", childOfHandle),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law15HomesTests>) async throws { try await stated.run(self) }

    /// Names the container that answers; every container of these tests sets its own.
    struct Name: Property { static var defaultValue: String { "?" } }
    struct Request: Property { static var defaultValue: Int { 0 } }
    struct Tenant: Property { static var defaultValue: String { "none" } }
    struct IsFancy: Property { static var defaultValue: Bool { false } }

    /// Makes a line of containers: the root and one below the other.
    private func line(_ count: Int) -> [Container] {
        var line = [Container()]
        for _ in 1..<count { line.append(line.last!.child()) }
        for (depth, container) in line.enumerated() { container[Name.self] = "\(depth)" }
        return line
    }

    final class Pool: Feature, Sendable {
        let handle: any FeatureContainer
        init(_ handle: any FeatureContainer) { self.handle = handle }
        static func load(in container: any FeatureContainer) -> Pool { Pool(container) }
    }
    final class Handler: Feature, Sendable {
        let handle: any FeatureContainer
        let request: Int
        init(_ handle: any FeatureContainer, _ request: Int) { (self.handle, self.request) = (handle, request) }
        static func load(in container: any FeatureContainer) -> Handler { Handler(container, container[Request.self]) }
    }

    func readsNothing() {
        let line = line(4)
        defer { withExtendedLifetime(line) {} }
        let pool = line[3][Pool.self]
        expect(line.allSatisfy { $0[Pool.self] === pool })
        expect(line[0].child()[Pool.self], is: pool)
        expect(pool.handle[Name.self], equals: "0")
    }

    func readsRoot() {
        let line = line(3)
        defer { withExtendedLifetime(line) {} }
        line[0][Request.self] = 5
        let handler = line[2][Handler.self]
        expect(line[0][Handler.self], is: handler)
        expect(handler.handle[Name.self], equals: "0")
    }

    func readsRequest() {
        let root = Container()
        let first = root.child { $0[Request.self] = 1 }
        let second = root.child { $0[Request.self] = 2 }
        expect(first[Handler.self].request, equals: 1)
        expect(second[Handler.self].request, equals: 2)
        expect(first[Handler.self], is: first[Handler.self])
        expect(first.child()[Handler.self], is: first[Handler.self])
        expect(root[Handler.self].request, equals: 0)
    }

    final class Page: Feature, Sendable {
        let handle: any FeatureContainer
        let (handler, pool): (Handler, Pool)
        init(_ handle: any FeatureContainer) {
            self.handle = handle
            (handler, pool) = (handle[Handler.self], handle[Pool.self])
        }
        static func load(in container: any FeatureContainer) -> Page { Page(container) }
    }

    func throughOthers() {
        let line = line(4)
        defer { withExtendedLifetime(line) {} }
        line[2][Request.self] = 1
        let page = line[3][Page.self]
        expect(page.handle[Name.self], equals: "2")
        expect(page.handler.handle[Name.self], equals: "2")
        expect(page.pool.handle[Name.self], equals: "0")
        expect(line[2][Page.self], is: page)
        let other = line[1][Page.self]
        expect(other !== page)
        expect(other.handle[Name.self], equals: "0")
        expect(other.pool, is: page.pool)
    }

    final class Invoice: Feature, Sendable {
        let home: any FeatureContainer
        init(_ home: any FeatureContainer) { self.home = home }
        static func load(in container: any FeatureContainer) -> Invoice {
            _ = (container[Tenant.self], container[Request.self], container[Tenant.self])
            return Invoice(container)
        }
    }

    func deepest() {
        let line = line(5)
        defer { withExtendedLifetime(line) {} }
        line[1][Tenant.self] = "acme"
        line[3][Request.self] = 4
        let invoice = line[4][Invoice.self]
        expect(invoice.home[Name.self], equals: "3")
        expect(line[3][Invoice.self], is: invoice)
        expect(line[2][Invoice.self].home[Name.self], equals: "1")
    }

    func setInput() {
        let line = line(3)
        defer { withExtendedLifetime(line) {} }
        let own = Pool(line[1])
        line[1][Pool.self] = own
        let page = line[2][Page.self]
        expect(page.pool, is: own)
        expect(page.handle[Name.self], equals: "1")
        expect(line[0][Page.self].pool !== own)
    }

    func replacedLoader() {
        let line = line(4)
        defer { withExtendedLifetime(line) {} }
        line[1].replace(Page.self) { Page($0) }
        let page = line[3][Page.self]
        expect(page.handle[Name.self] == "1" && line[1][Page.self] === page)
        expect(line[0][Page.self] !== page)
        line[2][Request.self] = 3
        expect(line[3][Page.self].handle[Name.self], equals: "2")
        expect(line[1][Page.self], is: page)
    }

    final class Cache: Feature, Sendable {
        let handle: any FeatureContainer
        init(_ handle: any FeatureContainer) { self.handle = handle }
        static func load(in container: any FeatureContainer) -> Cache { Cache(container) }
        static var home: Home { .local }
    }
    final class CachedPage: Feature, Sendable {
        let cache: Cache
        init(_ cache: Cache) { self.cache = cache }
        static func load(in container: any FeatureContainer) -> CachedPage { CachedPage(container[Cache.self]) }
    }

    func local() {
        let line = line(3)
        defer { withExtendedLifetime(line) {} }
        for (depth, container) in line.enumerated() {
            expect(container[Cache.self].handle[Name.self], equals: "\(depth)")
            expect(container[CachedPage.self].cache, is: container[Cache.self])
        }
        expect(Set(line.map { ObjectIdentifier($0[Cache.self]) }).count, equals: 3)
        expect(Set(line.map { ObjectIdentifier($0[CachedPage.self]) }).count, equals: 3)
    }

    struct Ambient: Feature {
        let handle: any FeatureContainer
        static func load(in container: any FeatureContainer) -> Ambient {
            let number = read()
            _ = number
            return Ambient(handle: container)
        }
        static func read() -> Int { Container.current[Request.self] }
    }
    struct Wrapped: Feature {
        struct Part {
            @Injected(\.law15Request) var request
        }
        let request: Int
        let handle: any FeatureContainer
        static func load(in container: any FeatureContainer) -> Wrapped {
            Wrapped(request: Part().request, handle: container)
        }
    }

    func ambientReads() {
        let line = line(3)
        defer { withExtendedLifetime(line) {} }
        line[1][Request.self] = 1
        line[1].law15Request = 2
        expect(line[2][Ambient.self].handle[Name.self], equals: "1")
        expect(line[2][Wrapped.self].handle[Name.self], equals: "1")
        expect(line[2][Wrapped.self].request, equals: 2)
        expect(line[0][Ambient.self].handle[Name.self], equals: "0")
    }

    func currentIsView() {
        struct Peek: Feature {
            let current: Container
            static func load(in container: any FeatureContainer) -> Peek { Peek(current: Container.current) }
        }
        let root = Container()
        let current = root[Peek.self].current
        expect(current !== root)
        expect(current !== Container.current)
        expect(Container.current, is: Container.shared)
    }

    func keptHandle() {
        let line = line(3)
        defer { withExtendedLifetime(line) {} }
        line[2][Request.self] = 9
        let pool = line[2][Pool.self]
        expect(pool.handle[Name.self], equals: "0")
        expect(pool.handle[Request.self], equals: 0)
        expect(pool.handle[Handler.self], is: line[0][Handler.self])
        line[2][Name.self] = "other"
        expect(line[2][Pool.self], is: pool)
        pool.handle.reset(Request.self)
        expect(line[0][Pool.self] === pool && line[1].child()[Pool.self] === pool)
    }

    func keptHandleInALoad() {
        let root = Container()
        root[Request.self] = 1
        let reader = FeatureKey { container in
            _ = container[Pool.self].handle[Request.self]
            return Witness()
        }
        let shared = root[reader]
        expect(root.child { $0[Request.self] = 2 }[reader], is: shared)
    }

    func handleWritesAfterwards() {
        struct Writer: Feature {
            let handle: Container
            static func load(in container: any FeatureContainer) -> Writer { Writer(handle: Container.current) }
        }
        let root = Container()
        let writer = root.child()[Writer.self]
        writer.handle[Request.self] = 12
        expect(root[Request.self], equals: 12)
    }

    @Test("During the load the handle only reads: a write stops with a message (law 15)")
    func handleOnlyReads() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            struct Writer: Feature {
                static func load(in container: any FeatureContainer) -> Writer {
                    container.reset(Request.self)
                    return Writer()
                }
            }
            _ = Container()[Writer.self]
        }
        let message = String(decoding: result.standardErrorContent, as: UTF8.self)
        expect(message.contains("Writer changes Request while it loads"))
    }

    @Test("Neither does it modify, update or reset all by Container.current (law 15)")
    func currentOnlyReads() async throws {
        let modifies = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let key = FeatureKey { _ in Container.current.modify(Request.self) { $0 += 1 } }
            _ = Container()[key]
        }
        let updates = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let key = FeatureKey { _ in Container.current.update { $0[Request.self] = 1 } }
            _ = Container()[key]
        }
        let resets = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let key = FeatureKey { _ in Container.current.resetAll() }
            _ = Container()[key]
        }
        for (result, what) in [(modifies, "Request"), (updates, "values"), (resets, "values")] {
            let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
            expect(message.contains("changes \(what) while it loads"))
        }
    }

    func capturedContainer() {
        let root = Container()
        root[Name.self] = "root"
        let child = root.child { $0[Request.self] = 3 }
        let reports = Log<String>()
        root.node.family.reports.handle { reports.add($0) }
        let sneaky = FeatureKey { (handle: any FeatureContainer) in
            _ = child[Invoice.self]
            return Invoice(handle)
        }
        expect(child[sneaky].home[Name.self], equals: "root")
        #if DEBUG
        expect(reports.all.contains { $0.contains("Invoice") && $0.contains("captured") })
        #endif
    }

    final class Conditional: Feature, Sendable {
        let handle: any FeatureContainer
        init(_ handle: any FeatureContainer) { self.handle = handle }
        static func load(in container: any FeatureContainer) -> Conditional {
            if container[IsFancy.self] { _ = container[Request.self] } else { _ = container[Tenant.self] }
            return Conditional(container)
        }
    }

    func conditionalInputs() {
        let root = Container()
        let plain = root.child { $0[Request.self] = 1 }
        let fancy = root.child {
            $0[IsFancy.self] = true
            $0[Tenant.self] = "unread"
        }
        let fancier = fancy.child { $0[Request.self] = 2 }
        let tenant = fancy.child { $0[Tenant.self] = "unread" }
        expect(plain[Conditional.self], is: root[Conditional.self])
        expect(fancy[Conditional.self] !== root[Conditional.self])
        expect(fancier[Conditional.self] !== fancy[Conditional.self])
        expect(tenant[Conditional.self], is: fancy[Conditional.self])
    }

    struct Throwing: ThrowingFeature {
        let token = Token()
        let request: Int
        static func load(in container: any FeatureContainer) throws -> Throwing {
            Throwing(request: container[Request.self])
        }
    }
    struct Suspending: AsyncFeature {
        let token = Token()
        let request: Int
        static func load(in container: any FeatureContainer) async throws -> Suspending {
            await Task.yield()
            return Suspending(request: try container[Throwing.self].request)
        }
    }

    func otherKinds() async throws {
        let root = Container()
        let plain = root.child()
        let request = root.child { $0[Request.self] = 6 }
        let deep = request.child()
        try await expect(deep[Suspending.self].request, equals: 6)
        try await expect(request[Suspending.self].token, is: deep[Suspending.self].token)
        try await expect(plain[Suspending.self].token, is: root[Suspending.self].token)
        try await expect(plain[Suspending.self].request, equals: 0)
        try expect(request[Throwing.self].token, is: deep[Throwing.self].token)
        try expect(plain[Throwing.self].token, is: root[Throwing.self].token)
    }

    func childOfHandle() {
        struct Sub: Feature {
            let token: Token
            let handle: any FeatureContainer
            static func load(in container: any FeatureContainer) -> Sub {
                let child = Container.current.child { $0[Tenant.self] = "sub" }
                return Sub(token: Token(child[Request.self]), handle: container)
            }
        }
        let root = Container()
        let request = root.child { $0[Request.self] = 3 }
        expect(request[Sub.self].token.number, equals: 3)
        expect(root[Sub.self].token.number, equals: 0)
        expect(root.child()[Sub.self].token, is: root[Sub.self].token)
    }
}
