import Fugu
import Harbor

/// As on swift-dependencies: values of the task.
package func tideResponse(to id: Int) async throws -> String {
    // wiring of tides
    try await Container.with {
        $0.requestID = id
    } operation: {
        try await TideHandler().respond()
    }
    // end
}

private struct TideHandler {
    // wiring of tides
    @Injected(\.tides) var tides
    @Injected(\.port) var port
    @Injected(\.requestID) var id
    // end

    func respond() async throws -> String { "\(id): \(try await tides.height(port)) m in \(port)" }
}

/// As with a scope of Factory: the bookings of one user.
package func berthResponse(to user: String, in container: Container) async throws -> String {
    // wiring of berths
    try await container.withChild {
        $0.user = user
    } operation: {
        try await $0.bookings.next()
    }
    // end
}

/// As with a child container of Swinject, and what an assembly registers.
package func pilotResponse(to ship: String, in container: Container) async throws -> String {
    // wiring of pilots
    try await container.child().pilot(ship).guide()
    // end
}

// wiring of pilots
package func assemble(_ container: Container) {
    container.spareRadio = Recording("standing by")
}
// end
