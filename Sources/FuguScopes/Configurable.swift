public import Fugu

/// A type whose objects read their configuration from their own container.
///
///     final class MapView: Configurable {
///         var configuration = Container(copying: .shared) { didSet { redraw() } }
///     }
///     map.with(configuration: Container(copying: .shared, local))
public protocol Configurable: AnyObject {
    /// The container from which the object reads its configuration.
    var configuration: Container { get set }
}

extension Configurable {
    /// Assigns the configuration to itself, so that `didSet` runs.
    public func reloadConfiguration() {
        let configuration = configuration
        self.configuration = configuration
    }

    /// Assigns the configuration and returns the object.
    ///
    /// - Parameter configuration: The container.
    /// - Returns: The object itself.
    @discardableResult
    public func with(configuration: Container) -> Self {
        self.configuration = configuration
        return self
    }
}
