import Fugu
import FuguTesting
import StrictnessCases
import Support
import Testing

extension Number {
    struct Second: Property { static var defaultValue: Int { 0 } }
    struct Third: Property { static var defaultValue: Int { 0 } }
}

@Suite(
    "Traits give each case a container (law 19)",
    .container {
        $0[Number.self] = 1
        $0[Number.Second.self] = 1
    })
struct StrictTraitTests {
    private let made = Container.current
}

extension StrictTraitTests {
    @Test("A suite's trait holds for its tests (law 19)")
    func ofSuite() {
        expect(Container.current !== Container.shared)
        expect(Container.current[Number.self], equals: 1)
        expect(Container.current[Doubled.self].value, equals: 2)
    }

    @Test("The trait of a test comes on top of its suite's (law 19)", .container { $0[Number.self] = 5 })
    func ofTest() {
        expect(Container.current[Number.self], equals: 5)
        expect(Container.current[Number.Second.self], equals: 1)
        expect(Container.current[Doubled.self].value, equals: 10)
    }

    @Suite(.container { $0[Number.Second.self] = 2 }) struct Inner {
        @Test(
            "Traits nest, the innermost wins (law 19)", .container { $0[Number.Third.self] = 3 },
            .container { $0[Number.Third.self] = 4 })
        func nested() {
            let container = Container.current
            expect(
                [container[Number.self], container[Number.Second.self], container[Number.Third.self]],
                equals: [1, 2, 4])
        }

        @Test("A strict container by hand shares nothing with the test's (law 19)")
        func byHand() { expect(Container.strict()[Number.self], equals: 0) }
    }

    @Test("The initializer of the suite runs in the container, and tasks of the test inherit it (law 19)")
    func tasks() async {
        expect(made, is: Container.current)
        async let child = Container.current
        await expect(child, is: Container.current)
        await expect(Task { Container.current }.value, is: Container.current)
    }

    @MainActor final class Screen: MainActorFeature {
        let title: String
        init(title: String) { self.title = title }
        static func load(in container: any FeatureContainer) -> Screen { Screen(title: "loaded") }
    }

    @Test(
        "A configuration can suspend, and so set what belongs to the main actor (laws 8, 19)",
        .container { container in await MainActor.run { container[Screen.self] = Screen(title: "double") } })
    @MainActor func mainActor() async {
        expect(Container.current[Screen.self].title, equals: "double")
        var values = Container.current.values(of: Screen.self).makeAsyncIterator()
        _ = await values.next()
        Container.current[Screen.self] = Screen(title: "other")
        await expect(values.next()?.title, equals: "other")
    }

    @Test("The failures of a trait's own configuration are the test's, and what it throws fails the test (law 19)")
    func configuration() async {
        let text = StrictnessCase.refusal(of: "Mailer", line: "$0[Mailer.self] = …")
        let reading = await issues { try await runCase(.container { _ = $0[Mailer.self] }) {} }
        expect(reading.map(\.text), equals: [text])
        struct Refusal: Error {}
        let isRun = Counter()
        await #expect(throws: Refusal.self) {
            try await runCase(.container { _ in throw Refusal() }) { isRun.add() }
        }
        expect(isRun.value, equals: 0)
    }

    @Test("A configuration can set a part of an external feature, by which it does not fail (law 19)")
    func parts() async throws {
        let text = StrictnessCase.refusal(of: "Mailer", line: "$0[Mailer.self] = …")
        try await runCase(.container { $0[Mailer.self].name += " with an end" }) {
            expect(Container.current[Mailer.self].name, equals: "placeholder with an end")
        }
        expect(Container.strict { $0[Mailer.self].name += "!" }[Mailer.self].name, equals: "placeholder!")
        let found = await issues {
            let container = Container.strict {
                _ = $0[Signup.self]
                $0[Mailer.self].name += "!"
            }
            // What the configuration has read isn't kept.
            expect(container[Signup.self].mailer.name, equals: "placeholder!")
            _ = Container.strict { _ = $0[Mailer.self] }
        }
        let through = StrictnessCase.refusal(of: "Mailer", through: "Signup → Mailer", line: "$0[Mailer.self] = …")
        expect(found.map(\.text), equals: [through, text].map(StrictnessCase.byHand))
        let later = await issues { Container.current.child()[Mailer.self].name += "!" }
        expect(later.map(\.text), equals: [])
    }

    @Test(
        "The container is closed at the end of a case in which something was opened, also of one that throws (law 18)")
    func closing() async throws {
        struct Stop: Error {}
        let log = Log<String>()
        try await runCase(.container) {
            Container.current.replace(Mailer.self) {
                $0.onClose { log.add("closed") }
                return Mailer(name: "double")
            }
            _ = Container.current[Mailer.self]
            log.add("read")
        }
        expect(log.all, equals: ["read", "closed"])
        log.removeAll()
        try await runCase(.container { $0.onClose { log.add("outer") } }, .container { $0[Number.self] = 1 }) {
            Container.current.replace(Mailer.self) { container in
                container.onClose { log.add("inner") }
                return Mailer(name: "mailer \(container[Number.self])")
            }
            expect(Container.current[Mailer.self].name, equals: "mailer 1")
        }
        expect(log.all, equals: ["inner", "outer"])
        let found = await issues {
            try await runCase(.container { $0.onClose { throw Stop() } }) {
                Container.current.onClose { log.add("closed after an error") }
                throw Stop()
            }
        }
        expect(log.all.last, equals: "closed after an error")
        expect(found.count, equals: 2)
        expect(found.first?.text.contains("closing a container failed in 1 place"), equals: true)
    }
}

