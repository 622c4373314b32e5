final class Lease: Sendable {}
