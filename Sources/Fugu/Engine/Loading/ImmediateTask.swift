extension Task where Failure == Never {
    /// Starts a task.
    ///
    /// If it is to start at once, and the platform has that, it runs on the caller's thread until it suspends for the
    /// first time: what doesn't suspend costs no hop to another thread.
    static func start(
        atOnce: Bool, _ operation: sending @escaping @isolated(any) () async -> Success
    ) -> Task {
        guard atOnce, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            return Task(operation: operation)
        }
        return .immediate(operation: operation)
    }

    /// Starts a task that inherits nothing from its caller, otherwise the same.
    static func startDetached(
        atOnce: Bool, _ operation: sending @escaping @isolated(any) () async -> Success
    ) -> Task {
        guard atOnce, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            return .detached(operation: operation)
        }
        return .immediateDetached(operation: operation)
    }
}

extension Task<Never, Never> {
    /// Whether code isolated so runs on an actor, which is not to be held up.
    ///
    /// Not in place: the compiler (6.3.1) fails there.
    @inline(never)
    static func isOnActor(_ isolation: (any Actor)?) -> Bool { isolation != nil }
}
