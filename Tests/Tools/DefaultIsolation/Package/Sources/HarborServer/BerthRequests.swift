import Fugu
import Harbor

/// As with a scope of Factory: the bookings of one user.
package func berthResponse(to user: String, in container: Container) async throws -> String {
    // wiring
    try await container.withChild {
        $0.user = user
    } operation: {
        try await $0.bookings.next()
    }
    // end
}
