public import Foundation

/// What went wrong with a file: what was tried, on which path, and why it failed.
///
/// Prints like `cannot save /srv/data/notes.json: Permission denied`.
public struct FileAccessError: Error, Sendable, CustomStringConvertible, LocalizedError {
    /// What was tried.
    public struct Operation: Hashable, Sendable, CustomStringConvertible {
        /// The operation's name, as in the message.
        public let description: String

        /// Reading a whole file.
        public static let load = Operation(description: "load")
        /// Replacing a whole file.
        public static let save = Operation(description: "save")
        /// Adding to the end of a file.
        public static let append = Operation(description: "append to")
        /// Removing a file.
        public static let delete = Operation(description: "delete")
        /// Listing a folder.
        public static let list = Operation(description: "list")
    }

    /// What was tried.
    public let operation: Operation
    /// The absolute path, or the whole URL where it is not a file URL.
    public let path: String
    /// Why it failed: a `POSIXError` wherever the system gave a code.
    public let cause: any Error

    /// An error for doubles of your own. A `CocoaError` with a `POSIXError` behind it is unwrapped.
    public init(_ operation: Operation, _ url: URL, cause: any Error) {
        self.operation = operation
        path = url.isFileURL ? url.standardizedFileURL.path : url.absoluteString
        self.cause = Self.systemError(behind: cause) ?? cause
    }

    /// Whether there is no such file, as opposed to one that cannot be used.
    public var isMissingFile: Bool {
        (cause as? POSIXError)?.code == .ENOENT || (cause as? CocoaError)?.code == .fileReadNoSuchFile
    }

    /// What was tried, the path and the cause in one line.
    public var description: String { "cannot \(operation) \(path): \(reason)" }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    private static func systemError(behind error: any Error) -> POSIXError? {
        guard let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error else { return nil }
        let system = underlying as NSError
        guard system.domain == NSPOSIXErrorDomain else { return nil }
        return POSIXErrorCode(rawValue: Int32(system.code)).map { POSIXError($0) }
    }

    private var reason: String {
        guard cause is POSIXError || cause is CocoaError else { return String(describing: cause) }
        return (cause as NSError).localizedFailureReason ?? cause.localizedDescription
    }
}

/// The cause where a URL of the web, say, is given for a file.
struct NotAFile: Error, CustomStringConvertible {
    let description = "not a file URL"
}
