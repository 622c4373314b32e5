public import Fugu

extension Container {
    /// Returns a new strict container, configured by a closure.
    ///
    ///     let container = Container.strict { $0.clock = .immediate }
    ///
    /// A feature that reaches outside the process and wasn't set isn't loaded: reading it fails the test and gives
    /// its placeholder, or throws if the kind can. Other reports of the container fail the test, too. Children and
    /// copies are strict as well.
    ///
    /// A failure goes to the library that runs the test. In a test with ``ContainerTrait`` it belongs to the test case;
    /// in any other test of Swift Testing it's recorded at the place of the test; under XCTest it belongs to the test
    /// that runs, at the place of this call. If no test runs, it stops the program with the message.
    ///
    /// - Parameters:
    ///   - fileID: The place where XCTest shows failures, together with the next three.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    ///   - configure: A closure that sets what the test needs. It can set a part of an external feature,
    ///     `$0.mailer.send = { … }`: the rest is that of the placeholder.
    /// - Returns: The container.
    /// - Throws: What `configure` throws.
    public static func strict<E>(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: Int = #column,
        _ configure: (Container) throws(E) -> Void
    ) throws(E) -> Container {
        try strict(at: SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column), configure)
    }

    /// Returns a new strict container in which nothing is set.
    ///
    /// - Parameters:
    ///   - fileID: The place where XCTest shows failures, together with the next three.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    /// - Returns: The container.
    public static func strict(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: Int = #column
    ) -> Container {
        strict(fileID: fileID, filePath: filePath, line: line, column: column) { _ in }
    }

    /// Runs an operation with a new strict container as `Container.current`.
    ///
    /// While it runs, a use of `Container.shared` fails the test.
    ///
    ///     func testForecast() {
    ///         Container.strict { $0[WeatherClient.self] = WeatherClient { _ in 21 } } operation: {
    ///             XCTAssertEqual(Forecast().text, "21°")
    ///         }
    ///     }
    ///
    /// - Parameters:
    ///   - fileID: The place where XCTest shows failures, together with the next three.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    ///   - configure: A closure that sets what the test needs.
    ///   - operation: The operation.
    /// - Returns: What `operation` returns.
    /// - Throws: What `configure` and `operation` throw.
    public static func strict<R, E>(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: Int = #column,
        _ configure: (Container) throws(E) -> Void, operation: () throws(E) -> R
    ) throws(E) -> R {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        return try TestCase.byHand(at: place) { () throws(E) in
            try strict(at: place, configure).run(operation)
        }
    }

    /// Runs an async operation with a new strict container as `Container.current`.
    ///
    /// While it runs, a use of `Container.shared` fails the test. If something called `onClose`, the container is closed at the
    /// end.
    ///
    /// - Parameters:
    ///   - fileID: The place where XCTest shows failures, together with the next three.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    ///   - configure: A closure that sets what the test needs.
    ///   - operation: The operation.
    /// - Returns: What `operation` returns.
    /// - Throws: What `configure` and `operation` throw.
    public static func strict<R, E>(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: Int = #column,
        _ configure: (Container) throws(E) -> Void, operation: () async throws(E) -> R
    ) async throws(E) -> R {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        return try await TestCase.byHand(at: place) { () async throws(E) in
            try await strict(at: place, configure).run(operation)
        }
    }
}

extension Container {
    private static func strict<E>(
        at place: SourcePlace, _ configure: (Container) throws(E) -> Void
    ) throws(E) -> Container {
        // A thread of the test doesn't know the test, but objects that the test created remember it.
        let maker = Maker()
        Failure.recordKept()
        let container = Container()
        Runner.begin()
        container.makeStrict(
            Strictness(advise: Messages.adviceByHand) { Audience.present(orOf: maker).fail(by: $0, at: place) })
        container.handleReports { Audience.present(orOf: maker).fail($0, at: place) }
        container.beginConfiguration()
        try configure(container)
        container.endConfiguration()
        return container
    }

    /// Runs an operation with this container as the current one.
    func run<R, E>(_ operation: () throws(E) -> R) throws(E) -> R { try Container.with(self, operation: operation) }

    /// Runs an operation with this container as the current one, and then its teardown closures.
    func run<R, E>(_ operation: () async throws(E) -> R) async throws(E) -> R {
        let result = await Container.with(self) { () async -> Result<R, E> in
            do throws(E) { return .success(try await operation()) } catch { return .failure(error) }
        }
        if hasClosers {
            do { try await close() } catch { report("\(error)") }
        }
        return try result.get()
    }
}

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
