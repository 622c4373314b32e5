public import ArgumentParser
public import Fugu
import FuguConfiguration

/// The settings of a program, for ``SettingOptions``.
public protocol SettingDeclarations {
    /// Declares the settings in a container.
    static func declare(in container: Container)
}

/// The settings of a program as options of its command: one for each declared key that has a name.
///
/// The keys have the names, types, and help. The command declares only what is its own, and has positional arguments as always:
///
///     enum Settings: SettingDeclarations {
///         static func declare(in container: Container) { container.declare(\.outputPath, \.isVerbose) }
///     }
///
///     @main struct Copy: ParsableCommand {
///         @OptionGroup(title: "Settings") var settings: SettingOptions<Settings>
///         @Argument var files: [String]
///
///         func run() throws {
///             try Container.shared.apply(TOMLSource(path: "copy.toml", isOptional: true))
///             try settings.apply(to: .shared)
///         }
///     }
///
/// A Boolean key is a flag with a negation, `--is-verbose` and `--no-is-verbose`. A list takes an element for each occurrence, or
/// several with commas between them. Whatever is required can stand in a file, so no option is.
///
/// To declare a setting as an option yourself, for its short name or its completions, leave it out of the declarations, and set the
/// key: `if let port { container.port = port }`.
public struct SettingOptions<Settings: SettingDeclarations>: ParsableArguments {
    /// The options that were given, for an `ArgumentsSource`.
    public let arguments: [String]

    /// Creates options without values, from which ArgumentParser learns what they are.
    public init() { arguments = [] }

    /// Takes what was given of each option.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: SettingName.self)
        arguments = try Self.entries.flatMap { entry in
            let name = SettingName(entry)
            if entry.isBoolean {
                let isOn = try values.decode(Flag<Bool?>.self, forKey: name).wrappedValue
                return isOn.map { [$0 ? entry.argument : "--no-\(name.stringValue)"] } ?? []
            }
            let texts =
                entry.isRepeatable
                ? try values.decode(Option<[String]>.self, forKey: name).wrappedValue
                : try values.decode(Option<String?>.self, forKey: name).wrappedValue.map { [$0] } ?? []
            return texts.map { "\(entry.argument)=\($0)" }
        }
    }

    /// Declares the settings, applies the options, which win over the sources that were applied before, and checks all settings.
    ///
    /// - Parameter container: The container.
    /// - Throws: `ValidationError`, which names every mistake.
    public func apply(to container: Container) throws {
        do {
            Settings.declare(in: container)
            try container.apply(ArgumentsSource(arguments))
            try container.validate()
        } catch {
            throw ValidationError("\(error)")
        }
    }

    fileprivate static var entries: [ConfigurationReference.Entry] {
        let container = Container()
        Settings.declare(in: container)
        return container.reference().entries
    }
}

/// ArgumentParser looks at the children of an instance for options, and gets those of the declared keys.
extension SettingOptions: CustomReflectable {
    /// A mirror whose children are the options.
    public var customMirror: Mirror {
        Mirror(self, children: Self.entries.map { ($0.argument.dropFirst(2).description, $0.option) })
    }
}

/// The name of an option, without dashes.
private struct SettingName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ entry: ConfigurationReference.Entry) { stringValue = String(entry.argument.dropFirst(2)) }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension ConfigurationReference.Entry {
    /// The definition for ArgumentParser: a property wrapper, as it stands in a type that declares the option itself.
    fileprivate var option: Any {
        let name = NameSpecification.customLong(SettingName(self).stringValue)
        if isBoolean {
            return Flag<Bool?>(name: name, inversion: .prefixedNo, exclusivity: .chooseLast, help: optionHelp)
        }
        if isRepeatable {
            return Option<[String]>(
                wrappedValue: [], name: name, parsing: .singleValue, help: optionHelp, completion: completion)
        }
        return Option<String?>(name: name, help: optionHelp, completion: completion)
    }

    private var optionHelp: ArgumentHelp {
        let notes = [isRequired ? "required" : nil, defaultValue.map { "default: \($0)" }, isSecret ? "secret" : nil]
        let note = notes.compactMap(\.self).joined(separator: "; ")
        let text = [help ?? "", note.isEmpty ? "" : "(\(note))"].filter { !$0.isEmpty }.joined(separator: " ")
        return ArgumentHelp("\(text)", valueName: type)
    }

    private var completion: CompletionKind? {
        type.contains("|") ? .list(type.split(separator: "|").map(String.init)) : nil
    }
}
