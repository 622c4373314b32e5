final class Departure: Sendable {
    init(_ lease: Lease, isForNobody: Bool) {}
    func end() {}
}
