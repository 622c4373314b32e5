import Fugu

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
        // A source writes it as a string.
        if case .string(let text) = foundationPropertyValue(of: value) {
            return Quoted.string(text)
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
        case .collection, .set: return list(mirror.children.map(\.value), depth)
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
