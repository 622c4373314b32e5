public import Fugu

/// The value of a key, its origin, and what it hides.
///
/// Its description reads like this:
///
/// ```text
/// api.timeout = 5 (/srv/app/config.toml:3:11)
///   hides 10 (environment variable APP_API_TIMEOUT)
/// ```
public struct Explanation: Sendable, Hashable, CustomStringConvertible {
    /// The origin of a value.
    public enum Origin: Sendable, Hashable, CustomStringConvertible {
        /// Code set the value.
        case code
        /// A rule set the value for a scope.
        case rule
        /// A source has the value.
        case source(PropertyOrigin)
        /// Nothing gives a value, so the default applies.
        case defaultValue
        /// Nothing gives a value, although one is required.
        case missing

        /// A description of the origin; for a file, its path, line, and column.
        public var description: String {
            switch self {
            case .code: "set by code"
            case .rule: "set by a rule"
            case .source(let origin): origin.description
            case .defaultValue: "default"
            case .missing: "required"
            }
        }
    }

    /// A value with its origin.
    public struct Entry: Sendable, Hashable, CustomStringConvertible {
        /// The value as text, or `nil` if it's a secret.
        public let value: String?
        /// The origin of the value.
        public let origin: Origin

        /// The value, or a note that it's a secret, and its origin.
        public var description: String { "\(value ?? "(secret)") (\(origin))" }
    }

    /// The key's name, or if it has none, its name in messages.
    public let name: String
    /// The value that a read gives.
    public let winner: Entry
    /// The values that it hides, in the order of precedence; for merged tables, there are none.
    public let hidden: [Entry]
    /// The reason why the value of a source isn't used, if that is so.
    public let mistake: PropertyError?

    /// A member of a table that is merged from several sources.
    package struct Member: Sendable, Hashable, CustomStringConvertible {
        /// The dotted name within the table.
        package let name: String
        /// The place of its value.
        package let origin: PropertyOrigin

        /// The name and the place.
        package var description: String { "\(Quoted.line(name)) (\(origin))" }
    }

    /// The members if the value is a table that is merged from several sources; otherwise empty.
    package internal(set) var members: [Member] = []

    /// The old name under which a source has the value, if it doesn't use the new one.
    package internal(set) var formerName: String?

    /// The names of the features that were loaded from it.
    ///
    /// Explanations of all declared keys at once leave them out.
    public internal(set) var readers: [String] = []

    /// A line for the value, one for each member of a merged table, one for each value that it hides, and one for its
    /// readers.
    public var description: String {
        let lines =
            ["\(name) = \(winner)"] + (formerName.map { ["  under its old name, \(Quoted.line($0))"] } ?? [])
            + members.map { "  with \($0)" } + (mistake.map { ["  wrong: \($0)"] } ?? [])
            + hidden.map { "  hides \($0)" }
            + (readers.isEmpty ? [] : ["  read by \(readers.joined(separator: ", "))"])
        return lines.joined(separator: "\n")
    }
}

extension Container {
    /// Explains each declared key: its value, the origin of the value, and what it hides.
    ///
    /// - Returns: The explanations in the order of declaration. See `declare(_:)`.
    /// - Complexity: O(*k* × *s*) for *k* declared keys and *s* sources.
    public func explain() -> [Explanation] { declaredKeys.distinct.map { $0.explanation(self) } }

    /// Explains the value that a read of a key gives: its origin, what it hides, and what was loaded from it.
    ///
    /// Values of secret keys are left out, and so are defaults that were made from them, and the values inside tables and structs. If nothing else gives a
    /// value, the default is evaluated.
    ///
    /// - Parameter key: A key path to the key: `\.timeout`.
    /// - Returns: The explanation.
    /// - Complexity: O(*n* log *n*) for *n* containers, entries, and inputs of the family.
    public func explain<Value>(_ key: (ContainerKeys) -> PropertyKey<Value>) -> Explanation {
        let key = key(ContainerKeys())
        var explanation = origin(of: key)
        explanation.readers = readerNames(of: key._key)
        return explanation
    }

