/// A part of a program that takes its configuration from a container of its own.
///
///     final class MapView: Configurable {
///         var configuration = Container(copying: .shared) { didSet { redraw() } }
///     }
///     map.with(configuration: Container(copying: .shared, local))
public protocol Configurable: AnyObject {
    /// The container that is read.
    var configuration: Container { get set }
}

extension Configurable {
    /// Assigns the configuration to itself, so that `didSet` runs.
    public func reloadConfiguration() {
        let configuration = configuration
        self.configuration = configuration
    }

    /// Assigns the configuration and gives the object back.
    @discardableResult
    public func with(configuration: Container) -> Self {
        self.configuration = configuration
        return self
    }
}
