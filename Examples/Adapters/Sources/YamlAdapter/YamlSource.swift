import Foundation
public import FuguConfiguration
import Yams

/// A source with the values of a YAML file, whose root must be a mapping.
public struct YamlSource: PropertySource {
    /// The path.
    public let name: String

    /// Creates a source.
    ///
    /// The file is read when the source is applied and at each reload.
    public init(path: String) { name = path }

    /// Reads the file.
    public func load() throws(PropertyError) -> PropertySnapshot {
        do {
            var reading = Reading(source: name)
            guard let root = try Yams.compose(yaml: String(contentsOfFile: name, encoding: .utf8)),
                case .table(let values)? = reading.value(root, named: "")
            else { throw PropertyError("expected a mapping at the top", source: name) }
            let origins = reading.origins
            return try PropertySnapshot(values, source: name) { origins[$0] }
        } catch let error as PropertyError {
            throw error
        } catch YamlError.scanner(_, let problem, let mark, _), YamlError.parser(_, let problem, let mark, _) {
            throw PropertyError(problem, source: name, line: mark.line, column: mark.column)
        } catch {
            throw PropertyError("the file can't be read as YAML", source: name)  // Errors of Yams quote the text.
        }
    }

    /// Changes with the file.
    public func modificationStamp() -> PropertySourceStamp? { PropertySourceStamp(file: name) }
}

/// Converts nodes to values, and remembers where they are.
private struct Reading {
    let source: String
    private(set) var origins: [String: PropertyOrigin] = [:]

    init(source: String) { self.source = source }

    /// Null is left out, as in JSON.
    mutating func value(_ node: Node, named name: String) -> PropertyValue? {
        origins[name] = node.mark.map { PropertyOrigin(source: source, line: $0.line, column: $0.column) }
        if let mapping = node.mapping {
            var members: [String: PropertyValue] = [:]
            for (key, node) in mapping {
                let key = key.string ?? ""
                guard members[key] == nil else { continue }
                members[key] = value(node, named: name.isEmpty ? key : name + "." + key)
            }
            return .table(members)
        }
        if let sequence = node.sequence {
            var elements: [PropertyValue] = []
            for node in sequence {
                if let element = value(node, named: "\(name)[\(elements.count)]") { elements.append(element) }
            }
            return .array(elements)
        }
        return switch Tag.Name(rawValue: "\(node.tag)") {
        case .null: nil
        case .bool: node.bool.map { .bool($0) }
        case .int: node.int.map { .integer(Int128($0)) }
        case .float: node.float.map { .double($0) }
        default: .string(node.string ?? "")
        }
    }
}
