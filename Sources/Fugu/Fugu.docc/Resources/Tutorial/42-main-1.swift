import Fugu
import FuguConfiguration

func respond(to id: Int, in app: Container) async throws {
    try await app.withChild {
        $0.requestID = id
    } operation: { request in
        try await request[Desk.self].book("08:00")
    }
}

let app = Container()
app.declare(\.harbor, \.seats, \.token)
try app.apply(TOMLSource(text: "[ferry]\nharbor = 'Stavanger'", name: "ferry.toml"))
try app.validate()

try await app.warmUp { $0.load(Ledger.self) }
try await respond(to: 1, in: app)  // [1] seat 1 at 08:00
try await respond(to: 2, in: app)  // [2] seat 2 at 08:00
try await app.close(deadline: .seconds(5))  // 2 seats booked
