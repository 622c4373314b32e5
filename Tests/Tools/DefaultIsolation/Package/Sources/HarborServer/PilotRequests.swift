import Fugu
import Harbor

/// As with a child container of Swinject, and what an assembly registers.
package func pilotResponse(to ship: String, in container: Container) async throws -> String {
    // wiring
    try await container.child().pilot(ship).guide()
    // end
}

// wiring
package func assemble(_ container: Container) {
    container.spareRadio = Recording("standing by")
}
// end
