/// An error that a container throws if it can't load a feature.
///
/// Reads of throwing and async features throw it. A plain feature stops the program with the same message. To act on what
/// happened, compare the ``code-swift.property``:
///
/// ```swift
/// do {
///     return try await container[Search.self]
/// } catch let error as LoadError where error.code == .containerClosed {
///     return .unavailable
/// }
/// ```
public struct LoadError: Error, Sendable, CustomStringConvertible {
    /// The reason why a feature couldn't be loaded.
    public struct Code: Sendable, Equatable {
        private let name: String

        @usableFromInline init(_ name: String) { self.name = name }

        /// The feature needs itself to load.
        @_alwaysEmitIntoClient public static var cycle: Code { Code("cycle") }
        /// More loads need one another than the stack has room for.
        package static var nestedTooDeep: Code { Code("nestedTooDeep") }
        /// The container is closed.
        @_alwaysEmitIntoClient public static var containerClosed: Code { Code("containerClosed") }
        /// The container was released.
        @_alwaysEmitIntoClient public static var containerGone: Code { Code("containerGone") }
        /// The feature declares its home, and a container below overrides one of its inputs or has its own.
        package static var inputOverridden: Code { Code("inputOverridden") }
        /// The loader that replaces the feature's own reads the feature.
        package static var ownReplacement: Code { Code("ownReplacement") }
        /// The feature is declared without a load, and nothing supplies it.
        @_alwaysEmitIntoClient public static var notSupplied: Code { Code("notSupplied") }
        /// The feature reaches outside the process, and the container is strict.
        @_alwaysEmitIntoClient public static var notSet: Code { Code("notSet") }
        /// The feature reaches outside the process, and has no preview for Xcode.
        package static var noPreview: Code { Code("noPreview") }
    }

    enum Reason: Sendable {
        case ownReplacement, tooDeep, ended, closed
        case cycle(isDefault: Bool)
        case notSupplied(Key?, line: String)
        case overridden(feature: String, home: Home, byLocal: Bool)
        case external(isRequired: Bool, hasTestValue: Bool, remedy: String)
        case noPreview(name: String)
    }

    let reason: Reason
    /// The names of the keys on the path to the one that couldn't be loaded, which is the last.
    public let path: [String]
    /// The function and the line that read the last key of the path, if they're known.
    private(set) var place: String?

    /// The reason.
    public var code: Code {
        switch reason {
        case .cycle: .cycle
        case .ownReplacement: .ownReplacement
        case .notSupplied: .notSupplied
        case .tooDeep: .nestedTooDeep
        case .ended: .containerGone
        case .closed: .containerClosed
        case .overridden: .inputOverridden
        case .external: .notSet
        case .noPreview: .noPreview
        }
    }

    /// The message: what happened, the path that led there, the place of the read if it's known, and what to do.
    public var description: String { Messages.loadError(reason, path, place) }

    /// Returns the error with the place of the read that failed.
    ///
    /// The innermost read is the first to call it, so a place that is there stays.
    func read(at place: SourcePlace?) -> LoadError {
        var error = self
        error.place = error.place ?? place?.descriptionWithMember
        return error
    }

    static func cycle(_ way: [Key]) -> LoadError {
        LoadError(reason: .cycle(isDefault: way.last?.kind == .property), path: way.map(\.name))
    }
    static func ownReplacement(_ way: [Key]) -> LoadError { LoadError(reason: .ownReplacement, path: way.map(\.name)) }
    static func notSupplied(_ way: [Key]) -> LoadError {
        let line = way.last.map { Messages.supplyLine(for: $0) } ?? ""
        return LoadError(reason: .notSupplied(way.last, line: line), path: way.map(\.name))
    }
    /// The feature that nothing supplies, if that is the reason.
    var missingSupply: Key? { if case .notSupplied(let key, _) = reason { key } else { nil } }
    static func overridden(_ way: [Key], of feature: Key, home: Home, byLocal: Bool) -> LoadError {
        LoadError(reason: .overridden(feature: feature.name, home: home, byLocal: byLocal), path: way.map(\.name))
    }
    /// The name of the feature that couldn't be loaded: the last on the path, or the one whose input, the last, differs.
    package var feature: String {
        if case .overridden(let feature, _, _) = reason { return feature }
        return path.last ?? "?"
    }
    static func tooDeep(_ way: [Key]) -> LoadError { LoadError(reason: .tooDeep, path: way.map(\.name)) }
    static func closed(_ way: [Key]) -> LoadError { LoadError(reason: .closed, path: way.map(\.name)) }
    package static func external(_ way: [Key], at place: SourcePlace?, hasTestValue: Bool, remedy: String) -> LoadError
    {
        let isRequired = way.last?.isRequired ?? false
        let reason = Reason.external(isRequired: isRequired, hasTestValue: hasTestValue, remedy: remedy)
        return LoadError(reason: reason, path: way.map(\.name)).read(at: place)
    }
    static func noPreview(_ key: Key) -> LoadError {
        LoadError(reason: .noPreview(name: key.codeName), path: [key.name])
    }
    static func ended(_ way: [Key]) -> LoadError { LoadError(reason: .ended, path: way.map(\.name)) }
}

