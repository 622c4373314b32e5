// compiler: error: cannot convert return expression of type 'String' to return type 'Int'
// Cure: give the key another name, or import only one of the modules where it is used.

import Fugu
import KeyLibrary

// KeyLibrary declares a key of this name, too. The own module's declaration wins, so a program means its own key; here the
// type shows it.
extension ContainerKeys {
    var publicLimit: PropertyKey<String> { .init(defaultValue: "none") }
}

func read(_ container: Container) -> Int { container.publicLimit }
