import Foundation
import Fugu
import FuguInspection

/// An event as the page gets it: names and times, no values, and no error's text, which the graph shows without secrets.
struct Moment: Sendable, Encodable {
    let number: UInt64
    let kind: String
    let key: String?
    let container: Int
    let home: Int?
    let load: UInt64?
    let neededBy: UInt64?
    let path: [String]
    /// In milliseconds since the inspector was made.
    let time: Double
    /// In milliseconds.
    let duration: Double?

    init(_ event: ContainerEvent, since start: ContinuousClock.Instant) {
        number = event.number
        kind = event.kind.rawValue
        key = event.key
        container = event.container
        home = event.home
        load = event.load
        neededBy = event.neededBy
        path = event.path
        time = (event.time - start) / .milliseconds(1)
        duration = event.duration.map { $0 / .milliseconds(1) }
    }
}

extension [Moment] {
    var json: String { (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "[]" }
}
