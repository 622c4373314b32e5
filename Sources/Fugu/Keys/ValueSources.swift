/// The only view that a container has of its sources: it passes a name and a type, and gets a value or an error.
///
/// Calls come from any thread, outside every lock; an object always gives the same answers.
package protocol ValueSources: AnyObject, Sendable {
    func answer<Value: Decodable & Sendable>(
        _ name: String, as: Value.Type, form: PropertyForm<Value>?, isSecret: Bool
    ) -> SourceAnswer<Value>
    /// Returns a Boolean value that indicates whether a name has the same value as in `others`, so that observers
    /// needn't be notified.
    func holdsTheSame(_ name: String, as others: any ValueSources) -> Bool
    /// Returns the same sources for a copy of their container, followed by `others`, which are of a container further up.
    func copied(over others: (any ValueSources)?) -> any ValueSources
}

/// The answer of sources for a name.
package enum SourceAnswer<Value: Sendable>: Sendable {
    case nothing
    case value(Value)
    /// The sources have a value that can't be used; a read gets the default and reports the error once.
    case failure(any Error)
}
