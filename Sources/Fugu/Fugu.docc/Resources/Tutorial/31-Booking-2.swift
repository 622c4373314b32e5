import Fugu
import Synchronization

extension ContainerKeys {
    var requestID: PropertyKey<Int> { .init(defaultValue: 0) }
}

struct RequestLog: Feature {
    let id: Int

    static func load(in container: any FeatureContainer) -> RequestLog { RequestLog(id: container.requestID) }

    func log(_ text: String) { print("[\(id)] \(text)") }
}

final class Ledger: AsyncFeature, Sendable {
    private let seats = Mutex(0)

    static func load(in container: any FeatureContainer) async throws -> Ledger { Ledger() }

    func book() -> Int {
        seats.withLock { seats in
            seats += 1
            return seats
        }
    }
}
