/// An error that a container throws if it can't load a feature: because of a cycle, or because it's closed or has gone away.
///
/// Reads of throwing and async features throw it. A plain feature stops the program with the same message.
public struct LoadError: Error, Sendable, CustomStringConvertible {
    enum Code: Sendable, Equatable {
        case cycle, tooDeep, ended, closed
        case overridden(shared: String)
        case external(place: String?, remedy: String)
        case noPreview(name: String)
    }
    let code: Code
    /// The names of the keys on the path to the one that couldn't be loaded, which is the last.
    public let path: [String]

    /// The message: what happened, the path that led there, and what to do.
    public var description: String { Messages.loadError(code, path) }

    static func cycle(_ way: [Key]) -> LoadError { LoadError(code: .cycle, path: way.map(\.name)) }
    static func overridden(_ way: [Key], of shared: Key) -> LoadError {
        LoadError(code: .overridden(shared: shared.name), path: way.map(\.name))
    }
    static func tooDeep(_ way: [Key]) -> LoadError { LoadError(code: .tooDeep, path: way.map(\.name)) }
    static func closed(_ way: [Key]) -> LoadError { LoadError(code: .closed, path: way.map(\.name)) }
    static func external(_ way: [Key], at place: SourcePlace?, remedy: String) -> LoadError {
        LoadError(code: .external(place: place?.descriptionWithMember, remedy: remedy), path: way.map(\.name))
    }
    static func noPreview(_ key: Key) -> LoadError {
        LoadError(code: .noPreview(name: key.codeName), path: [key.name])
    }
    static func ended(_ key: Key) -> LoadError { LoadError(code: .ended, path: [key.name]) }
}
