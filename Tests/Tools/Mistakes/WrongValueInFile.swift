// program: app.json:1:21: server.port: expected Int, found bool true
// Cure: write a number in the file; `require` throws the same instead of giving the default.

import Fugu
import FuguConfiguration

extension ContainerKeys {
    var port: PropertyKey<Int> { .init("server.port", defaultValue: 8080) }
}

let container = Container()
try container.apply(JSONSource(text: #"{"server": {"port": true}}"#, name: "app.json"))
print(container.port)
