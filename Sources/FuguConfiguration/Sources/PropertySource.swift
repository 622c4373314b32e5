/// A place that values come from: a file, the environment, the arguments, or one of your own.
///
/// A source is a description; ``load()`` reads it. A container calls it when you apply the source and again at every reload,
/// on the thread that asked, outside of every lock. Whatever a name answers comes from the last snapshot.
///
/// A source describes itself by its name, never by its values, which may be secrets.
public protocol PropertySource: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What the source is called where no single value is meant, such as the path it was given.
    var name: String { get }

    /// Reads everything that is there now.
    ///
    /// - Throws: A ``PropertyError`` if the source cannot be read as a whole; then nothing of it is used.
    func load() throws(PropertyError) -> PropertySnapshot

    /// Returns something small that differs once the source has changed, for polling; `nil` if that cannot be told without
    /// loading.
    func modificationStamp() -> PropertySourceStamp?

    /// Registers a closure to call after each change of the source's values, for sources that know when they change.
    ///
    /// - Parameter body: Reads the source again. It may be called on any thread.
    /// - Returns: What ends the registration when it is called; `nil` if the source does not tell of changes.
    func observeChanges(_ body: @escaping @Sendable () -> Void) -> (@Sendable () -> Void)?
}

extension PropertySource {
    /// `nil`: a source is not polled unless it says how.
    public func modificationStamp() -> PropertySourceStamp? { nil }

    /// `nil`: a source does not tell of changes unless it says how.
    public func observeChanges(_ body: @escaping @Sendable () -> Void) -> (@Sendable () -> Void)? { nil }

    /// The type and the name of the source, and how many values it has where that is known without reading it.
    public var description: String {
        let count = (self as? any CountedSource)?.valueCount
        return "\(Self.self)(\(Quoted.line(name))\(count.map { ", \(SourceText.values($0))" } ?? ""))"
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// A mirror that shows no values.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

/// A source that holds its values.
protocol CountedSource: PropertySource {
    var valueCount: Int { get }
}

enum SourceText {
    static func values(_ count: Int) -> String { count == 1 ? "1 value" : "\(count) values" }
}

/// When a source was last changed, as far as can be told cheaply; only worth comparing with another of the same source.
public struct PropertySourceStamp: Sendable, Hashable {
    private let parts: [Int64]

    /// Creates a stamp of your own, such as a version number.
    public init(_ parts: Int64...) {
        self.parts = parts
    }

    init(parts: [Int64]) { self.parts = parts }
}
