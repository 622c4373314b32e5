import Fugu

func respond(to id: Int, in app: Container) async throws {
    try await app.withChild {
        $0.requestID = id
    } operation: { request in
        try await request[Desk.self].book("08:00")
    }
}

let app = Container()
