import Foundation

/// The public conformance suites, which lie beside the project and are never copied into it.
enum SharedCases {
    /// `shared/conformance` in the nearest directory above this file; nil if there is none.
    static let folder: URL? = {
        var directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        while directory.path != "/" {
            directory.deleteLastPathComponent()
            let candidate = directory.appendingPathComponent("shared/conformance")
            if FileManager.default.fileExists(atPath: candidate.path) { return candidate }
        }
        return nil
    }()

    static let isThere = folder != nil
    static let skipReason = "shared/conformance is not beside the project"

    static func files(_ suite: String, withExtension suffix: String) throws -> [(name: String, bytes: [UInt8])] {
        let suite = folder!.appendingPathComponent(suite)
        let paths = FileManager.default.enumerator(atPath: suite.path)?.compactMap { $0 as? String } ?? []
        return try paths.filter { $0.hasSuffix("." + suffix) }.sorted().map { path in
            (path, Array(try Data(contentsOf: suite.appendingPathComponent(path))))
        }
    }
}
