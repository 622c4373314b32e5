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
            guard let root = try Yams.compose(yaml: String(contentsOfFile: name, encoding: .utf8)),
                case .table(let values)? = try Self.value(root)
            else { throw PropertyError("expected a mapping at the top", source: name) }
            return try PropertySnapshot(values, source: name)
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

    /// Null is left out, as in JSON.
    private static func value(_ node: Node) throws -> PropertyValue? {
        if let mapping = node.mapping {
            let members = try mapping.compactMap { member in
                try value(member.value).map { (member.key.string ?? "", $0) }
            }
            return .table(Dictionary(members) { first, _ in first })
        }
        if let elements = node.sequence { return .array(try elements.compactMap(value)) }
        return switch Tag.Name(rawValue: "\(node.tag)") {
        case .null: nil
        case .bool: node.bool.map { .bool($0) }
        case .int: node.int.map { .integer(Int64($0)) }
        case .float: node.float.map { .double($0) }
        default: .string(node.string ?? "")
        }
    }
}
