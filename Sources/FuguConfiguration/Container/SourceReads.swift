public import Fugu

/// A read of a name from the sources of a container, for a log of what a program reads.
public struct SourceRead: Sendable, Hashable, CustomStringConvertible {
    /// The dotted name.
    public let name: String
    /// The name of the requested type.
    public let type: String
    /// The place of the value, or `nil` if no source has one.
    public let origin: PropertyOrigin?

    /// The name, and the place of its value.
    ///
    /// The value isn't shown.
    public var description: String { "\(Quoted.line(name)): \(origin?.description ?? "nothing")" }
}

extension Container {
    /// Sets a closure that is called whenever the sources of this container are asked for a name.
    ///
    /// That happens at the first read of a name after a source was applied or reloaded, at each reload that changes the
    /// value, and when the name is validated or explained.
    ///
    /// - Parameter handler: A closure that receives the name and the place of its value, on the thread that asks and
    ///   outside every lock. Pass `nil` to end the log.
    public func handleSourceReads(by handler: (@Sendable (SourceRead) -> Void)?) {
        let log = handler.map(ReadLog.init)
        // No value changes, so nothing is refused.
        try? changeSources { $0.logging(to: log) }
    }
}

/// The closure that receives the names that are read.
struct ReadLog: Sendable {
    let tell: @Sendable (SourceRead) -> Void
}
