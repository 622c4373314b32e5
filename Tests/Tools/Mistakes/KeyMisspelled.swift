// compiler: error: failed to produce diagnostic for expression; please submit a bug report (https://swift.org/contributing/#reporting-bugs)
// Cure: correct the name. The compiler has no message where the type of the value is known already; it does where the
// name is set (KeyMisspelledWhereSet).

import Fugu

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

func read(_ container: Container) -> Int { container.tiemout }
