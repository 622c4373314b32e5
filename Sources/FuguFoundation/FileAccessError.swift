public import Foundation

/// An error that names the operation that failed, its path, and the reason.
///
/// Its description reads like `can't save /srv/data/notes.json: Permission denied`.
public struct FileAccessError: Error, Sendable, CustomStringConvertible, LocalizedError {
    /// An operation on files.
    public struct Operation: Hashable, Sendable, CustomStringConvertible {
        /// The name of the operation, as in messages.
        public let description: String

        /// An operation that reads a whole file.
        public static let load = Operation(description: "load")
        /// An operation that replaces a whole file.
        public static let save = Operation(description: "save")
        /// An operation that adds to the end of a file.
        public static let append = Operation(description: "append to")
        /// An operation that removes a file.
        public static let delete = Operation(description: "delete")
        /// An operation that lists a folder.
        public static let list = Operation(description: "list")
    }

    /// The operation that failed.
    public let operation: Operation
    /// The absolute path, or the whole URL if it isn't a file URL.
    public let path: String
    /// The reason: a `POSIXError` if the system gave a code.
    public let cause: any Error

    /// Creates an error for a double of your own.
    ///
    /// - Parameters:
    ///   - operation: The operation that failed.
    ///   - url: The file or folder.
    ///   - cause: The reason. If it's a `CocoaError` with an underlying `POSIXError`, that one is kept.
    public init(_ operation: Operation, _ url: URL, cause: any Error) {
        self.operation = operation
        path = url.isFileURL ? url.standardizedFileURL.path : url.absoluteString
        self.cause = Self.systemError(behind: cause) ?? cause
    }

    /// A Boolean value that indicates whether the file is missing, as opposed to one that can't be used.
    public var isMissingFile: Bool {
        (cause as? POSIXError)?.code == .ENOENT || (cause as? CocoaError)?.code == .fileReadNoSuchFile
    }

    /// The operation, the path, and the reason on one line.
    public var description: String { Messages.fileAccess("\(operation)", path, reason) }

    /// The same text as ``description``.
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

/// The cause if a URL isn't a file URL.
struct NotAFile: Error, CustomStringConvertible {
    let description = Messages.notAFile
}
