import Foundation
public import FuguConfiguration
import Yams

/// Values of a YAML file, whose top must be a mapping.
public struct YamlSource: PropertySource {
    private let path: String

    /// Creates a source.
    ///
    /// The file is read when the source is applied and at each reload.
    public init(path: String) { self.path = path }

    /// The path.
    public var name: String { path }

    /// Reads the file.
    public func load() throws(PropertyError) -> PropertySnapshot {
        do {
            guard let root = try Yams.compose(yaml: String(contentsOfFile: path, encoding: .utf8)),
                case .table(let values)? = try Self.value(root)
            else { throw PropertyError("expected a mapping at the top", source: path) }
            return try PropertySnapshot(values, source: path)
        } catch let error as PropertyError {
            throw error
        } catch YamlError.scanner(_, let problem, let mark, _), YamlError.parser(_, let problem, let mark, _) {
            throw PropertyError(problem, source: path, line: mark.line, column: mark.column)
        } catch {
            throw PropertyError("the file can't be read as YAML", source: path)  // Errors of Yams quote the text.
        }
    }

    /// Changes with the file.
    public func modificationStamp() -> PropertySourceStamp? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        let date = (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
        return PropertySourceStamp(Int64(date * 1_000_000), attributes?[.size] as? Int64 ?? -1)
    }

    /// Null is left out, as in JSON.
    private static func value(_ node: Node) throws -> PropertyValue? {
        switch (node, node.tag.description) {
        case (.mapping(let members), _):
            let pairs = try members.map { ($0.key.string ?? "", try value($0.value)) }
            return .table(Dictionary(uniqueKeysWithValues: pairs).compactMapValues { $0 })
        case (.sequence(let elements), _): return .array(try elements.compactMap { try value($0) })
        case (_, "tag:yaml.org,2002:null"): return nil
        case (_, "tag:yaml.org,2002:bool"): return node.bool.map { .bool($0) }
        case (_, "tag:yaml.org,2002:int"): return node.int.map { .integer(Int64($0)) }
        case (_, "tag:yaml.org,2002:float"): return node.float.map { .double($0) }
        default: return .string(node.string ?? "")
        }
    }
}
