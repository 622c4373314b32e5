import Fugu

extension ContainerKeys {
    var harbor: PropertyKey<String> { .init(defaultValue: "Bergen") }
}

let container = Container()
print(container.harbor)  // Bergen
