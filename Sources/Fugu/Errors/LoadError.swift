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
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name of the reason, such as `cycle`.
        public let description: String

        /// The feature needs itself to load.
        public static var cycle: Code { Code(description: "cycle") }
        /// More loads need one another than the stack has room for.
        public static var nestedTooDeep: Code { Code(description: "nestedTooDeep") }
        /// The container is closed.
        public static var containerClosed: Code { Code(description: "containerClosed") }
        /// The container was released.
        public static var containerGone: Code { Code(description: "containerGone") }
        /// The feature declares its home, and a container below overrides one of its inputs.
        public static var inputOverridden: Code { Code(description: "inputOverridden") }
        /// The loader that replaces the feature's own reads the feature.
        public static var ownReplacement: Code { Code(description: "ownReplacement") }
        /// The feature is declared without a load, and nothing supplies it.
        public static var notSupplied: Code { Code(description: "notSupplied") }
        /// The feature reaches outside the process, and the container is strict.
        public static var notSet: Code { Code(description: "notSet") }
        /// The feature reaches outside the process, and has no preview for Xcode.
        public static var noPreview: Code { Code(description: "noPreview") }
    }

    enum Reason: Sendable {
        case cycle, ownReplacement, tooDeep, ended, closed
        case notSupplied(Key?, line: String)
        case overridden(feature: String, home: Home)
        /// - `accessor`: The accessor of a feature that comes with the library.
        case external(isRequired: Bool, remedy: String, accessor: String?)
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

    static func cycle(_ way: [Key]) -> LoadError { LoadError(reason: .cycle, path: way.map(\.name)) }
    static func ownReplacement(_ way: [Key]) -> LoadError { LoadError(reason: .ownReplacement, path: way.map(\.name)) }
    static func notSupplied(_ way: [Key]) -> LoadError {
        let line = way.last.map { Messages.supplyLine(for: $0) } ?? ""
        return LoadError(reason: .notSupplied(way.last, line: line), path: way.map(\.name))
    }
    /// The feature that nothing supplies, if that is the reason.
    var missingSupply: Key? { if case .notSupplied(let key, _) = reason { key } else { nil } }
    static func overridden(_ way: [Key], of feature: Key, home: Home) -> LoadError {
        LoadError(reason: .overridden(feature: feature.name, home: home), path: way.map(\.name))
    }
    /// The name of the feature that couldn't be loaded: the last on the path, or the one whose input, the last, is overridden.
    package var feature: String {
        if case .overridden(let feature, _) = reason { return feature }
        return path.last ?? "?"
    }
    static func tooDeep(_ way: [Key]) -> LoadError { LoadError(reason: .tooDeep, path: way.map(\.name)) }
    static func closed(_ way: [Key]) -> LoadError { LoadError(reason: .closed, path: way.map(\.name)) }
    static func external(_ way: [Key], at place: SourcePlace?, remedy: String) -> LoadError {
        let accessor = way.last.flatMap(Messages.double).map { "container.\($0.prefix { $0 != " " })" }
        let isRequired = way.last?.isRequired ?? false
        let reason = Reason.external(isRequired: isRequired, remedy: remedy, accessor: accessor)
        return LoadError(reason: reason, path: way.map(\.name)).read(at: place)
    }
    static func noPreview(_ key: Key) -> LoadError {
        LoadError(reason: .noPreview(name: key.codeName), path: [key.name])
    }
    static func ended(_ key: Key) -> LoadError { LoadError(reason: .ended, path: Messages.path(to: key)) }
}
