// program: Fugu: a container was released without close(), so teardown closures of these never ran: Connection.
// Cure: call `close()` before you let the container go.

import Fugu

struct Connection: Feature {
    static func load(in container: any FeatureContainer) -> Connection {
        container.onClose {}
        return Connection()
    }
}

func serve() { _ = Container()[Connection.self] }

serve()
