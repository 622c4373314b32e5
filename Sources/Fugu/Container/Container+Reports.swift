extension Container {
    /// Sets the handler for problems that can't be thrown, in the whole family of this container.
    ///
    /// Such problems are, for example, a value from a file that doesn't have the type that a read expects, or a reload that
    /// failed in the background. Without a handler, reports go to standard error.
    ///
    ///     container.handleReports { logger.warning("\($0)") }
    ///
    /// - Parameter handler: A closure that receives the text of each report, which has no secrets in it. It's called on the
    ///   thread that met the problem, outside every lock, and replaces the previous handler. Pass `nil` for standard error.
    public func handleReports(by handler: (@Sendable (_ report: String) -> Void)?) {
        node.family.reports.handle(by: handler)
    }

    /// Reports a problem that can't be thrown.
    package func report(_ text: String) { node.family.reports.report(text) }
}
