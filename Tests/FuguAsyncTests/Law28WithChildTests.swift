import Fugu
import Support
import Testing

@Suite("withChild closes its child however its operation ends (law 28)", .timeLimit(.minutes(5)))
struct Law28WithChildTests {
    static let cases: [Case<Law28WithChildTests>] = [
        Case("The child is configured, current while the operation runs, and closed at its end (law 28)", returns),
        Case("It is closed when the task is cancelled (law 28)", cancelled),
        Case(
            "If the configuration throws, the operation does not run and the child is closed (law 28)",
            configurationFails),
        Case("After it, the child refuses (law 28)", refuses),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law28WithChildTests>) async throws {
        try await stated.run(self)
    }

    struct Session: Feature {
        static func load(in container: any FeatureContainer) -> Thing {
            let (stage, tenant) = (container.stage, container[Tenant.self])
            container.onClose {
                stage.log.add("close \(tenant)")
                try stage.mayFail("close")
            }
            return Thing(tenant)
        }
    }

    func returns() async throws {
        let root = Container()
        let name = try await root.withChild {
            $0[Tenant.self] = "child"
        } operation: { child in
            expect(Container.current, is: child)
            let name = child[Session.self].name
            await Task.yield()
            root.stage.log.add("end of operation")
            return name
        }
        expect(name, equals: "child")
        expect(root.stage.log.all, equals: ["end of operation", "close child"])
        expect(root[Tenant.self], equals: "root")
        expect(root[Session.self].name, equals: "root")
    }

    @Test("It is closed when the operation throws, whose error is thrown (law 28)")
    func throwsTheError() async throws {
        let root = Container()
        let reports = root.logReports()
        await #expect(throws: Boom("operation")) {
            try await root.withChild {
                _ = $0[Session.self]
                throw Boom("operation")
            }
        }
        // It read nothing of the child's own, so the session lives in the root.
        expect(root.stage.log.all, equals: [])
        await #expect(throws: Boom("operation")) {
            try await root.withChild {
                $0[Tenant.self] = "child"
            } operation: {
                _ = $0[Session.self]
                throw Boom("operation")
            }
        }
        expect(root.stage.log.all, equals: ["close child"])
        expect(reports.all.filter(isOfClosing), equals: [])
    }

    func cancelled() async throws {
        let root = Container()
        let began = Gate()
        let task = Task {
            try await root.withChild {
                $0[Tenant.self] = "child"
            } operation: {
                _ = $0[Session.self]
                began.open()
                try await Gate().openedUnlessCancelled()
            }
        }
        await began.opened()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        expect(root.stage.log.all, equals: ["close child"])
    }

    @Test("A failure of the closing is thrown, or reported where the operation has thrown already (law 28)")
    func closingFails() async throws {
        let root = Container()
        let reports = root.logReports()
        root.stage.fail("close", times: 2)
        let error = try #require(
            await #expect(throws: CloseError.self) {
                try await root.withChild {
                    $0[Tenant.self] = "child"
                } operation: {
                    _ = $0[Session.self]
                }
            })
        expect(error.failures.map { $0.error as? Boom }, equals: [Boom("close")])
        expect(reports.all.filter(isOfClosing), equals: [])
        await #expect(throws: Boom("operation")) {
            try await root.withChild {
                $0[Tenant.self] = "child"
            } operation: {
                _ = $0[Session.self]
                throw Boom("operation")
            }
        }
        expect(reports.all.filter(isOfClosing).count, equals: 1)
        expect(
            reports.all.first(where: isOfClosing)?.contains(
                "closing the container of withChild failed, too, after its operation had thrown operation: "),
            equals: true)
        expect(reports.all.first(where: isOfClosing)?.contains("Session: close"), equals: true)
    }

    func configurationFails() async throws {
        let root = Container()
        let log = root.stage.log
        await #expect(throws: Boom("configuration")) {
            try await root.withChild {
                $0.onClose { log.add("closed") }
                throw Boom("configuration")
            } operation: { _ in
                log.add("operation")
            }
        }
        expect(log.all, equals: ["closed"])
    }

    func refuses() async throws {
        struct Late: ThrowingFeature {
            static var home: Home { .local }
            static func load(in container: any FeatureContainer) throws -> Thing { Thing() }
        }
        let child = try await Container().withChild { $0 }
        #expect(throws: LoadError.self) { try child[Late.self] }
    }
}

/// Ignores reports of instances that are made again for a child, which have nothing to do with closing.
private func isOfClosing(_ report: String) -> Bool { !report.contains("loads again for a child container") }