/// An error of closing a container.
///
/// ``Container/close(deadline:)`` throws it after every teardown closure has run. To act on what happened, compare the
/// ``code-swift.property``, and those of the ``failures``.
public struct CloseError: Error, Sendable, CustomStringConvertible {
    /// The reason.
    public struct Code: Sendable, Equatable {
        private let name: String

        @usableFromInline init(_ name: String) { self.name = name }

        /// Teardown closures failed or took too long; everything else was closed.
        @_alwaysEmitIntoClient public static var teardownFailed: Code { Code("teardownFailed") }
        /// A teardown closure or a load exceeded its deadline and was abandoned, as the errors of the ``failures`` say.
        @_alwaysEmitIntoClient public static var deadlineExceeded: Code { Code("deadlineExceeded") }
        /// The caller of `close()` would have waited for itself, so the call has closed nothing.
        ///
        /// A teardown closure or a load called `close()` of its own container or of one above. This is found in its task, and in tasks started from it. Closings whose closures wait for each other in separate tasks aren't found,
        /// and end only at a deadline.
        @_alwaysEmitIntoClient public static var waitsForItself: Code { Code("waitsForItself") }
    }

    /// What failed, with its name in messages: that of the feature or, outside a load, that of the container.
    typealias Failure = (feature: String?, error: any Error, name: String)

    /// What makes a call of `close()` that would wait for it.
    enum Caller: String { case load = "the load", closure = "a teardown closure" }

    private enum Reason: Sendable {
        case failures
        case deadline(Duration)
        case waitsForItself(Caller)
    }

    private let reason: Reason
    private let named: [Failure]
    /// The failures, in the order in which the closures ran, if the code is ``Code/teardownFailed``.
    ///
    /// Each has the feature that registered the closure or was loaded, or `nil` if the closure was registered outside a load; and the
    /// error that the closure threw, or a ``CloseError`` with the code ``Code/deadlineExceeded`` if it, or a load, was abandoned.
    public var failures: [(feature: String?, error: any Error)] { named.map { ($0.feature, $0.error) } }
    /// The feature whose teardown closure or load called `close()`, if the code is ``Code/waitsForItself``.
    package let feature: String?

    private init(_ reason: Reason, _ failures: [Failure] = [], feature: String? = nil) {
        self.reason = reason
        named = failures
        self.feature = feature
    }

    init(failures: [Failure]) { self.init(.failures, failures) }

    static func exceeded(_ deadline: Duration) -> CloseError { CloseError(.deadline(deadline)) }
    static func waitsForItself(_ feature: String?, _ caller: Caller) -> CloseError {
        CloseError(.waitsForItself(caller), feature: feature)
    }

    /// The reason.
    public var code: Code {
        switch reason {
        case .failures: .teardownFailed
        case .deadline: .deadlineExceeded
        case .waitsForItself: .waitsForItself
        }
    }

    /// What happened and what to do; for failures, their number, and for each the feature and its error.
    public var description: String {
        switch reason {
        case .failures: Messages.closeFailed(named)
        case .deadline(let deadline): Messages.deadlineExceeded(deadline)
        case .waitsForItself(let caller): Messages.closingWaitsForItself(feature, caller)
        }
    }
}

/// The failures of a warm-up.
///
/// Everything else was loaded.
public struct WarmUpError: Error, Sendable, CustomStringConvertible {
    package typealias Failure = (path: [String], error: any Error)

    /// The failures, in the order of the list.
    ///
    /// Each has the names of the features on the path from the one in the list to the one whose load threw the error, in this order,
    /// and the error. A feature that catches the error of another and throws its own is the last.
    public let failures: [(path: [String], error: any Error)]

    /// The number of failures, and for each the path to it and its error.
    public var description: String { Messages.warmUpFailed(failures) }
}
