/// Who asks.
package enum User: Sendable, Equatable {
    case guest
    case admin
    /// Somebody with a token that's wrong.
    case impostor

    package init(authorization: String?, adminToken: String?) {
        guard let authorization else {
            self = .guest
            return
        }
        let given = authorization.hasPrefix("Bearer ") ? authorization.dropFirst("Bearer ".count) : ""
        guard let adminToken, !adminToken.isEmpty else {
            self = .impostor
            return
        }
        self = Self.isSame(Array(given.utf8), Array(adminToken.utf8)) ? .admin : .impostor
    }

    /// Takes a time that depends on the length of what was given, and on nothing that is secret.
    private static func isSame(_ given: [UInt8], _ secret: [UInt8]) -> Bool {
        var difference = given.count ^ secret.count
        for (index, byte) in given.enumerated() { difference |= Int(byte ^ secret[index % secret.count]) }
        return difference == 0
    }
}
