import FuguLoadStates
import Support
import Testing

@testable import Fugu

extension ContainerKeys {
    fileprivate var port: PropertyKey<Int> { .init(defaultValue: 0) }
    fileprivate var gates: PropertyKey<HomeHiddenTests.Gates?> { .init(defaultValue: nil) }
}

/// Law 11: a home's instance that a key on the way hides.
struct HomeHiddenTests {
    /// Holds up the first load.
    struct Gates: Sendable {
        let began = Gate(), goesOn = Gate()
        func pass() {
            if began.isOpen { return }
            began.open()
            goesOn.wait()
        }
    }
    struct Server: ThrowingFeature {
        static var home: Home { .shared }
        let text: String
        static func load(in container: any FeatureContainer) throws -> Server {
            let port = container.port
            container.gates?.pass()
            return Server(text: "server \(port)")
        }
    }
    struct Client: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> String {
            container.gates?.pass()
            return try "client of \(container[Server.self].text)"
        }
    }
    private let root = Container()

    private func isHidden(_ error: (any Error)?) -> Bool { (error as? LoadError)?.code == .inputOverridden }

    @Test(
        "An observer or a sequence of states below has the instance again when the override goes (laws 9 and 11)",
        .timeLimit(.minutes(5)))
    func observer() async throws {
        // An observer below hears the instance again when the override goes.
        do {
            root.handleReports { _ in }
            let (child, heard) = (root.child(), Log<String>())
            child.observe(Server.self) { heard.add($0.text) }
            _ = try root[Server.self]
            child.port = 1
            child.set(Server.self, to: Server(text: "set"))
            child.reset(Server.self)
            child.reset(\.port)
            expect(heard.all.last, equals: "server 0")
            try expect(child[Server.self].text, equals: "server 0")
        }
        // So does a sequence of states.
        do {
            let root = Container()
            root.handleReports { _ in }
            _ = try root[Server.self]
            let child = root.child { $0.port = 1 }
            var states = child.states(of: Server.self).makeAsyncIterator()
            while await states.next().map({ isHidden($0.error) }) == false {}
            child.reset(\.port)
            while await states.next()?.instance?.text != "server 0" {}
        }
    }

    @Test("The error of a reader that overrides an input isn't that of a waiter that doesn't (laws 4 and 11)")
    func waiters() async throws {
        root.handleReports { _ in }
        _ = try root[Server.self]
        let gates = Gates()
        root.gates = gates
        let (child, sibling) = (root.child { $0.port = 7 }, root.child())
        let (failure, text) = (Log<any Error>(), Log<String>())
        let first = startThread { do { _ = try child[Client.self] } catch { failure.add(error) } }
        await gates.began.opened()
        let second = startThread { do { try text.add(sibling[Client.self]) } catch { text.add("\(error)") } }
        await root.untilWaiting(for: Client.self, 1)
        gates.goesOn.open()
        await first.opened()
        await second.opened()
        expect(isHidden(failure.all.first))
        expect(text.all, equals: ["client of server 0"])
    }

    @Test("A child whose own load runs in the home meets the error, whatever changes there meanwhile (law 11)")
    func ownLoad() async {
        let changes: [@Sendable (Container) -> Void] = [
            { $0.reset(Server.self) }, { root in root.replace(Server.self) { Server(text: "\($0.port)") } },
        ]
        for change in changes {
            let (root, gates, failure) = (Container().unreported, Gates(), Log<(any Error)?>())
            root.gates = gates
            let child = root.child { $0.port = 7 }
            let reader = startThread {
                do {
                    _ = try child[Server.self]
                    failure.add(nil)
                } catch { failure.add(error) }
            }
            await gates.began.opened()
            change(root)
            gates.goesOn.open()
            await reader.opened()
            expect(failure.count == 1 && isHidden(failure.all[0]))
        }
    }
}
