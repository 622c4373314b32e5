public import Fugu

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

/// A source whose values are fetched asynchronously, for example over a network.
///
///     try await container.apply(RemoteFlags(url))
public protocol AsyncPropertySource: Sendable {
    /// The name of the source in errors.
    var name: String { get }

    /// Fetches all current values. The container calls it outside every lock.
    ///
    /// - Returns: The values.
    /// - Throws: An error that `apply` or `refresh` passes on. Nothing changes then.
    func fetch() async throws -> PropertySnapshot
}

extension Container {
    /// Fetches an async source, and gives its values to reads here and in descendants.
    ///
    /// ``reload(checksUnread:)`` keeps the fetched values; ``refresh()`` fetches again.
    ///
    /// - Parameter source: The source.
    /// - Throws: What the source throws. Nothing changes then.
    /// - Complexity: Besides fetching, O(*k*) for *k* names that were read or are observed.
    public func apply(_ source: some AsyncPropertySource) async throws {
        try apply(await FetchedSource(fetching: source))
    }

    /// Fetches every async source of this container again, concurrently, and publishes all values together.
    ///
    /// If one of them can't be fetched, or if a key that was read, is observed, or was declared would become wrong,
    /// nothing changes at all.
    ///
    /// - Returns: The names that changed, and the loaded features that keep an old value, as ``reload(checksUnread:)`` returns them.
    /// - Throws: What a source throws, or ``PropertyErrors``.
    /// - Complexity: Besides fetching, O(*k*) for *k* names that were read or are observed.
    @discardableResult
    public func refresh() async throws -> ReloadSummary {
        var readings = SourceReadings()
        while let old = sources {
            try await readings.fetch(old.entries)
            let new = try old.changingEntries { entries in
                try entries.map { $0.source is FetchedSource ? try readings.present($0) : $0 }
            }
            if let summary = try publish(new, over: old, &readings) { return summary }
        }
        return ReloadSummary()
    }
}

/// Fetched values, which don't change.
struct FetchedSource: PropertySource {
    let source: any AsyncPropertySource
    /// The moment from before the values were fetched.
    let began = ReadTime()
    let snapshot: PropertySnapshot

    init(fetching source: any AsyncPropertySource) async throws {
        self.source = source
        snapshot = try await source.fetch()
    }

    var name: String { source.name }

    func load() throws(PropertyError) -> PropertySnapshot { snapshot }

    func modificationStamp() -> PropertySourceStamp? { PropertySourceStamp() }
}

extension SourceReadings {
    /// Fetches the async sources among some, unless that's done.
    fileprivate mutating func fetch(_ entries: [SourceStack.Entry]) async throws {
        try await withThrowingTaskGroup(of: (entry: SourceStack.Entry, source: FetchedSource).self) { group in
            for entry in entries where lacks(entry) {
                guard let old = entry.source as? FetchedSource else { continue }
                group.addTask { (entry, try await FetchedSource(fetching: old.source)) }
            }
            for try await (entry, source) in group { read(entry, source) }
        }
    }
}
