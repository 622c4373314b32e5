/// How a named key is asked of sources.
///
/// Made by this library for named keys; there is nothing to do with it outside.
@_documentation(visibility: internal)
public struct PropertyNaming: Sendable {
    /// The dotted path.
    package let name: String
    private let isSecretItself: Bool
    /// Whether the value must never be printed: a key of this name, or of one within it or around it, says so.
    package var isSecret: Bool { isSecretItself || SecretNames.concern(name) }
    let equal: Equality
    let ask: @Sendable (any ValueSources) -> SourceAnswer<Payload>

    /// `isDeclared`: Whether `isSecret` was said of the name and so holds for others of that name; not if it is
    /// only meant to be on the safe side.
    init<Value: Decodable & Sendable>(_ name: String, _: Value.Type, isSecret: Bool, isDeclared: Bool = true) {
        self.name = name
        isSecretItself = isSecret
        if isSecret, isDeclared { SecretNames.add(name) }
        equal = Equality(of: Value.self)
        ask = { sources in
            let isSecret = isSecret || SecretNames.concern(name)
            return switch sources.answer(name, as: Value.self, isSecret: isSecret) {
            case .nothing: .nothing
            case .value(let value): .value(Payload(value))
            case .failure(let error): .failure(error)
            }
        }
    }
}

/// The names that some key of the process calls secret.
///
/// Every question takes time for the length of the name asked about, however many secrets there are.
package enum SecretNames {
    private struct Known {
        var names: Set<String> = []
        /// The tables that a secret lies in.
        var tables: Set<String> = []
        /// The names as variables and arguments spell them, in which dots, dashes and capitals do not count.
        var spellings: Set<String> = []
    }

    private static let known = Locked(Known())

    static func add(_ name: String) {
        let spelling = spelling(of: name)
        let tables = prefixes(of: name)
        known.withLock { known in
            guard known.names.insert(name).inserted else { return }
            known.tables.formUnion(tables.lazy.map(String.init))
            known.spellings.insert(spelling)
        }
    }

    /// Returns a Boolean value that indicates whether the value of the name is a secret, holds one or is part of one.
    static func concern(_ name: String) -> Bool {
        known.withLock { $0.tables.contains(name) } || cover(name)
    }

    /// Returns a Boolean value that indicates whether the name, or a name around it, is itself a secret.
    package static func cover(_ name: String) -> Bool {
        let prefixes = prefixes(of: name)
        let spelling = spelling(of: name)
        return known.withLock { known in
            known.names.contains(name) || known.spellings.contains(spelling)
                || prefixes.contains { known.names.contains(String($0)) }
        }
    }

    /// Returns the part of a name that may be printed: what lies inside a secret is cut off.
    package static func printable(_ name: String) -> String {
        let prefixes = prefixes(of: name)
        return known.withLock { known in
            prefixes.first { known.names.contains(String($0)) }.map(String.init) ?? name
        }
    }

    /// `a` and `a.b` for `a.b.c` and `a.b[2]`.
    private static func prefixes(of name: String) -> [Substring] {
        let utf8 = name.utf8
        return utf8.indices.filter { utf8[$0] == UInt8(ascii: ".") || utf8[$0] == UInt8(ascii: "[") }
            .map { name[..<$0] }
    }

    private static func spelling(of name: String) -> String {
        String(name.lowercased().unicodeScalars.filter { $0 != "." && $0 != "-" && $0 != "_" })
    }
}

/// All that a container is given from outside, as the one thing that it asks: a name and a type in, a value or an error
/// out.
///
/// Asked on any thread, outside every lock; one object always answers the same.
package protocol ValueSources: AnyObject, Sendable {
    func answer<Value: Decodable & Sendable>(_ name: String, as: Value.Type, isSecret: Bool) -> SourceAnswer<Value>
    /// Whether a name has here what it had in `others`, so that nobody needs to hear of it.
    func holdsTheSame(_ name: String, as others: any ValueSources) -> Bool
    /// These and behind them `others`.
    func over(_ others: any ValueSources) -> any ValueSources
}

/// What sources say to a name.
package enum SourceAnswer<Value: Sendable>: Sendable {
    case nothing
    case value(Value)
    /// There is something, but not what was asked for: whoever reads gets the default, and this is reported once.
    case failure(any Error)
}
