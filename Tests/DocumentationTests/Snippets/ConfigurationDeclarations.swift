import Fugu

extension ContainerKeys {
    var port: PropertyKey<Int> { .init("server.port", defaultValue: 8080) }
    var password: PropertyKey<String?> { .init("database.password", isSecret: true) }
}

extension ContainerKeys {
    var databaseURL: PropertyKey<String> { .required("database.url") }
    var workers: PropertyKey<Int> { .init("workers", defaultValue: 4, form: .range(1...64)) }
    var tags: PropertyKey<[String]> { .init("tags", defaultValue: [], form: .separated(by: ";")) }
    var certificate: PropertyKey<String?> { .init("tls.certificate") }
    var privateKey: PropertyKey<String?> { .init("tls.key", isSecret: true) }
}

nonisolated struct PoolLimits: Decodable {
    var size: Int
    var idle: Int
}

extension ContainerKeys {
    var poolLimits: PropertyKey<PoolLimits?> { .init("pool", form: .merged) }
}

extension ContainerKeys {
    var idleSeconds: PropertyKey<Int> {
        .init("http.idleSeconds", defaultValue: 30, help: "How long a connection may be idle.")
    }
}
