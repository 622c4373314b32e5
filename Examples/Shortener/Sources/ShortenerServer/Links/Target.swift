import Foundation

/// An address that a link may lead to.
struct Target: Equatable {
    let text: String

    /// The reason why an address is refused, for the person who entered it.
    struct Refusal: Error, Equatable, CustomStringConvertible {
        let description: String
    }

    /// Checks an address.
    ///
    /// - `text`: The address.
    /// - `ownHosts`: The names of this server, in small letters: a link to itself could lead in circles.
    init(_ text: String, ownHosts: Set<String>) throws(Refusal) {
        guard text.utf8.count <= 2048 else { throw Refusal(description: "The address is longer than 2048 bytes.") }
        // Control characters and spaces have no place in an address, and must not get into a header.
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), let url = URLComponents(string: text) else {
            throw Refusal(description: "This is not an address. Letters beyond ASCII must be encoded.")
        }
        guard let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme) else {
            throw Refusal(description: "The address must begin with http:// or https://.")
        }
        guard url.user == nil, url.password == nil else {
            throw Refusal(description: "The address must not contain a user name or a password.")
        }
        guard var host = url.host?.lowercased(), !host.isEmpty else {
            throw Refusal(description: "The address names no host.")
        }
        if host.hasSuffix(".") { host.removeLast() }
        guard !ownHosts.contains(host) else { throw Refusal(description: "The address leads back to this server.") }
        self.text = text
    }
}
