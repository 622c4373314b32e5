import Foundation

/// A new folder that is deleted, with its contents, when its last reference is released.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "FuguTests-\(UUID())", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ path: String) -> URL { url.appending(path: path, directoryHint: .notDirectory) }

    /// The names of all files and folders in it, hidden ones too.
    func names(in path: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: file(path).path).sorted()
    }
}
