import Fugu

// The client of a web service. Rules configure a scope for each path.

extension ContainerKeys {
    var headers: PropertyKey<[String: String]> { .init(defaultValue: ["Accept": "application/json"]) }
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
    var token: PropertyKey<String?> { .init() }
}

/// Keeps connections open.
///
/// A scope has its own only if its timeout differs.
struct Connections: Feature {
    static let numbers = Number()
    let name: String

    static func load(in container: any FeatureContainer) -> Connections {
        Connections(name: "connections \(numbers.next()) (\(container.timeout) s)")
    }
}

/// The values that a call to the service uses.
struct Call: CustomStringConvertible {
    let headers: [String: String]
    let connections: String

    init(in container: Container) {
        headers = container.headers
        connections = container[Connections.self].name
    }

    var description: String {
        let headers = headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return "\(connections), \(headers.joined(separator: ", "))"
    }
}

func showApi() {
    let api = Container()
    api.configureScopes { scope in
        if let token = scope.token { scope.headers["Authorization"] = token }
    }
    api.configureScopes("/volcanos/*/image") { $0.headers["Accept"] = "image/png" }
    api.configureScopes("/reports/**") { $0.timeout = 300 }
    api.configureScopes(where: { $0.hasSuffix("/login") }, description: "logins") {
        $0.headers["Authorization"] = nil
    }
    func show(_ paths: String...) {
        for path in paths { print("   \(path)\n      \(Call(in: api.scope(path)))") }
    }

    heading("6. Scopes by path share connections, unless a rule sets another timeout.")
    let reports = api.scope("/reports/2025")
    show("/volcanos/3", "/volcanos/3/image?size=2", "/reports/2025", "/reports/2025/may")

    heading("7. After signing in, the rules run again; a login is sent without the token.")
    api.token = "Bearer 123"
    api.invalidateScopes()
    show("/volcanos/3", "/reports/2025", "/session/login")

    heading("8. What code sets in a scope stays there, and wins over rules.")
    let other = api.scope("/reports/2026")
    other.timeout = 600
    api.configureScopes { $0.timeout = 10 }
    show("/reports/2026", "/reports/2024", "/volcanos/3")
    withExtendedLifetime(reports) {}
}
