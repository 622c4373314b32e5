import Fugu

extension Properties {
    static let port = PropertyKey("server.port", defaultValue: 8080)
    static let password = PropertyKey<String?>("database.password", isSecret: true)
}
