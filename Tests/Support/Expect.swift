import Foundation
import Testing

/// Records an issue at the caller's place unless `condition` holds.
///
/// The checks of this file are plain functions, since `#expect` takes the compiler far longer, and an issue shows the same: what the
/// caller wrote, and both values. Use the macro for errors and exit tests.
package func expect(
    _ condition: Bool, _ comment: @autoclosure () -> String? = nil, file: StaticString = #filePath, line: Int = #line
) {
    if !condition { record("is false", comment(), file, line) }
}

/// Records an issue with both values at the caller's place unless they're equal.
package func expect<Value: Equatable>(
    _ value: Value, equals expected: Value, _ comment: @autoclosure () -> String? = nil,
    file: StaticString = #filePath, line: Int = #line
) {
    if value != expected {
        record("\(String(reflecting: value)) is not equal to \(String(reflecting: expected))", comment(), file, line)
    }
}

/// Records an issue with both objects at the caller's place unless they're the same.
package func expect(
    _ object: AnyObject?, is expected: AnyObject?, _ comment: @autoclosure () -> String? = nil,
    file: StaticString = #filePath, line: Int = #line
) {
    if object !== expected { record("\(identity(object)) is not \(identity(expected))", comment(), file, line) }
}

private func identity(_ object: AnyObject?) -> String {
    object.map { "\(type(of: $0)) at \(UInt(bitPattern: ObjectIdentifier($0)))" } ?? "nil"
}

/// Records an issue with the text of the call, read from the caller's file, and what was found.
private func record(_ finding: String, _ comment: String?, _ file: StaticString, _ line: Int) {
    let path = "\(file)"
    let (text, column) = call(path, line)
    let folders = path.split(separator: "/")
    let module = folders.firstIndex(of: "Tests").map { folders[$0 + 1] } ?? "Tests"
    let message = [text, finding, comment].compactMap(\.self).joined(separator: "\n")
    let place = SourceLocation(
        fileID: "\(module)/\(folders.last ?? "")", filePath: path, line: line, column: column)
    Issue.record(Comment(rawValue: message), sourceLocation: place)
}

/// The text of a call of `expect` and its column, as far as the file is there to be read.
private func call(_ path: String, _ line: Int) -> (text: String?, column: Int) {
    guard let file = try? String(contentsOfFile: path, encoding: .utf8) else { return (nil, 1) }
    let lines = file.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(line - 1).prefix(12)
    guard let first = lines.first, let start = first.firstRange(of: "expect(")?.lowerBound else { return (nil, 1) }
    let column = first[..<start].utf8.count + 1
    var text = ""
    var depth = 0
    for character in ([first[start...]] + lines.dropFirst()).joined(separator: "\n") {
        text.append(character)
        if character == "(" { depth += 1 }
        if character == ")" { depth -= 1 }
        if character == ")", depth == 0 { break }
    }
    return (text.split(separator: "\n").map { $0.trimmingPrefix(while: \.isWhitespace) }.joined(separator: " "), column)
}
