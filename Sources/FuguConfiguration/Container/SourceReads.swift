public import Fugu

/// A question that the sources of a container were asked, for a log of what a program reads.
public struct SourceRead: Sendable, Hashable, CustomStringConvertible {
    /// The dotted name.
    public let name: String
    /// The name of the type that was asked for.
    public let type: String
    /// Where the value stands; `nil` if no source has one.
    public let origin: PropertyOrigin?

    /// The name, and where its value stands. The value itself is never told.
    public var description: String { "\(Quoted.line(name)): \(origin?.description ?? "nothing")" }
}

extension Container {
    /// Calls a closure whenever the sources of this container are asked for a name: at its first read after a source was
    /// applied or reloaded, at each reload where its value has changed, and when it is validated or explained.
    ///
    /// - Parameter handler: Is told the name and where its value stands, on the thread that asks, outside of every lock. Pass
    ///   `nil` to end the log.
    public func handleSourceReads(by handler: (@Sendable (SourceRead) -> Void)?) {
        let log = handler.map(ReadLog.init)
        while true {
            let old = sources
            let new = SourceStack((old as? SourceStack)?.entries ?? [], log: log)
            // Nothing is refused here, so nothing is thrown.
            if (try? replaceSources(old, by: new)) != false { return }
        }
    }
}

/// Whom to tell what is read.
struct ReadLog: Sendable {
    let tell: @Sendable (SourceRead) -> Void
}
