struct PropertyNaming: Sendable {}
