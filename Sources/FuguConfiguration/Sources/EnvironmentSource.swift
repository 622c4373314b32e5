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
        variables = VariableList(prefix: prefix, variables: environment) { "environment variable \($0)" }
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

/// Texts under names in capitals, as the environment and `.env` files have them.
struct VariableList: SnapshotContent {
    let prefix: String
    let variables: [String: String]
    /// Where a variable stands.
    let place: @Sendable (String) -> String

    var valueCount: Int? { variables.count }

    func value(named name: String) -> LocatedValue? {
        let variable = spelling(of: name)
        guard let text = variables[variable] else { return nil }
        return PropertyTree(store: NodeStore(text: text, name: name), source: place(variable)).root
    }

    private func spelling(of name: String) -> String {
        let variable = Spelling.variable(name, prefix: prefix)
        guard variables[variable] == nil else { return variable }
        let plain = Spelling.plainVariable(name, prefix: prefix)
        return variables[plain] == nil ? variable : plain
    }

    /// Without a prefix most variables are meant for others: then only those are reported that a type would have read if the
    /// environment had tables.
    func unknownNames(_ known: KnownNames) -> [PropertyError] {
        let spellings = Set(known.names.map(spelling))
        var errors = known.members.sorted().compactMap { member -> PropertyError? in
            let variable = spelling(of: member)
            guard variables[variable] != nil, !spellings.contains(variable) else { return nil }
            return inside(known, variable)
        }
        guard !prefix.isEmpty else { return errors }
        let members = Set(known.members.map(spelling))
        let own = variables.keys.filter { $0.hasPrefix(prefix + "_") && !members.contains($0) }
        let sorted = spellings.sorted()
        var nearest = NearestName()
        for variable in own.filter({ !spellings.contains($0) }).sorted() {
            let suggestion = nearest.suggestion(for: variable, in: sorted)
            let unknown = PropertyError(ErrorText.unknownName(suggestion: suggestion), source: place(variable))
            errors.append(suggestion == nil ? inside(known, variable) ?? unknown : unknown)
        }
        return errors
    }

    /// The error of a variable that would lie in the table of a known name.
    private func inside(_ known: KnownNames, _ variable: String) -> PropertyError? {
        let table = known.names.filter { variable.hasPrefix(spelling(of: $0) + "_") }.max { $0.count < $1.count }
        return table.map { PropertyError(ErrorText.insideTable($0), source: place(variable)) }
    }

    func place(of name: String) -> String? { Spelling.variable(name, prefix: prefix) }
}
