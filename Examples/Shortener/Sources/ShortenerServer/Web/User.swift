import Foundation

/// The user who sends a request.
package enum User: Sendable, Equatable {
    case guest
    case admin
    /// A user with a wrong token.
    case impostor

    package init(authorization: String?, adminToken: String?) {
        guard let authorization else {
            self = .guest
            return
        }
        let token = authorization.hasPrefix("Bearer ") ? authorization.dropFirst("Bearer ".count) : ""
        self.init(token: token, adminToken: adminToken)
    }

    init(token: Substring, adminToken: String?) {
        guard let adminToken, !adminToken.isEmpty else {
            self = .impostor
            return
        }
        self = Self.isSame(Array(token.utf8), Array(adminToken.utf8)) ? .admin : .impostor
    }

    /// The password of a header for basic authentication.
    static func password(authorization: String) -> Substring? {
        guard authorization.hasPrefix("Basic "),
            let bytes = Data(base64Encoded: String(authorization.dropFirst("Basic ".count)))
        else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.firstIndex(of: ":").map { text[text.index(after: $0)...] }
    }

    /// Takes a time that depends on the length of the given token only, and on nothing secret.
    private static func isSame(_ given: [UInt8], _ secret: [UInt8]) -> Bool {
        var difference = given.count ^ secret.count
        for (index, byte) in given.enumerated() { difference |= Int(byte ^ secret[index % secret.count]) }
        return difference == 0
    }
}
