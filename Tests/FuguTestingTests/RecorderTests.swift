import Fugu
import FuguInspection
import FuguTesting
import StrictnessCases
import Support
import Testing

@Suite(.container) struct RecorderTests {}

extension RecorderTests {
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
