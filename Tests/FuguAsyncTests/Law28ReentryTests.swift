import Fugu
import Support
import Testing

@Suite("A closing that would wait for itself is found (law 28)", .timeLimit(.minutes(5))) struct Law28ReentryTests {
    static let cases: [Case<Law28ReentryTests>] = [
        Case(
            "A closer that waits for close() of its own container receives an error with a fix (law 28)", ownContainer),
        Case(
            "So is a closer that comes back to its own container through another one's close() (law 28)", throughAnother
        ),
        Case("So is a closer of an instance that left early, for which every closing waits (law 28)", leftEarly),
        Case("So is a load that waits for close() of the container it is made for (law 28)", inALoad),
        Case(
            "Of two loads that close each other's containers, one is thrown an error, and both end (law 28)", eachOther),
        Case(
            "A load or a closer may close what does not wait for it: another family, its own child (law 28)", unrelated),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law28ReentryTests>) async throws { try await stated.run(self) }

    /// The container that its closers close.
    enum TargetProperty: Property {
        static var defaultValue: @Sendable () async throws -> Void { {} }
    }
    struct Closing: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let (stage, close) = (container.stage, container[TargetProperty.self])
            container.onClose {
                stage.log.add("begin")
                defer { stage.log.add("end") }
                try await close()
            }
            return Thing(container[Tenant.self])
        }
    }

    private func failure(_ error: CloseError?) throws -> CloseError {
        let error = try #require(error)
        expect(error.code, equals: .teardownFailed)
        expect(error.failures.count, equals: 1)
        let failure = try #require(error.failures.first?.error as? CloseError)
        expect(failure.code, equals: .waitsForItself)
        expect(failure.failures.isEmpty)
        return failure
    }

    func ownContainer() async throws {
        let container = Container()
        container[TargetProperty.self] = { [unowned container] in try await container.close() }
        _ = try await container[Closing.self]
        let failure = try failure(await #expect(throws: CloseError.self) { try await container.close() })
        expect(failure.feature, equals: "Closing")
        expect(failure.description.contains("a teardown closure of Closing waits for close()"))
        expect(failure.description.contains("Fix: call close() from outside"))
        expect(container.stage.log.all, equals: ["begin", "end"])
        await #expect(throws: LoadError.self) { try await container[Closing.self] }
    }

    @Test(
        "So is a child's closer that waits for its parent, whichever of the two is closed (law 28)",
        arguments: [true, false])
    func parent(closesChild: Bool) async throws {
        let root = Container()
        root[TargetProperty.self] = { [unowned root] in try await root.close() }
        let child = root.child { $0[Tenant.self] = "child" }
        _ = try await child[Closing.self]
        let closed = closesChild ? child : root
        let failure = try failure(await #expect(throws: CloseError.self) { try await closed.close() })
        expect(failure.feature, equals: "Closing")
        try await root.close()
        expect(root.stage.log.all, equals: ["begin", "end"])
    }

    func throughAnother() async throws {
        let (first, second) = (Container(), Container())
        first.onClose { [unowned second] in try await second.close() }
        second.onClose { [unowned first] in try await first.close() }
        let outer = try #require(await #expect(throws: CloseError.self) { try await first.close() })
        let inner = try #require(outer.failures.first?.error as? CloseError)
        let failure = try #require(inner.failures.first?.error as? CloseError)
        expect(failure.feature == nil)
        expect(failure.description.contains("a teardown closure of the container itself"))
    }

    func leftEarly() async throws {
        let container = Container()
        container[TargetProperty.self] = { [unowned container] in try await container.close() }
        let reports = container.logReports()
        _ = try await container[Closing.self]
        container.reset(Closing.self)
        await expect(reports.first(1).first?.contains("a teardown closure of Closing waits for close()"), equals: true)
        try await container.close()
        expect(container.stage.log.all, equals: ["begin", "end"])
    }

    struct ClosesWhileLoading: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            try await container[TargetProperty.self]()
            return Thing()
        }
    }

    func inALoad() async throws {
        let container = Container()
        container[TargetProperty.self] = { [unowned container] in try await container.close() }
        let error = try #require(
            await #expect(throws: CloseError.self) { try await container[ClosesWhileLoading.self] })
        expect(error.code, equals: .waitsForItself)
        expect(error.feature, equals: "ClosesWhileLoading")
        expect(error.description.contains("the load of ClosesWhileLoading waits for close()"))
        // Nothing was closed by that.
        container[TargetProperty.self] = {}
        _ = try await container[ClosesWhileLoading.self]
    }

    func eachOther() async throws {
        let (first, second) = (Container(), Container())
        let (firstBegan, secondBegan) = (Gate(), Gate())
        first[TargetProperty.self] = { [unowned second] in
            firstBegan.open()
            await secondBegan.opened()
            try await second.close()
        }
        second[TargetProperty.self] = { [unowned first] in
            secondBegan.open()
            await firstBegan.opened()
            try await first.close()
        }
        async let one = error(of: { _ = try await first[ClosesWhileLoading.self] })
        async let other = error(of: { _ = try await second[ClosesWhileLoading.self] })
        let errors = await [one, other].compactMap(\.self)
        expect(errors.count, equals: 1)
        expect(errors.first?.code, equals: .waitsForItself)
        expect(errors.first?.feature, equals: "ClosesWhileLoading")
    }

    private func error(of body: () async throws -> Void) async -> CloseError? {
        do { try await body() } catch { return error as? CloseError }
        return nil
    }

    func unrelated() async throws {
        let (container, other) = (Container(), Container())
        let child = container.child()
        container[TargetProperty.self] = { [unowned child] in
            try await other.close()
            try await child.close()
        }
        _ = try await container[ClosesWhileLoading.self]
        _ = try await container[Closing.self]
        try await container.close()
        expect(container.stage.log.all, equals: ["begin", "end"])
    }
}
