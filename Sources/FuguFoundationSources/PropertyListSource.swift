import Foundation
public import FuguConfiguration

#if canImport(FoundationEssentials)
public import struct FoundationEssentials.Data
#else
public import struct Foundation.Data
#endif

/// A source that reads an XML or binary property list whose top level is a dictionary.
///
/// Dates and data decode as `Date` and `Data`. Foundation parses the list, so an error has a line at best, values have
/// no place, and if a name appears twice, the last one counts.
public struct PropertyListSource: PropertySource {
    private let document: DocumentSource

    /// Creates a source that reads a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file. A relative path is resolved when the file is read.
    ///   - isOptional: Pass `true` to treat a missing file as empty. A file that can't be read is an error anyway.
    public init(path: String, isOptional: Bool = false) {
        document = DocumentSource(path: path, isOptional: isOptional)
    }

    /// Creates a source that reads data.
    ///
    /// - Parameters:
    ///   - data: An XML or binary property list.
    ///   - name: The name of the data in errors.
    public init(data: Data, name: String) { document = DocumentSource(bytes: Array(data), name: name) }

    /// The path as it was given, or the name of the data.
    public var name: String { document.name }

    /// Reads and parses the property list.
    ///
    /// - Returns: The values.
    /// - Throws: `PropertyError` with the absolute path or the name, and with the line if it's
    ///   known.
    public func load() throws(PropertyError) -> PropertySnapshot {
        try document.load { (bytes, name) throws(PropertyError) in
            var list = PropertyList(source: name)
            return try PropertySnapshot(list.values(of: Data(bytes)), source: name)
        }
    }

    /// Returns a stamp that differs after the file has changed.
    ///
    /// - Returns: The stamp, or `nil` for data.
    public func modificationStamp() -> PropertySourceStamp? { document.modificationStamp() }
}

/// Converts property lists that Foundation has read.
private struct PropertyList {
    let source: String
    private var path: [String] = []

    init(source: String) { self.source = source }

    mutating func values(of data: Data) throws(PropertyError) -> [String: PropertyValue] {
        guard case .table(let members) = try value(of: parse(data)) else {
            throw failure(Messages.notADictionary)
        }
        return members
    }

    private func parse(_ data: Data) throws(PropertyError) -> Any {
        var format = PropertyListSerialization.PropertyListFormat.xml
        do {
            let list = unsafe try PropertyListSerialization.propertyList(from: data, options: [], format: &format)
            if format != .openStep { return list }
        } catch {
            throw failure(Self.reason(error), line: Self.line(in: error))
        }
        throw failure(Messages.notAPropertyList)
    }

    private static func reason(_ error: any Error) -> String {
        text(of: error)?.hasPrefix("Integer ") == true ? Messages.integerOutOfRange : Messages.notAPropertyList
    }

    private static func text(of error: any Error) -> String? {
        (error as NSError).userInfo["NSDebugDescription"] as? String
    }

    /// Returns only the line: the rest of Foundation's text could quote the file.
    private static func line(in error: any Error) -> Int? {
        text(of: error)?.firstMatch(of: /on line (\d+)/).flatMap { Int($0.1) }
    }

    private mutating func value(of item: Any) throws(PropertyError) -> PropertyValue {
        switch item {
        case let members as [String: Any]:
            var table: [String: PropertyValue] = [:]
            for (name, member) in members { table[name] = try nested((path.isEmpty ? "" : ".") + name, member) }
            return .table(table)
        case let elements as [Any]:
            var array: [PropertyValue] = []
            for (index, element) in elements.enumerated() { array.append(try nested("[\(index)]", element)) }
            return .array(array)
        case let text as String: return .string(text)
        case let data as Data: return .data(Array(data))
        case let date as Date:
            guard let moment = foundationPropertyValue(of: date) else {
                throw failure(Messages.dateOutOfRange)
            }
            return moment
        default: return try scalar(item)
        }
    }

    private func scalar(_ item: Any) throws(PropertyError) -> PropertyValue {
        if let truth = Self.bool(item) { return .bool(truth) }
        guard let number = item as? NSNumber else { throw failure(Messages.unknownType) }
        if unsafe ["d", "f"].contains(String(cString: number.objCType)) { return .double(number.doubleValue) }
        return .integer(Int64(exactly: number).map { Int128($0) } ?? Int128(number.uint64Value))
    }

    /// Returns the item if it's a Boolean value; a cast would accept 1, too.
    private static func bool(_ item: Any) -> Bool? {
        #if canImport(Darwin)
        CFGetTypeID(item as CFTypeRef) == CFBooleanGetTypeID() ? item as? Bool : nil
        #else
        type(of: item) == Bool.self ? item as? Bool : nil
        #endif
    }

    private mutating func nested(_ step: String, _ item: Any) throws(PropertyError) -> PropertyValue {
        path.append(step)
        defer { path.removeLast() }
        return try value(of: item)
    }

    private func failure(_ reason: String, line: Int? = nil) -> PropertyError {
        PropertyError(reason, source: source, line: line, name: path.isEmpty ? nil : path.joined())
    }
}
