/// A source of values from environment variables: `api.baseUrl` with the prefix `APP` is `APP_API_BASE_URL`.
///
/// A name is written in uppercase, with `_` in place of dots and dashes and before each word that begins with an
/// uppercase letter. Text is parsed to the type of the key: `true` and `false`, numbers, `a,b` for arrays, `30s` for a
/// `Duration`. The environment never answers with a whole table, since members can't be distinguished from names with an
/// underscore; it has the members of a table that a key merges (see ``/Fugu/PropertyForm/merged``).
///
/// With a prefix, all variables that begin with it are considered to be meant for this program: `validate` reports
/// those that no key has.
public struct EnvironmentSource: CountedSource {
    private let variables: VariableList

    /// Creates a source of environment variables.
    ///
    /// - Parameters:
    ///   - prefix: The prefix of all names, spelled as a name is: `APP`, `app`, and `APP_` are the same. Empty for none.
    ///   - environment: The variables, those of this process by default, taken at this call.
    public init(prefix: String = "", environment: [String: String] = EnvironmentSource.current) {
        variables = VariableList(prefix: prefix, environment: environment)
    }

    /// The variables of this process at this moment.
    public static var current: [String: String] { processEnvironment() }

    /// The name of the source: `environment`, with the prefix if there is one.
    public var name: String { variables.prefix.isEmpty ? "environment" : "environment \(variables.prefix)_" }

    var valueCount: Int { variables.valueCount ?? 0 }

    /// Returns the variables.
    ///
    /// - Returns: The values.
    /// - Throws: Nothing.
    public func load() throws(PropertyError) -> PropertySnapshot { PropertySnapshot(source: name, content: variables) }
}
