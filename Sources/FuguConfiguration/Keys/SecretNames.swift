import Fugu

/// The names that are secret according to some key of the process.
///
/// A lookup takes time in proportion to the length of the name, however many secrets there are.
package enum SecretNames {
    private struct Known {
        var names: Set<String> = []
        /// The tables that contain a secret.
        var tables: Set<String> = []
        /// The names as variables and arguments spell them, without dots, dashes, and uppercase letters.
        var spellings: Set<String> = []
        /// The names that a source has supplied as secrets, whether or not a key says so.
        var supplied: Set<String> = []
    }

    private static let known = Locked(Known())

    /// Notes that the name's value must never be printed.
    @inline(never) static func add(_ name: String) {
        let spelling = spelling(of: name)
        let tables = prefixes(of: name)
        known.withLock { known in
            guard known.names.insert(name).inserted else { return }
            known.tables.formUnion(tables.lazy.map(String.init))
            known.spellings.insert(spelling)
        }
    }

    /// Notes that a source has supplied a name's value as a secret.
    static func addSupplied(_ name: String) { known.withLock { _ = $0.supplied.insert(name) } }

    @inline(never) static func isSupplied(_ name: String) -> Bool { known.withLock { $0.supplied.contains(name) } }

    /// Returns a Boolean value that indicates whether the value of the name is a secret, contains one, or is part of
    /// one.
    @inline(never) static func concern(_ name: String) -> Bool {
        known.withLock { $0.tables.contains(name) } || cover(name)
    }

    /// Returns a Boolean value that indicates whether the name or a name around it is a secret.
    @inline(never) package static func cover(_ name: String) -> Bool {
        // Most programs that read thousands of names declare few secrets or none.
        if known.withLock({ $0.names.isEmpty }) { return false }
        let prefixes = prefixes(of: name)
        let spelling = spelling(of: name)
        return known.withLock { known in
            known.names.contains(name) || known.spellings.contains(spelling)
                || prefixes.contains { known.names.contains(String($0)) }
        }
    }

    /// Returns the part of a name that may be printed: `database.…` for a name inside the secret `database`.
    ///
    /// `marked`: Patterns for further secrets.
    static func printable(_ name: String, _ marked: [NamePattern] = []) -> String {
        let names = known.withLock { $0.names }
        let secret = prefixes(of: name).map(String.init).first { prefix in
            names.contains(prefix) || marked.contains { $0.concerns(prefix) }
        }
        return secret.map { "\($0).…" } ?? name
    }

    /// Returns `a` and `a.b` for `a.b.c` and for `a.b[2]`.
    private static func prefixes(of name: String) -> [Substring] {
        let utf8 = name.utf8
        return utf8.indices.filter { utf8[$0] == UInt8(ascii: ".") || utf8[$0] == UInt8(ascii: "[") }
            .map { name[..<$0] }
    }

    private static func spelling(of name: String) -> String {
        let marks: [UInt8] = [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_")]
        guard name.utf8.allSatisfy({ $0 < 0x80 }) else {
            return String(name.lowercased().unicodeScalars.filter { $0 != "." && $0 != "-" && $0 != "_" })
        }
        return String(
            decoding: name.utf8.filter { !marks.contains($0) }.map { $0 &- 65 < 26 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
