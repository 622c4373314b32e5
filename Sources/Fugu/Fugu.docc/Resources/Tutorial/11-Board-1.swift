import Fugu

extension ContainerKeys {
    var harbor: PropertyKey<String> { .init(defaultValue: "Bergen") }
}
