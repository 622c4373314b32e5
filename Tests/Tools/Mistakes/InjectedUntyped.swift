// compiler: error: missing argument for parameter 'greeter' in call
// Cure: name the member or the type: `@Injected(\.timeout)`, `@Injected(Greeter.self)`.

import Fugu

struct Greeter: Feature {
    static func load(in container: any FeatureContainer) -> Greeter { Greeter() }
}

struct Doorman {
    @Injected var greeter: Greeter
}

let doorman = Doorman()
