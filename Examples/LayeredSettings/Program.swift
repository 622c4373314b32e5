import Foundation
import Fugu
import FuguConfiguration
import FuguFoundationSources

/// The program.
///
/// Later layers win over earlier ones.
struct Program {
    let arguments: [String]
    let environment: [String: String]

    /// The text that `--help` prints.
    static var help: String {
        let container = Container()
        Settings.declare(in: container)
        return Request.usage + "\nvalues:\n" + container.reference(prefix: "CONFIG").helpText
    }

    /// Runs the program.
    ///
    /// - Returns: The exit code: 0, or 1 if the configuration has errors, which go to standard error, or 64 if the program
    ///   was called wrongly.
    func run() -> Int32 {
        let request = Request(arguments)
        if request.isHelp {
            print(Self.help, terminator: "")
            return 0
        }
        var sources: [any PropertySource] = []
        for file in request.files {
            guard let source = source(for: file) else {
                report(
                    "LayeredSettings: \(file) isn't a .json, .toml, or .plist file\n\n\(Request.usage)", terminator: "")
                return 64
            }
            sources.append(source)
        }
        sources.append(EnvironmentSource(prefix: "CONFIG", environment: environment))
        sources.append(ArgumentsSource(request.options))
        return show(sources, isValidating: request.isValidating)
    }

    private func show(_ sources: [any PropertySource], isValidating: Bool) -> Int32 {
        let container = Container()
        // Each explanation shows the error of its value, so reports would repeat it.
        container.handleReports { _ in }
        Settings.declare(in: container)
        var errors: [String] = []
        for source in sources {
            do { try container.apply(source) } catch { errors.append("\(error)") }
        }
        if !isValidating {
            for explanation in container.explain() { print(explanation) }
        }
        do { try container.validate() } catch { errors.append("\(error)") }
        if isValidating, errors.isEmpty { print("no errors") }
        for error in errors { report(error) }
        return errors.isEmpty ? 0 : 1
    }

    private func source(for path: String) -> (any PropertySource)? {
        switch path.split(separator: ".").last?.lowercased() {
        case "json": JSONSource(path: path)
        case "toml": TOMLSource(path: path)
        case "plist": PropertyListSource(path: path)
        default: nil
        }
    }

    private func report(_ text: String, terminator: String = "\n") {
        try? FileHandle.standardError.write(contentsOf: Data((text + terminator).utf8))
    }
}

/// The request that the arguments express.
struct Request {
    private(set) var files: [String] = []
    /// The arguments that give values.
    private(set) var options: [String] = []
    private(set) var isValidating = false
    private(set) var isHelp = false

    static let usage = """
        usage: LayeredSettings FILE… [--name value …] [--validate]

          FILE           a .json, .toml, or .plist file; later files take precedence over earlier ones
          --name value   a value, as in --server-port 80; takes precedence over files and the environment
          --validate     only checks the values, and prints none
          --             ends the options: the rest are files

        the environment takes precedence over files, as in CONFIG_SERVER_PORT=80

        """

    init(_ arguments: [String]) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--":
                files += rest
                return
            case "--help": isHelp = true
            case "--validate": isValidating = true
            case _ where argument.hasPrefix("--"):
                options.append(argument)
                // The same rule as in ArgumentsSource.
                if !argument.contains("="), let value = rest.first, !value.hasPrefix("--") {
                    options.append(value)
                    rest.removeFirst()
                }
            default: files.append(argument)
            }
        }
    }
}
