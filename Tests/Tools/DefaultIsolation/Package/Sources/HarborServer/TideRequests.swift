import Fugu
import Harbor

/// As on swift-dependencies: values of the task.
package func tideResponse(to id: Int) async throws -> String {
    // wiring
    try await Container.with {
        $0.requestID = id
    } operation: {
        try await TideHandler().respond()
    }
    // end
}

private struct TideHandler {
    // wiring
    @Injected(\.tides) var tides
    @Injected(\.port) var port
    @Injected(\.requestID) var id
    // end

    func respond() async throws -> String { "\(id): \(try await tides.height(port)) m in \(port)" }
}
