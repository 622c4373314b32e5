// compiler: error: type 'UserName' does not conform to protocol 'Property'
// Cure: write `static var defaultValue`.

import Fugu

struct UserName: Property {
    var defaultValue: String { "guest" }
}
