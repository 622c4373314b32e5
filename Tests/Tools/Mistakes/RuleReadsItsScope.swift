// program: Fugu: a rule for scope /orders reads that scope while it is being configured.
// Cure: read from the container that the rule is given.

import Fugu

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

let api = Container()
api.configureScopes("/orders") { $0.timeout = api.scope("/orders").timeout + 1 }
print(api.scope("/orders").timeout)
