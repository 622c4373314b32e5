import ArgumentParser
import ArgumentParserAdapter
import Fugu
import FuguConfiguration
import Testing

private enum Method: String, Codable, CaseIterable { case get, post }

extension ContainerKeys {
    fileprivate var outputPath: PropertyKey<String> {
        .init("output.path", defaultValue: "-", help: "Where the output goes.")
    }
    fileprivate var showsLines: PropertyKey<Bool> {
        .init("showsLines", defaultValue: false, help: "Print the numbers of lines.")
    }
    fileprivate var maxCount: PropertyKey<Int?> { .init("maxCount", form: .range(0...)) }
    fileprivate var exclude: PropertyKey<[String]> { .init("exclude", defaultValue: []) }
    fileprivate var request: PropertyKey<Method> { .init("request", defaultValue: .get) }
    fileprivate var accessToken: PropertyKey<String> { .required("token", isSecret: true, help: "Who asks.") }
}

private enum Settings: SettingDeclarations {
    static func declare(in container: Container) {
        container.declare(\.outputPath, \.showsLines, \.maxCount, \.exclude, \.request, \.accessToken)
    }
}

/// The command line `copy OPTIONS FILE`.
private struct Copy: ParsableCommand {
    @OptionGroup(title: "Settings") var settings: SettingOptions<Settings>
    @Argument var file: String
}

/// `search OPTIONS PATTERN FILE…`, with options of its own.
private struct Search: ParsableCommand {
    @Flag(name: .shortAndLong) var ignoreCase = false
    @Option(name: .shortAndLong) var context: Int?
    @OptionGroup var settings: SettingOptions<Settings>
    @Argument var pattern: String
    @Argument var files: [String] = []
}

/// The command line `tool OPTIONS copy OPTIONS FILE`.
private struct Tool: ParsableCommand {
    static let configuration = CommandConfiguration(subcommands: [Copy.self, Search.self])
    @Flag var quiet = false
}

@Suite struct ArgumentParserTests {
    private let container = Container()

    init() throws {
        try container.apply(TOMLSource(text: "maxCount = 9\ntoken = 't'\nexclude = ['f']", name: "tool.toml"))
    }

    @Test(
        "An option stands before or after positional arguments, attached or not",
        arguments: [
            ["--output-path", "out.txt", "in.txt"], ["in.txt", "--output-path", "out.txt"],
            ["--output-path=out.txt", "in.txt"], ["--output-path=out.txt", "--", "in.txt"],
        ])
    func copy(_ words: [String]) throws {
        let command = try Copy.parse(words)
        try command.settings.apply(to: container)
        #expect(command.file == "in.txt" && container.outputPath == "out.txt" && container.maxCount == 9)
    }

    @Test("Options of the command and of keys mix with an array of positional arguments, and a file gives the rest")
    func search() throws {
        let command = try Search.parse(
            [
                "-i", "--shows-lines", "fox", "--max-count", "3", "a.txt", "-C", "2", "b.txt", "--no-shows-lines",
                "c.txt",
            ]
            .map { $0 == "-C" ? "-c" : $0 })
        try command.settings.apply(to: container)
        #expect(command.ignoreCase && command.context == 2 && command.pattern == "fox")
        #expect(command.files == ["a.txt", "b.txt", "c.txt"])
        #expect(container.maxCount == 3 && !container.showsLines && container.exclude == ["f"])
    }

    @Test("A list takes one element for each occurrence, so that it leaves the files alone; commas separate several")
    func lists() throws {
        let command = try Search.parse(["--exclude", "*.o", "--exclude=.git", "main", "src", "--exclude", "a", "tests"])
        try command.settings.apply(to: container)
        #expect(container.exclude == ["*.o", ".git", "a"])
        #expect(command.pattern == "main" && command.files == ["src", "tests"])
        try Search.parse(["x", "--exclude", "b,c"]).settings.apply(to: container)
        #expect(container.exclude == ["b", "c"])
    }

    @Test("A choice has its type, an empty value is one, and what follows -- is no option")
    func choices() throws {
        let command = try Search.parse(["--request", "post", "--output-path", "", "--", "--token", "-x"])
        try command.settings.apply(to: container)
        #expect(container.request == .post && container.outputPath.isEmpty)
        #expect(command.pattern == "--token" && command.files == ["-x"])
    }

    @Test("Subcommands have them, too")
    func subcommands() throws {
        let command = try Tool.parseAsRoot(["--quiet", "copy", "in.txt", "--output-path", "out.txt"])
        let copy = try #require(command as? Copy)
        try copy.settings.apply(to: container)
        #expect(copy.file == "in.txt" && container.outputPath == "out.txt")
    }

    @Test("Unknown options and words too many are refused with the usage, as always")
    func unknown() throws {
        func message(_ words: String...) -> String {
            do {
                _ = try Copy.parse(words)
                return ""
            } catch {
                #expect(Copy.exitCode(for: error) == .validationFailure)
                return Copy.fullMessage(for: error)
            }
        }
        let unknown = message("--output-pth", "out.txt", "in.txt")
        #expect(unknown.contains("Unknown option '--output-pth'. Did you mean '--output-path'?"))
        #expect(unknown.contains("Usage: copy [--output-path <text>]"))
        #expect(message("in.txt", "more.txt").contains("Unexpected argument 'more.txt'"))
        #expect(message("in.txt", "--output-path").contains("Missing value for '--output-path <text>'"))
        #expect(message("in.txt", "--shows-lines=yes").contains("does not take any value"))
    }

    @Test("A wrong value is a mistake of the user, with the name of the option, together with what is missing")
    func mistakes() throws {
        let error = #expect(throws: ValidationError.self) {
            try Copy.parse(["--max-count", "many", "--request", "put", "x"]).settings.apply(to: Container())
        }
        let text = try #require(error).message
        #expect(
            text.contains("--max-count") && text.contains("--request") && text.contains("token: a value is required"))
        #expect(Copy.exitCode(for: try #require(error)) == .validationFailure)
    }

    @Test("Help lists the settings like options of the command, with types, defaults, and what is required")
    func help() {
        let lines = Copy.helpMessage(columns: 200).split(separator: "\n").map {
            $0.split(separator: " ").joined(separator: " ")
        }
        #expect(lines.contains("SETTINGS:"))
        #expect(lines.contains(#"--output-path <text> Where the output goes. (default: "-")"#))
        #expect(lines.contains("--shows-lines/--no-shows-lines"))
        #expect(lines.contains("Print the numbers of lines. (default: false)"))
        #expect(lines.contains("--token <text> Who asks. (required; secret)"))
    }

    @Test(
        "Completion scripts offer the options, and the values of a choice",
        arguments: [CompletionShell.bash, .zsh, .fish])
    func completion(_ shell: CompletionShell) {
        let script = Copy.completionScript(for: shell)
        for text in ["output-path", "no-shows-lines", "post"] { #expect(script.contains(text), "\(shell)") }
    }
}
