// compiler: error: stored property 'send' of 'Sendable'-conforming struct 'Mail' has non-Sendable type '(String) -> ()'
// Cure: mark the closure `@Sendable`.

import Fugu

struct Mail: Feature, Sendable {
    var send: (String) -> Void
    static func load(in container: any FeatureContainer) -> Mail { Mail { _ in } }
}
