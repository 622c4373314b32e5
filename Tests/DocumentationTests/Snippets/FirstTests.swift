import Fugu
import FuguTesting
import Testing

@Test(.container { $0.city = "Paris" })
func title() {
    #expect(Container.current[Almanac.self].title == "The sky over Paris")
}

extension Snippets {
    @Test("README: a child that overrides an input has its own copy, and shares the rest")
    func first() async throws {
        try await run {
            let app = Container()
            let request = app.child { $0.city = "Rome" }
            print(app[Almanac.self].title)  // The sky over Oslo
            print(request[Almanac.self].title)  // The sky over Rome
            print(request[Sky.self] === app[Sky.self])  // true
        }
    }

    @Test("README: a program sets up the shared container")
    func setUp() async throws {
        let container = Container()
        try await run {
            container.city = "Bergen"
            container.handleReports { report in print(report) }
            print(container[Almanac.self].title)  // The sky over Bergen
        }
    }

    @Test("README: a detached task takes the container along")
    func carry() async throws {
        try await Container.with(Container()) {
            try await run {
                let container = Container.current
                await Task.detached {
                    Container.with(container) { print(Container.current === container) }  // true
                }.value
            }
        }
    }
}

protocol LinkRepository: Sendable {
    func link(_ id: Int) -> String
}

nonisolated struct SavedLinks: LinkRepository {
    func link(_ id: Int) -> String { "saved/\(id)" }
}

enum Links: Feature {
    static func load(in container: any FeatureContainer) -> any LinkRepository { SavedLinks() }
}

nonisolated struct StubLinks: LinkRepository {
    func link(_ id: Int) -> String { "stub/\(id)" }
}

extension Snippets {
    @Test("README: an instance of another type, and swapping what suspends")
    func otherTypes() async throws {
        try await run {
            let container = Container()
            container[Links.self] = StubLinks()
            print(container[Links.self].link(7))  // stub/7
            container.set(Connection.self, to: Connection(address: Address(text: "eve@example.org")))
            print(try await container[Connection.self].address.text)  // eve@example.org
        }
    }
}
