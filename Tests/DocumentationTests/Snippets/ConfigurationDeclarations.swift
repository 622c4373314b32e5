import Fugu

extension ContainerKeys {
    var port: PropertyKey<Int> { .init("server.port", defaultValue: 8080) }
    var password: PropertyKey<String?> { .init("database.password", isSecret: true) }
}

extension ContainerKeys {
    var idleSeconds: PropertyKey<Int> {
        .init("http.idleSeconds", defaultValue: 30, help: "How long a connection may be idle.")
    }
}
