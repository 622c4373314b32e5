import Foundation
import FuguFoundation
import Support
import Testing

/// Files in memory behave like those of the system.
struct FilesAlikeTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    /// What an operation gives: a value, or the code of its error.
    private func outcome(_ files: FileAccess, _ root: URL, _ operation: String, _ path: String) -> String {
        let url = path.hasPrefix("/") ? URL(filePath: path) : URL(filePath: root.path + "/" + path)
        do {
            switch operation {
            case "load": return String(decoding: try files.load(url), as: UTF8.self)
            case "save": try files.save(Data("s".utf8), to: url)
            case "append": try files.append(Data("a".utf8), to: url)
            case "delete": try files.delete(url)
            case "exists": return "\(files.exists(url))"
            default:
                return try files.list(url).map {
                    $0.lastPathComponent.unicodeScalars.map { "\($0.value)" }.joined(separator: ",")
                }.description
            }
            return "done"
        } catch {
            return (error.cause as? POSIXError).map { "\($0.code)" }
                ?? "\((error.cause as NSError).domain) \((error.cause as NSError).code)"
        }
    }

    @Test("Each operation gives the same on the same path, errors included") func alike() throws {
        let long = String(repeating: "n", count: 300)
        let steps: [(String, String)] = [
            ("list", ""), ("save", "a"), ("load", "a"), ("append", "a"), ("load", "a"), ("append", "b"), ("list", ""),
            ("save", "d/e/f"), ("list", "d"), ("list", "d/"), ("load", "d"), ("save", "d"), ("append", "d"),
            ("delete", "d"),
            ("delete", "d/e/f"), ("list", "d/e"), ("exists", "d/e"), ("load", "none"), ("delete", "none"),
            ("list", "none"),
            ("list", "a"), ("load", "a/x"), ("save", "a/x"), ("append", "a/x"), ("delete", "a/x"), ("list", "a/x"),
            ("exists", "a/x"),
            ("save", "a/x/y"), ("append", "a/x/y"),
            ("load", "none/../a"), ("save", "none/../a"), ("append", "none/../c"), ("delete", "none/../a"),
            ("exists", "none/../a"),
            ("list", "none/.."), ("load", "d/../a"), ("save", "d/../g"), ("load", "d/./../g"), ("load", "a/../a"),
            ("exists", "a/.."),
            ("save", "./h"), ("load", "h"), ("load", "d//e"), ("save", "d//i"), ("load", "d/i"), ("load", "a/"),
            ("save", "j/"), ("exists", "a/"),
            ("delete", "a/"),
            ("save", long), ("append", long), ("load", long), ("exists", long), ("save", long + "/a"), ("delete", long),
            ("list", long),
            ("save", "caf\u{e9}"), ("load", "cafe\u{301}"), ("save", "cafe\u{301}"), ("append", "caf\u{e9}"),
            ("load", "caf\u{e9}"), ("list", ""),
            ("delete", "cafe\u{301}"), ("exists", "caf\u{e9}"),
            ("save", "~"), ("load", "~"), ("list", ""), ("exists", "~"), ("load", "~/none"), ("exists", "~root"),
            ("append", "~root/m"),
            ("save", ""), ("append", ""), ("delete", ""), ("exists", ""), ("load", ""), ("save", ".."), ("load", "."),
            ("load", "/none-\(long)"), ("load", "/"), ("save", "/"), ("delete", "/"),
            ("save", "n/."), ("load", "n"), ("exists", "n/."), ("append", "n/."), ("load", "n/./."), ("delete", "n//."),
            ("append", "o/."), ("load", "o/x/."), ("save", "p/q/."), ("save", "r/./."), ("load", "r"),
            ("save", "s/./t"), ("load", "s/t/."), ("save", "d/."), ("delete", "d/."), ("list", "d/."), ("list", "u/."),
            ("exists", "d/."),
            ("exists", "u/."), ("list", ""),
            ("save", "k\u{0}l"), ("load", "k\u{0}l"), ("exists", "k\u{0}l"), ("list", "k\u{0}"),
        ]
        let (memory, root) = (FileAccess.inMemory, folder.file("root"))
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        try memory.save(Data(), to: root.appending(path: "x"))
        try memory.delete(root.appending(path: "x"))
        for (index, step) in steps.enumerated() {
            let (real, imagined) = (outcome(.system, root, step.0, step.1), outcome(memory, root, step.0, step.1))
            expect(imagined, equals: real, "\(index): \(step.0) \(step.1)")
        }
    }
}
