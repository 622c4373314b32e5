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
    static var home: Home { .shared }
    private let seats = Mutex(0)

    static func load(in container: any FeatureContainer) async throws -> Ledger { Ledger() }

    func book() -> Int {
        seats.withLock { seats in
            seats += 1
            return seats
        }
    }
}

struct Desk: AsyncFeature {
    let ledger: Ledger
    let log: RequestLog

    static func load(in container: any FeatureContainer) async throws -> Desk {
        Desk(ledger: try await container[Ledger.self], log: container[RequestLog.self])
    }

    func book(_ departure: String) {
        log.log("seat \(ledger.book()) at \(departure)")
    }
}
