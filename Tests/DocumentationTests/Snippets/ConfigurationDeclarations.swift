import Fugu

extension ContainerKeys {
    var port: PropertyKey<Int> { .init("server.port", defaultValue: 8080) }
    var password: PropertyKey<String?> { .init("database.password", isSecret: true) }
}
