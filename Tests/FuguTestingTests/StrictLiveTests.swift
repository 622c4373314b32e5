import Fugu
import FuguTesting
import StrictnessCases
import Support
import Testing

@Suite("A test that wants the real thing says so (law 29)", .liveContainer { $0[Number.self] = 5 })
struct StrictLiveTests {}

extension StrictLiveTests {
    @Test("A live container loads external features of every kind (law 29)")
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

    @Test("Within a live suite a test can be strict, and within that live again (law 29)", .container)
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

    @Test("A live operation closes what it opened when it ends, even if it throws (laws 28, 29)")
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
