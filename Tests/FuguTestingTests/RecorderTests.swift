import Fugu
import FuguInspection
import FuguTesting
import StrictnessCases
import Support
import Testing

@Suite(.container) struct RecorderTests {}

extension RecorderTests {
    @Test("An observation recorder has what was observed, in order (law 10)")
    func values() {
        let container = Container.current
        container[Number.self] = 1
        let recorder = ObservationRecorder(Number.self)
        expect(recorder.values, equals: [])
        container[Number.self] = 2
        container.modify(Number.self) { $0 += 1 }
        container.reset(Number.self)
        expect(recorder.values, equals: [2, 3, 0])
        recorder.cancel()
        container[Number.self] = 9
        expect(recorder.values, equals: [2, 3, 0])
    }

    @Test("Every kind of key can be recorded")
    func kinds() async throws {
        let container = Container.strict()
        let port = ObservationRecorder(\.port, in: container)
        let doubled = ObservationRecorder(Doubled.self, in: container)
        let printer = ObservationRecorder(\.printer, in: container)
        let socket = ObservationRecorder(Network.Socket.self, in: container)
        let database = ObservationRecorder(Database.self, in: container)
        container.port = 1
        _ = container[Doubled.self]
        container.printer = "a"
        container.set(Network.Socket.self, to: Network.Socket(name: "b"))
        container.set(Database.self, to: Database(name: "c"))
        expect(port.values, equals: [1])
        expect(doubled.values.map(\.value), equals: [0])
        expect(printer.values, equals: ["a"])
        expect(socket.values.map(\.name), equals: ["b"])
        await expect(database.values(atLeast: 1).map(\.name), equals: ["c"])
    }

    @Test("It waits for what comes from another thread, without sleeping")
    func waiting() async {
        let container = Container.current
        let recorder = ObservationRecorder(Number.self)
        startThread { for number in 1...100 { container[Number.self] = number } }
        await expect(recorder.values(atLeast: 100), equals: Array(1...100))
        await expect(recorder.values(atLeast: 0).count, equals: 100)
    }

    @Test("A waiter goes on when its task is cancelled")
    func cancelling() async {
        let recorder = ObservationRecorder(Number.self)
        let waiting = Task { await recorder.values(atLeast: 1_000) }
        waiting.cancel()
        await expect(waiting.value, equals: [])
    }

    @Test("A released recorder observes no longer")
    func leaving() async throws {
        let (made, gone) = (Counter(), Counter())
        let container = Container.current
        do {
            let recorder = ObservationRecorder(Witnessed.self)
            container[Witnessed.self] = Witness { gone.add() }
            made.add(recorder.values.count)
        }
        container[Witnessed.self] = nil
        expect(made.value, equals: 1)
        expect(gone.value, equals: 1)
    }

    struct Witnessed: Property { static var defaultValue: Witness? { nil } }

    @Test("A load recorder records each load, in order, and its reader")
    func loads() async throws {
        let container = Container.current
        container[Mailer.self] = Mailer(name: "double")
        _ = container[Doubled.self]
        let recorder = LoadRecorder()
        expect(recorder.loads.isEmpty)
        _ = container[Account.self]
        _ = container[Doubled.self]
        _ = container.child { $0[Number.self] = 1 }[Doubled.self]
        expect(recorder.loads.map(\.description), equals: ["Account", "Account → Signup", "Doubled"])
        expect(recorder.loads[1].feature == "Signup" && recorder.loads[1].reader == "Account")
        expect(recorder.loads[0].reader == nil)
        expect(LoadRecorder(of: container).loads.isEmpty)
    }

    @Test("Loads that fail are recorded, refused ones are not")
    func failedLoads() async throws {
        struct Failing: ThrowingFeature {
            struct Stop: Error {}
            static func load(in container: any FeatureContainer) throws -> Failing { throw Stop() }
        }
        struct Asking: AsyncFeature {
            static func load(in container: any FeatureContainer) async throws -> Asking {
                _ = try await container[Database.self]
                return Asking()
            }
        }
        let recorder = LoadRecorder()
        #expect(throws: Failing.Stop.self) { try Container.current[Failing.self] }
        let found = await issues { _ = try? await Container.current[Asking.self] }
        expect(found.count, equals: 1)
        expect(recorder.loads.map(\.path), equals: [["Failing"], ["Asking"]])
    }

    @Test("An event recorder records the wanted events, in order, until it is released")
    func events() {
        let container = Container.current
        let all = EventRecorder()
        var writes: EventRecorder? = EventRecorder(of: container.child()) { $0 == .set || $0 == .overridden }
        container[Number.self] = 1
        let child = container.child { $0[Number.self] = 2 }
        _ = child[Doubled.self]
        expect(all.events.map(\.kind), equals: [.set, .overridden, .loadBegan, .loaded])
        expect(writes?.events.map(\.kind), equals: [.set, .overridden])
        expect(all.events.map(\.number), equals: all.events.map(\.number).sorted())
        writes = nil
        container[Number.self] = 3
        expect(all.events.count, equals: 5)
    }
}
