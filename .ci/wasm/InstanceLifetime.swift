final class InstanceLifetime: Sendable {}
