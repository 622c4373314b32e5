public import Fugu

extension Container {
    /// Runs an operation of a test with the real features.
    ///
    /// `Container.current` is a new container in which external features load as they do in the program. It has what was set in
    /// the container that was current before, or else in `Container.shared`, but no loaded instances. Containers that the operation
    /// makes with `Container()` load the real features, too.
    ///
    ///     func testServer() throws {
    ///         try Container.live { XCTAssertTrue(try Ping().answers) }
    ///     }
    ///
    /// - Parameter operation: The operation.
    /// - Returns: What `operation` returns.
    /// - Throws: What `operation` throws.
    public static func live<R, E>(_ operation: () throws(E) -> R) throws(E) -> R {
        try makeLiveContainer().run(operation)
    }

    /// Runs an async operation of a test with the real features.
    ///
    /// If something called `onClose`, the container is closed at the end.
    ///
    /// - Parameter operation: The operation.
    /// - Returns: What `operation` returns.
    /// - Throws: What `operation` throws.
    public static func live<R, E>(_ operation: () async throws(E) -> R) async throws(E) -> R {
        try await makeLiveContainer().run(operation)
    }

    /// Returns a copy of the current container that loads every feature.
    static func makeLiveContainer() -> Container {
        let container = Container(copying: .current)
        container.makeLive()
        return container
    }
}
