import ArgumentParser
import ArgumentParserAdapter
import CoreMetrics
import Foundation
import Fugu
import FuguConfiguration
import LoggingAdapter
import ShortenerServer

@main struct Shortener: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes long addresses short.",
        discussion: """
            Settings come from a TOML file, from variables that begin with SHORTENER_, and from arguments; the later wins. \
            --print-config lists them.
            """)

    @Option(name: .customLong("config"), help: "The TOML file; otherwise config.toml, if there is one.")
    var file: String?

    @Flag(help: "Print every setting, its value and where that comes from, and exit.")
    var printConfig = false

    @OptionGroup(title: "Settings") var settings: SettingOptions<Settings>

    func run() async throws {
        let container = Container.shared
        do {
            try container.configure(
                file: file, arguments: settings.arguments, environment: ProcessInfo.processInfo.environment)
        } catch {
            try? FileHandle.standardError.write(contentsOf: Data("\(error)\n".utf8))
            throw ExitCode(78)  // EX_CONFIG
        }
        if printConfig { return print(container) }
        container.startLogging(label: "shortener")
        MetricsSystem.bootstrap(container.metrics)
        try await Server(container).group(signals: [.sigterm, .sigint]).run()
    }

    private func print(_ container: Container) {
        for explanation in container.explain() { Swift.print(explanation) }
        Swift.print("\nA file with everything in it:\n\n\(container.reference().toml)")
    }
}

enum Settings: SettingDeclarations {
    static func declare(in container: Container) { container.declareSettings() }
}