    /// Returns the names of what was loaded from a value, those of the root first, each with its container unless that is the
    /// root.
    private func readerNames(of definition: KeyDefinition) -> [String] {
        let readers = readers(of: definition)
        let keys = Dictionary(grouping: Set(readers.flatMap(\.keys)), by: \.name)
        // Two types may have the same name within others.
        func name(_ key: Key) -> String { keys[key.name]!.count > 1 ? key.codeName : key.name }
        return readers.flatMap { container, keys in
            keys.map(name).sorted().map { name in container.map { "\(name) (\($0))" } ?? name }
        }
    }

    /// Returns the explanation without the readers, for which it would have to draw a graph.
    func origin<Value>(of key: PropertyKey<Value>) -> Explanation {
        let layers = origins(of: key)
        return Explainer(
            name: key.name, label: key.label, isSecret: key.isSecret, isMerged: key.isMerged, isRequired: key.isRequired
        )
        .explanation(of: layers, isMadeFromSecret: { self.isMadeFromSecret(key._key) }) {
            key.isRequired ? nil : self[key]
        }
    }
}

/// Describes layers.
private struct Explainer {
    let name: String?
    let label: String
    let isSecret: Bool
    /// Whether a container's sources give one table together.
    let isMerged: Bool
    let isRequired: Bool

    func explanation<Value>(
        of layers: [ValueOrigin<Value>], isMadeFromSecret: () -> Bool, defaultValue: () -> Value?
    ) -> Explanation {
        let all = layers.flatMap { self.entries(of: $0) }
        var entries = all.map(\.entry)
        let answer = layers.answer()
        let winner: Explanation.Entry
        switch answer {
        case .success(let value?):
            let first = entries.removeFirst()
            // Show a source's value as its key decodes it, unless there's a table, whose values the type might print.
            winner =
                all[0].holdsTable
                ? first : entry(ValueText.text(of: value), first.origin, first.value == nil)
        case .failure:
            entries.removeFirst()
            winner = fallback(defaultValue(), isMadeFromSecret)
        case .success(nil): winner = fallback(defaultValue(), isMadeFromSecret)
        }
        var explanation = Explanation(
            name: Quoted.line(name ?? label), winner: winner, hidden: entries, mistake: answer.mistake)
        if let name { explanation.formerName = layers.answeringSources()?.formerName(of: name, as: Value.self) }
        if isMerged, answer.mistake == nil, let name {
            let table = layers.answeringSources()?.firstValue(named: name, isMerged: true)?.tree.merged
            explanation.members = table?.origins.map { Explanation.Member(name: $0.name, origin: $0.origin) } ?? []
        }
        return explanation
    }

    private func fallback<Value>(_ value: Value?, _ isMadeFromSecret: () -> Bool) -> Explanation.Entry {
        guard let value else { return Explanation.Entry(value: "nothing", origin: .missing) }
        return entry(ValueText.text(of: value), .defaultValue, isMadeFromSecret())
    }

    private func entries<Value>(of layer: ValueOrigin<Value>) -> [(entry: Explanation.Entry, holdsTable: Bool)] {
        switch layer {
        case .code(let value): return [(entry(ValueText.text(of: value), .code), false)]
        case .rule(let value): return [(entry(ValueText.text(of: value), .rule), false)]
        case .sources(let stack, _):
            guard let name else { return [] }
            let values = stack.values(
                named: name, as: Value.self, isMerged: isMerged, skipsEmpty: isSecret && isRequired)
            return values.map { value in
                let value = value.written(as: Value.self)
                return (entry(ValueText.text(of: value), .source(value.origin), value.isSecret), value.holdsTable)
            }
        }
    }

    private func entry(_ text: String, _ origin: Explanation.Origin, _ isHidden: Bool = false) -> Explanation.Entry {
        Explanation.Entry(value: isSecret || isHidden ? nil : text, origin: origin)
    }
}

/// The answer of sources for a name: a value, or `nil`, or the error of a value that can't be used.
typealias SourceAnswer<Value: Sendable> = Result<Value?, any Error>

/// An origin of a value.
enum ValueOrigin<Value: Sendable>: Sendable {
    case code(Value)
    case rule(Value)
    case sources(SourceStack, SourceAnswer<Value>)
}

extension Array {
    /// The answer of the first layer that has one.
    func answer<Value>() -> SourceAnswer<Value> where Element == ValueOrigin<Value> {
        for layer in self {
            switch layer {
            case .code(let value), .rule(let value): return .success(value)
            case .sources(_, .success(nil)): continue
            case .sources(_, let answer): return answer
            }
        }
        return .success(nil)
    }
}

