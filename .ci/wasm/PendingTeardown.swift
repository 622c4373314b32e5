final class PendingTeardown: Sendable {
    init(_ lifetime: InstanceLifetime, isForNobody: Bool) {}
    func end() {}
}
