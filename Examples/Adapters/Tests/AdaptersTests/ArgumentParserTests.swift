import ArgumentParser
import ArgumentParserAdapter
import Fugu
import FuguConfiguration
import Testing

extension ContainerKeys {
    fileprivate var greeting: PropertyKey<String> {
        .init("site.greeting", defaultValue: "Hello", help: "What the page begins with.")
    }
    fileprivate var isLoud: PropertyKey<Bool> { .init("site.isLoud", defaultValue: false) }
    fileprivate var columns: PropertyKey<Int> { .init("site.columns", defaultValue: 80) }
}

private func declareSettings(in container: Container) { container.declare(\.greeting, \.isLoud, \.columns) }

private struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        discussion: SettingOptions.help(prefix: "SITE", declaring: declareSettings))
    @Option(name: .shortAndLong) var width: Int?
    @OptionGroup var settings: SettingOptions

    func configure(_ container: Container) throws {
        declareSettings(in: container)
        try container.apply(TOMLSource(text: "[site]\ngreeting = 'Hi'\ncolumns = 100", name: "site.toml"))
        try settings.apply(to: container)
        if let width { container.columns = width }
    }
}

@Suite struct ArgumentParserTests {
    private let container = Container()

    private func configure(_ arguments: String...) throws { try Serve.parse(arguments).configure(container) }

    @Test("Options by the names of keys win over a file, and have the types of the keys")
    func options() throws {
        try configure("--site-greeting", "Ahoy", "--site-is-loud", "-w", "40")
        #expect(container.greeting == "Ahoy" && container.isLoud && container.columns == 40)
    }

    @Test("Without options, the file counts, and an option can be attached, negated, or after those of the command")
    func others() throws {
        try configure("-w", "3", "--site-greeting=", "--no-site-is-loud")
        #expect(container.greeting.isEmpty && !container.isLoud && container.columns == 3)
        try Serve.parse([]).configure(container)
        #expect(container.columns == 3)
    }

    @Test("A wrong value and an unknown option are mistakes of the user, with the name")
    func mistakes() throws {
        let error = #expect(throws: ValidationError.self) {
            try configure("--site-columns", "many", "--site-greting", "Ahoy")
        }
        let text = try #require(error).message
        #expect(text.contains("--site-columns") && text.contains("did you mean --site-greeting?"))
        #expect(Serve.exitCode(for: try #require(error)) == .validationFailure)
    }

    @Test("The help of the command lists the settings")
    func help() {
        let lines = Serve.helpMessage(columns: 120).split(separator: "\n")
        #expect(lines.contains { $0.contains("--site-greeting <String>") && $0.contains("What the page begins with.") })
    }
}