extension Container {
    /// Returns everything that has a value for the key, in order of precedence.
    ///
    /// It doesn't count as a read.
    func origins<Value>(of key: PropertyKey<Value>) -> [ValueOrigin<Value>] {
        let naming = key.naming
        return heldValues(of: Key(raw: key._key.raw)).flatMap { held in
            var origins: [ValueOrigin<Value>] = []
            if let code = held.code { origins.append(.code(code.value(as: Value.self))) }
            if let rule = held.rule { origins.append(.rule(rule.value(as: Value.self))) }
            if let sources = held.supplier as? SourceStack {
                let answer = naming?.ask(sources) ?? .success(nil)
                origins.append(.sources(sources, answer.map { $0?.value(as: Value.self) }))
            }
            return origins
        }
    }
}

/// Texts of values for explanations.
///
/// The values inside a table are never shown, since one of them may be a secret that no key declares: only the names
/// in tables, structs, and dictionaries are.
enum ValueText {
    private static let depthLimit = 8

    /// Returns the text of a source's value.
    static func text(of value: LocatedValue) -> String { text(of: value, depth: 0) }

    private static func text(of value: LocatedValue, depth: Int) -> String {
        switch value.node.kind {
        case _ where value.tree.problem != nil: return "?"
        case .table: return names(value.memberNames)
        // What should be a table may hold a secret.
        case _ where value.seemsTable: return "text"
        case .array:
            guard depth < depthLimit else { return "[…]" }
            var elements: [String] = []
            value.forEachChild { elements.append(text(of: $0, depth: depth + 1)) }
            return "[" + elements.joined(separator: ", ") + "]"
        default: return value.propertyValue.description
        }
    }

    /// Returns the text of a Swift value, with strings in quotes and optionals unwrapped.
    static func text(of value: Any) -> String { text(of: value, depth: 0) }

    private static func text(of value: Any, depth: Int) -> String {
        switch value {
        case let text as String: return Quoted.string(text)
        case PropertyValue.table(let members): return names(members.keys.sorted())
        case PropertyValue.array(let elements): return list(elements, depth)
        case let value as PropertyValue: return value.description
        case let value as any RawRepresentable: return text(of: value.rawValue, depth: depth)
        case let value as Duration: return Quoted.string(DurationWords.seconds(value))
        default: break
        }
        // A source writes it as a string or a date.
        switch foundationPropertyValue(of: value) {
        case .string(let text): return Quoted.string(text)
        case .date(let text): return text
        default: break
        }
        let mirror = Mirror(reflecting: value)
        // A type of the program that is written as a table might print all of it.
        if let type = type(of: value) as? any Decodable.Type,
            mirror.displayStyle == .struct || mirror.displayStyle == .class,
            !Reflection.isOfLibrary(value), TypeShape.hasMembers(type)
        {
            return names(mirror.children.compactMap(\.label))
        }
        switch mirror.displayStyle {
        case .optional: return mirror.children.first.map { text(of: $0.value, depth: depth) } ?? "nil"
        case .collection: return list(mirror.children.map(\.value), depth)
        case .set:
            // A set has another order in each run.
            return list(Reflection.sorted(mirror.children.map(\.value)), depth)
        case .dictionary:
            let keys = mirror.children.compactMap { Mirror(reflecting: $0.value).children.first?.value }
            return names(keys.map { "\($0)" }.sorted())
        case .enum where !mirror.children.isEmpty: return "\(mirror.children.first?.label ?? "")(…)"
        case .struct where !(value is any CustomStringConvertible),
            .class where !(value is any CustomStringConvertible):
            return names(mirror.children.compactMap(\.label))
        case .tuple: return "(…)"
        default: return Quoted.line("\(value)")
        }
    }

    private static func list(_ elements: [Any], _ depth: Int) -> String {
        guard depth < depthLimit else { return "[…]" }
        return "[" + elements.map { text(of: $0, depth: depth + 1) }.joined(separator: ", ") + "]"
    }

    private static func names(_ names: [String]) -> String {
        "{" + names.map(Quoted.name).joined(separator: ", ") + "}"
    }
}
