import Foundation
import Fugu
import FuguFoundation

extension Container {
    /// Where the journal lies unless said.
    func defaultURL() throws -> URL {
        try dataFolder().appending(path: "Journal/journal.jsonl", directoryHint: .notDirectory)
    }

    /// Where programs keep the user's data.
    private func dataFolder() throws -> URL {
        let environment = environment
        #if os(Windows)
        if let folder = environment["LOCALAPPDATA"], !folder.isEmpty { return URL(filePath: folder) }
        #else
        // A relative path there is to be ignored, says the XDG Base Directory Specification.
        if let folder = environment["XDG_DATA_HOME"], folder.hasPrefix("/") { return URL(filePath: folder) }
        if let home = environment["HOME"], !home.isEmpty {
            #if canImport(Darwin)
            return URL(filePath: home).appending(path: "Library/Application Support")
            #else
            return URL(filePath: home).appending(path: ".local/share")
            #endif
        }
        #endif
        throw NoDataFolder()
    }
}

/// The user has no folder for data.
struct NoDataFolder: Error, CustomStringConvertible {
    let description = "the environment names no home folder; say --file PATH"
}
