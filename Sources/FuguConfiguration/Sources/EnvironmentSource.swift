/// Values of environment variables: `api.baseUrl` with the prefix `APP` is `APP_API_BASE_URL`.
///
/// A name is written in capitals, with `_` for every dot and dash and before every word that begins with a capital. The
/// texts are parsed to the type that is asked for: `true` and `false`, numbers, `a,b` for arrays, `30s` for a `Duration`. A
/// whole table is never answered, since its members cannot be told from names with an underscore.
///
/// With a prefix, all variables that begin with it are taken to be meant for this program: `validate` reports those that no
/// key has.
public struct EnvironmentSource: CountedSource {
    private let variables: VariableList

    /// Creates a source of environment variables.
    ///
    /// - Parameters:
    ///   - prefix: What all names begin with, without the `_` after it; empty for none.
    ///   - environment: The variables, those of this process by default. They are taken now: an environment does not change
    ///     from outside while a process runs.
    public init(prefix: String = "", environment: [String: String] = EnvironmentSource.current) {
        variables = VariableList(prefix: prefix, environment: environment)
    }

    /// The environment of this process as it is at this moment.
    public static var current: [String: String] { processEnvironment() }

    /// `environment`, with the prefix if there is one.
    public var name: String { variables.prefix.isEmpty ? "environment" : "environment \(variables.prefix)_" }

    var valueCount: Int { variables.valueCount ?? 0 }

    var prefix: String { variables.prefix }

    /// Takes the variables; never throws.
    public func load() throws(PropertyError) -> PropertySnapshot { PropertySnapshot(source: name, content: variables) }
}
