public import ArgumentParser
public import Fugu
import FuguConfiguration

/// The settings of a program as options of its command.
///
/// The keys have the names, types, and help; the command declares only options of its own:
///
///     @main struct Serve: ParsableCommand {
///         static let configuration = CommandConfiguration(discussion: SettingOptions.help(declaring: declareSettings))
///         @Option var config: String?
///         @OptionGroup var settings: SettingOptions
///
///         func run() throws {
///             declareSettings(in: .shared)
///             if let config { try Container.shared.apply(TOMLSource(path: config)) }
///             try settings.apply(to: .shared)
///         }
///     }
///
/// To declare a setting as an option yourself, for its short name or its completions, set the key: `if let port { container.port = port }`.
public struct SettingOptions: ParsableArguments {
    @Argument(parsing: .allUnrecognized, help: .hidden) private var words: [String] = []

    /// Creates options that ArgumentParser fills.
    public init() {}

    /// Applies the options, which win over the sources that were applied before, and checks all declared settings.
    ///
    /// - Parameter container: The container that declares the settings.
    /// - Throws: `ValidationError`, which names every mistake.
    public func apply(to container: Container) throws {
        do {
            try container.apply(ArgumentsSource(words))
            try container.validate()
        } catch {
            throw ValidationError("\(error)")
        }
    }

    /// Returns a description of the settings for the help of the command.
    ///
    /// - Parameters:
    ///   - prefix: The prefix of variables.
    ///   - declare: Declares the settings in a container.
    /// - Returns: A line for each setting.
    public static func help(prefix: String = "", declaring declare: (Container) -> Void) -> String {
        let container = Container()
        declare(container)
        return container.reference(prefix: prefix).helpText
    }
}
