/// A place from which values come: a file, the environment, the arguments, or one of your own.
///
/// A source is a description, and ``load()`` reads it. A container calls that when you apply the source and at every
/// reload, on the thread that asked and outside every lock. Names are then answered from the snapshot.
///
/// A source describes itself by its name, never by its values, which may be secrets.
public protocol PropertySource: Sendable, CustomStringConvertible, CustomReflectable {
    /// The name of the source in errors that aren't about a single value, such as the path that it was given.
    var name: String { get }

    /// Reads all values that are there now.
    ///
    /// - Returns: The values.
    /// - Throws: ``PropertyError`` if the source can't be read. Nothing of it is used then.
    func load() throws(PropertyError) -> PropertySnapshot

    /// Returns a small value that differs after the source has changed, for polling.
    ///
    /// - Returns: The stamp, or `nil` if it isn't known without loading.
    func modificationStamp() -> PropertySourceStamp?

    /// Registers a closure to call after each change of the source's values, for sources that know when they change.
    ///
    /// - Parameter body: A closure that reads the source again. You can call it on any thread.
    /// - Returns: A closure that ends the registration, or `nil` if the source doesn't notify of changes.
    func observeChanges(_ body: @escaping @Sendable () -> Void) -> (@Sendable () -> Void)?
}

extension PropertySource {
    /// Returns `nil`: by default, a source isn't polled.
    ///
    /// - Returns: `nil`.
    public func modificationStamp() -> PropertySourceStamp? { nil }

    /// Returns `nil`: by default, a source doesn't notify of changes.
    ///
    /// - Parameter body: The closure, which isn't called.
    /// - Returns: `nil`.
    public func observeChanges(_ body: @escaping @Sendable () -> Void) -> (@Sendable () -> Void)? { nil }

    /// The type and name of the source, and the number of its values if that's known without reading it.
    public var description: String {
        let count = (self as? any CountedSource)?.valueCount
        return "\(Self.self)(\(Quoted.line(name))\(count.map { ", \(SourceText.values($0))" } ?? ""))"
    }

    /// A mirror that shows no values.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

/// A source that contains its values.
protocol CountedSource: PropertySource {
    var valueCount: Int { get }
}

enum SourceText {
    static func values(_ count: Int) -> String { count == 1 ? "1 value" : "\(count) values" }
}

/// A value that changes with a source.
///
/// Compare it only with another stamp of the same source.
public struct PropertySourceStamp: Sendable, Hashable {
    /// The numbers to compare, or `nil` if the source isn't there.
    private let parts: [Int64]?

    /// The stamp of a source that isn't there.
    static let missing = PropertySourceStamp(parts: nil)

    private init(parts: [Int64]?) { self.parts = parts }

    /// Creates a stamp of your own, such as a version number.
    ///
    /// - Parameter parts: The numbers to compare.
    public init(_ parts: Int64...) {
        self.init(parts: parts)
    }

    /// Creates a stamp of a file, which changes whenever the file is written or replaced.
    ///
    /// A source that reads a file by itself returns it from ``PropertySource/modificationStamp()``. The stamp of a file that
    /// isn't there is a stamp, too.
    ///
    /// - Parameter path: The path of the file.
    public init(file path: String) {
        self.init(parts: FileContents.parts(FileContents.absolutePath(path)))
    }
}
