import Fugu
import Support
import Testing

@Suite("Reads that a load starts elsewhere: no race decides where an instance lives (law 15)")
struct HomeTaskReadsTests {}

extension ContainerKeys {
    fileprivate var raceUser: PropertyKey<String> { .init(defaultValue: "nobody") }
    fileprivate var raceShared: FeatureKey<Token> {
        .init(home: .shared) { $0[HomeTaskReadsTests.Order.self].startTask() }
    }
    fileprivate var raceInferred: FeatureKey<Token> { .init { $0[HomeTaskReadsTests.Order.self].startTask() } }
    fileprivate var raceInUpdate: FeatureKey<Token> {
        .init { handle in
            var made: Token?
            Container().update { _ in made = handle[HomeTaskReadsTests.Order.self].startTask() }
            return made!
        }
    }
    fileprivate var raceOuter: FeatureKey<Token> { .init { $0.raceInferred } }
    fileprivate var raceDefault: PropertyKey<Token> {
        .init(defaultValue: Container.current[HomeTaskReadsTests.Order.self].startTask())
    }
}

extension HomeTaskReadsTests {
    /// When a task that a load starts reads, as it happens to run: before the load ends, or afterward.
    struct Order: Property { static var defaultValue: Steps { Steps(isBeforeEnd: true) } }
    final class Steps: Sendable {
        let isBeforeEnd: Bool
        let (mayRead, hasRead) = (Gate(), Gate())
        let seen = Log<String>()
        init(isBeforeEnd: Bool) { self.isBeforeEnd = isBeforeEnd }

        func startTask() -> Token {
            Task {
                await mayRead.opened()
                seen.add(Container.current.raceUser)
                _ = Container.current.child().raceUser
                hasRead.open()
            }
            if isBeforeEnd {
                mayRead.open()
                hasRead.wait()
            }
            return Token()
        }
    }

    struct Throwing: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Token { container[Order.self].startTask() }
    }

    struct Kind: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Whether the home asks, since it's declared.
        var runsInHome = false
        let read: @Sendable (Container) throws -> Token

        static let all = [
            Kind(testDescription: "declared to be shared", runsInHome: true) { $0.raceShared },
            Kind(testDescription: "without a declared home") { $0.raceInferred },
            Kind(testDescription: "in an update") { $0.raceInUpdate },
            Kind(testDescription: "through another feature") { $0.raceOuter },
            Kind(testDescription: "a default") { $0.raceDefault },
            Kind(testDescription: "throwing") { try $0[Throwing.self] },
        ]
    }

    @Test(
        "What a task reads through Container.current that a load started is no input, before the end of the load either (law 15)",
        arguments: Kind.all, [true, false])
    func tasks(kind: Kind, isBeforeEnd: Bool) async throws {
        let root = Container().unreported
        let steps = Steps(isBeforeEnd: isBeforeEnd)
        root[Order.self] = steps
        let child = root.child { $0.raceUser = "ada" }
        let made = Log<Token?>()
        // The load may block its thread.
        await startThread { made.add(try? kind.read(child)) }.opened()
        steps.mayRead.open()
        await steps.hasRead.opened()
        expect(made.all[0] != nil)
        expect(made.all[0], is: try kind.read(root))
        expect(made.all[0], is: try kind.read(root.child { $0.raceUser = "grace" }))
        // The values are those of the container that asked, and afterward of the home.
        let isOfChild = isBeforeEnd && !kind.runsInHome
        expect(steps.seen.all, equals: [isOfChild ? "ada" : "nobody"])
    }

    @Test(
        "What a plain load reads on a thread for which it waits is an input, through the handle that it was given (law 15)"
    )
    func handles() {
        let root = Container()
        let key = FeatureKey(id: UniqueID()) { handle in Thing(onAnotherThread { handle.raceUser }, handle) }
        let child = root.child { $0.raceUser = "ada" }
        expect(child[key].text, equals: "ada")
        expect(root[key].text, equals: "nobody")
    }

    struct Profile: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> String {
            async let first = Container.current.raceUser
            let rest = await withTaskGroup(of: String.self) { group in
                group.addTask { Container.current.raceGreeting }
                return await group.next()!
            }
            return await first + rest
        }
    }

    @Test("Child tasks of an async load read inputs, and what they load reads its own (law 15)")
    func childTasks() async throws {
        let root = Container()
        let child = root.child { $0.raceUser = "ada" }
        try await expect(child[Profile.self], equals: "ada, hello ada")
        try await expect(root[Profile.self], equals: "nobody, hello nobody")
        try await expect(root.child()[Profile.self], equals: "nobody, hello nobody")
    }
}

extension ContainerKeys {
    fileprivate var raceGreeting: FeatureKey<String> { .init { _ in ", hello \(Container.current.raceUser)" } }
}
