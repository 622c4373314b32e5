import Fugu
import FuguInspection
import FuguTesting
import Support
import Testing

@testable import Scopes

/// The parts of Scopes in separate containers.
@Suite(.container) struct ScopesRequestTests {
    private let server = Server(container: .current)

    @Test("A request that overrides nothing shares the server's account, one with a user has its own (law 16)")
    func accounts() {
        let recorder = LoadRecorder()
        let guest = server.request("1")
        let user = server.request("2") { $0[\.user] = "ada" }
        expect(guest[Account.self].name, equals: server.container[Account.self].name)
        expect(user[Account.self].name.contains("(ada, \(server.container[Pool.self].name))"))
        expect(recorder.loads.map(\.description), equals: ["Account", "Account → Pool", "Account"])
    }

    @Test(
        "A feature that reads the request's id is loaded for each request, and the scratchpad for each container that asks (law 15)"
    )
    func homes() {
        let recorder = LoadRecorder()
        let requests = ["1", "2", "3"].map { server.request($0) }
        for request in requests { _ = (request[RequestLog.self], request[Scratchpad.self], request[Pool.self]) }
        expect(recorder.loads.map(\.feature).filter { $0 == "RequestLog" }.count, equals: 3)
        expect(recorder.loads.map(\.feature).filter { $0 == "Scratchpad" }.count, equals: 3)
        expect(recorder.loads.map(\.feature).filter { $0 == "Pool" }.count, equals: 1)
        expect(requests.map { $0[RequestLog.self].name.hasSuffix("(\($0[\.requestID]))") }, equals: [true, true, true])
    }
}
