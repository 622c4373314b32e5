/// A place that values come from: a file, the environment, the arguments, or one of your own.
///
/// A source is a description; `load()` reads it. It is called when the source is applied to a container and again at
/// every reload, on the thread that asked, outside of every lock. Whatever a name answers comes from the last snapshot.
public protocol PropertySource: Sendable {
    /// What the source is called where no single value is meant, such as the path it was given.
    var name: String { get }

    /// Reads everything that is there now.
    ///
    /// - Throws: a `PropertyError` if the source cannot be read as a whole; then nothing of it is used.
    func load() throws(PropertyError) -> PropertySnapshot

    /// Something small that differs once the source has changed, for polling; nil if that cannot be told without
    /// loading.
    func modificationStamp() -> PropertySourceStamp?
}

extension PropertySource {
    /// Nil: a source is not polled unless it says how.
    public func modificationStamp() -> PropertySourceStamp? { nil }
}

/// When a source was last changed, as far as can be told cheaply; only worth comparing with another of the same source.
public struct PropertySourceStamp: Sendable, Hashable {
    private let parts: [Int64]

    /// A stamp of your own, such as a version number.
    public init(_ parts: Int64...) {
        self.parts = parts
    }
}
