import Fugu
import Harbor
import Observation

@Observable package final class TideModel {
    // wiring
    @ObservationIgnored @Injected(\.tides) private var tides
    @ObservationIgnored @Injected(\.clock) private var clock
    @ObservationIgnored @Injected(\.port) private var port
    // end
    package private(set) var heights: [Double] = []

    package init() {}

    /// Measures each minute.
    package func follow() async throws {
        while true {
            try await heights.append(tides.height(port))
            try await clock.sleep(for: .seconds(60))
        }
    }
}

/// What a preview shows.
package func tidePreview() -> TideModel {
    // wiring
    Container.with {
        $0.tides.height = { _ in 1.5 }
    } operation: {
        TideModel()
    }
    // end
}
