public import Fugu

extension Container {
    /// Sets a closure that is called whenever the sources of this container are asked for a name.
    ///
    /// That happens at the first read of a name after a source was applied or reloaded, at each reload that changes the
    /// value, and when the name is validated or explained.
    ///
    ///     container.handleSourceReads { name, origin in print("\(name): \(origin?.description ?? "nothing")") }
    ///
    /// - Parameter handler: A closure that receives the dotted name and the place of its value, or `nil` if no source has one. It's
    ///   called on the thread that asks and outside every lock. Pass `nil` to end the log.
    public func handleSourceReads(by handler: (@Sendable (_ name: String, _ origin: PropertyOrigin?) -> Void)?) {
        let log = handler.map(ReadLog.init)
        // No value changes, so nothing is refused.
        try? changeSources { $0.logging(to: log) }
    }
}

/// The closure that receives the names that are read.
struct ReadLog: Sendable {
    let tell: @Sendable (_ name: String, _ origin: PropertyOrigin?) -> Void
}
