/// Values of environment variables: `api.base_url` with the prefix `APP` is `APP_API_BASE_URL`.
///
/// A name is written in capitals, with `_` for every dot and dash. The texts are parsed to the type that is asked for:
/// `true` and `false`, numbers, `a,b` for arrays, `30s` for a `Duration`. A whole table is never answered, since its
/// members cannot be told from names with an underscore.
public struct EnvironmentSource: PropertySource {
    private let prefix: String
    private let environment: [String: String]

    /// - Parameters:
    ///   - prefix: what all names begin with, without the `_` after it; empty for none.
    ///   - environment: the variables, those of this process unless said. They are taken now: an environment does not
    ///     change from outside while a process runs.
    public init(prefix: String = "", environment: [String: String] = EnvironmentSource.current) {
        self.prefix = prefix
        self.environment = environment
    }

    /// The environment of this process as it is at this moment.
    public static var current: [String: String] { processEnvironment() }

    /// `environment`, with the prefix if there is one.
    public var name: String { prefix.isEmpty ? "environment" : "environment \(prefix)_" }

    /// Never throws.
    public func load() throws(PropertyError) -> PropertySnapshot {
        let (prefix, environment) = (prefix, environment)
        return PropertySnapshot(source: name) { name in
            let variable = Self.variable(for: name, prefix: prefix)
            guard let text = environment[variable] else { return nil }
            let store = NodeStore(text: text, name: name)
            return PropertyTree(store: store, source: "environment variable \(variable)").root
        }
    }

    static func variable(for name: String, prefix: String) -> String {
        let variable = String(name.uppercased().map { $0 == "." || $0 == "-" ? "_" : $0 })
        return prefix.isEmpty ? variable : "\(prefix)_\(variable)"
    }
}
