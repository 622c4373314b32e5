extension Container {
    /// Takes the reports of mistakes that can be thrown at nobody, for the whole family of this container: a value from
    /// outside that is not what a plain read asks for, a reload that went wrong in the background.
    ///
    ///     container.handleReports { logger.warning("\($0)") }
    ///
    /// - Parameter handler: Is given one text for each report, with nothing secret in it, on the thread that met the
    ///   mistake and outside of every lock. It takes the place of the one before; nil lets reports go to standard error,
    ///   where they go unless a handler was set.
    public func handleReports(by handler: (@Sendable (_ report: String) -> Void)?) {
        backing.node.family.reports.handle(by: handler)
    }

    /// Reports a mistake.
    package func report(_ text: String) { backing.node.family.reports.report(text) }
}
