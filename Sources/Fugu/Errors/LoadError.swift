/// Why the container itself could not load something: a cycle, a container that is closed or gone.
///
/// Thrown by reads of throwing and async features; a plain feature stops the program with the same words.
public struct LoadError: Error, Sendable, CustomStringConvertible {
    enum Code: Sendable, Equatable {
        case cycle, tooDeep, ended, closed
        case overridden(shared: String)
        case external(place: String?, remedy: String)
    }
    let code: Code
    /// The keys on the way to the one that could not be loaded, outermost first, that one last.
    public let path: [String]

    /// The whole message: what happened, the way there, what to do.
    public var description: String { Messages.loadError(code, path) }

    static func cycle(_ way: [Key]) -> LoadError { LoadError(code: .cycle, path: way.map(\.name)) }
    static func overridden(_ way: [Key], of shared: Key) -> LoadError {
        LoadError(code: .overridden(shared: shared.name), path: way.map(\.name))
    }
    static func tooDeep(_ way: [Key]) -> LoadError { LoadError(code: .tooDeep, path: way.map(\.name)) }
    static func closed(_ way: [Key]) -> LoadError { LoadError(code: .closed, path: way.map(\.name)) }
    static func external(_ way: [Key], at place: SourcePlace?, remedy: String) -> LoadError {
        LoadError(code: .external(place: place?.description, remedy: remedy), path: way.map(\.name))
    }
    static func ended(_ key: Key) -> LoadError { LoadError(code: .ended, path: [key.name]) }
}