@Suite("Cases never see each other (law 19)", .container) struct StrictIsolationTests {}

extension StrictIsolationTests {
    @Test("A hundred cases at once never see each other (law 19)", arguments: 1...100)
    func cases(number: Int) async {
        await expect(Self.seesOnly(number))
    }

    @Test("A thousand at once, again and again: none sees another's, and all that was held is released (laws 7, 19)")
    func rounds() async throws {
        for _ in 1...Support.rounds(10, few: 1) {
            let (alone, ended) = (Counter(), Counter())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...1_000 {
                    group.addTask {
                        try await runCase(.container { $0[Held.self] = Witness { ended.add() } }) {
                            if await Self.seesOnly(number) { alone.add() }
                        }
                    }
                }
                try await group.waitForAll()
            }
            expect(alone.value, equals: 1_000)
            expect(ended.value, equals: 1_000)
        }
    }

    struct Held: Property { static var defaultValue: Witness? { nil } }

    /// Whether a case that sets `number` meets nothing else, in any of the ways in which it can read.
    private static func seesOnly(_ number: Int) async -> Bool {
        let container = Container.current
        guard container[Number.self] == 0, container[Doubled.self].value == 0 else { return false }
        container.update {
            $0[Number.self] = number
            $0.reset(Doubled.self)
        }
        await Task.yield()
        async let read = Container.current[Number.self]
        let (child, inChild) = (await read, container.child()[Doubled.self].value)
        return child == number && inChild == 2 * number && Container.current === container
    }
}

@Suite("A test that wants the real thing says so (law 19)", .liveContainer { $0[Number.self] = 5 })
struct StrictLiveTests {}

extension StrictLiveTests {
    @Test("A live container loads external features of every kind (law 19)")
    func kinds() async throws {
        let container = Container.current
        expect(container !== Container.shared)
        expect(container[Account.self].signup.mailer.name, equals: "live")
        expect(container.child()[Number.self], equals: 5)
        expect(container[Doubled.self].value, equals: 10)
        let (socket, database) = (try container[Network.Socket.self], try await container[Database.self])
        expect(socket.name, equals: "live")
        expect(database.name, equals: "live")
    }

    @Test("Within a live suite a test can be strict, and within that live again (law 19)", .container)
    func nested() async throws {
        let found = await issues { expect(Container.current[Mailer.self].name, equals: "placeholder") }
        expect(found.count, equals: 1)
        Container.current[Number.self] = 6
        try await runCase(.container { $0[Mailer.self] = Mailer(name: "double") }, .liveContainer) {
            expect(Container.current[Account.self].signup.mailer.name, equals: "double")
            let socket = try Container.current[Network.Socket.self]
            expect(socket.name, equals: "live")
        }
        Container.live {
            expect(Container.current[Signup.self].mailer.name, equals: "live")
            expect(Container.current[Number.self], equals: 6)
        }
        let name = try await Container.live { try await Container.current[Database.self].name }
        expect(name, equals: "live")
        expect(Container.current.ifLoaded(Signup.self) == nil)
    }

    @Test("A live operation closes what it opened when it ends, even if it throws (laws 18, 19)")
    func closing() async throws {
        struct Stop: Error {}
        let log = Log<String>()
        await #expect(throws: Stop.self) {
            try await Container.live {
                Container.current.onClose { log.add("closed") }
                await Task.yield()
                log.add("run")
                throw Stop()
            }
        }
        expect(log.all, equals: ["run", "closed"])
    }
}
