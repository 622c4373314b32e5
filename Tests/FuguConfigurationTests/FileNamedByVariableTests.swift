import Foundation
import Fugu
import FuguConfiguration
import Support
import Testing

extension ContainerKeys {
    fileprivate var password: PropertyKey<String?> { .init("named25.password", isSecret: true) }
    fileprivate var host: PropertyKey<String?> { .init("named25.host") }
    fileprivate var data: PropertyKey<Data?> { .init("named25.data") }
}

/// Values in files that variables name, as containers are given secrets (law 25).
final class FileNamedByVariableTests {
    private let container = Container()
    private let folder = NSTemporaryDirectory() + "fugu-named-\(UUID())"

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func file(_ text: String, _ name: String = "secret") throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
        return folder + "/" + name
    }

    private func variables(_ variables: [String: String]) -> some PropertySource {
        EnvironmentSource(environment: variables).readingFiles(namedBy: "_FILE")
    }

    @Test("A variable with the ending leads to the value, as a secret without the last line break (laws 25, 26)")
    func variables() throws {
        let path = try file("hunter2\n")
        try container.apply(variables(["NAMED25_PASSWORD_FILE": path, "NAMED25_HOST": "a", "NAMED25_DATA_FILE": path]))
        expect(container.password == "hunter2" && container.host == "a")
        expect(container.data, equals: Data("hunter2\n".utf8))
        try container.validate(\.password, \.host, \.data)
        _ = try file("hunter3")
        try container.reload()
        expect(container.password, equals: "hunter3")
        expect("\(container.explain(\.password))", equals: "named25.password = (secret) (\(path))")
        let open = Container()
        try open.apply(variables(["NAMED25_HOST_FILE": path]))
        expect(open.host == "hunter3" && !"\(open.explain(\.host))".contains("hunter3"))
    }

    @Test("Every source can name files (law 25)")
    func sources() throws {
        let path = try file("hunter2")
        for source in [
            DotEnvSource(text: "APP_NAMED25_PASSWORD_FILE=\(path)", name: "x", prefix: "APP")
                .readingFiles(namedBy: "_FILE"),
            ArgumentsSource(["--named25-password-file", path]).readingFiles(namedBy: "_FILE"),
            TOMLSource(text: "[named25]\npassword_file = '\(path)'", name: "x").readingFiles(namedBy: "_file"),
        ] as [any PropertySource] {
            let container = Container()
            try container.apply(source)
            try container.validate(\.password)
            expect(container.password, equals: "hunter2", "\(source)")
        }
    }

    @Test("A value that's given both ways is an error that names both places (law 25)")
    func both() throws {
        try container.apply(variables(["NAMED25_PASSWORD_FILE": file("hunter2"), "NAMED25_PASSWORD": "hunter3"]))
        expect(
            thrown { try container.validate(\.password) },
            equals: """
                environment variable NAMED25_PASSWORD_FILE: named25.password: the value is also given itself, by environment \
                variable NAMED25_PASSWORD; remove one of them
                """)
        let parent = Container()
        try parent.apply(EnvironmentSource(environment: ["NAMED25_PASSWORD": "hunter3"]))
        try parent.apply(variables(["NAMED25_PASSWORD_FILE": file("hunter2")]))
        expect(parent.password, equals: "hunter2")
    }

    @Test(
        "A file that can't be read is an error with its reason, which doesn't show a secret in its place (laws 25, 26)")
    func unreadable() throws {
        try container.apply(variables(["NAMED25_PASSWORD_FILE": "/hunter2", "NAMED25_HOST_FILE": folder]))
        let lines = thrown { try container.validate(\.password, \.host) }.split(separator: "\n")
        func text(_ name: String, _ reason: String) -> String {
            "environment variable NAMED25_\(name.uppercased())_FILE: named25.\(name): the file that it names can't be read: \(reason)"
        }
        expect(
            lines.map(String.init),
            equals: [text("password", "the file doesn't exist"), text("host", "it's a directory")])
        // Nobody reads it.
        let other = Container()
        try other.apply(variables(["NAMED25_OTHER_FILE": "/none"]))
        try other.validate(\.password)
    }

    @Test("A pipe that a variable names is read once (law 25)", .timeLimit(.minutes(1)))
    func pipe() throws {
        let path = folder + "/pipe"
        expect(mkfifo(path, 0o600), equals: 0)
        startThread {
            let file = FileHandle(forWritingAtPath: path)
            file?.write(Data("hunter2\n".utf8))
            try? file?.close()
        }
        try container.apply(variables(["NAMED25_PASSWORD_FILE": path]))
        expect(container.password, equals: "hunter2")
        try container.reload()
        expect(container.password, equals: "hunter2")
    }

    @Test("Names with the ending are checked like those of the keys (law 25)")
    func typos() throws {
        let source = EnvironmentSource(prefix: "APP", environment: ["APP_NAMED25_PASWORD_FILE": "/x"])
        try container.apply(source.readingFiles(namedBy: "_FILE"))
        expect(
            thrown { try container.validate(\.password) },
            equals:
                "environment variable APP_NAMED25_PASWORD_FILE: unknown name; did you mean APP_NAMED25_PASSWORD_FILE?")
    }
}

extension ContainerKeys {
    fileprivate var port: PropertyKey<Int> {
        .init("named25.port", defaultValue: 0, form: .formerly("named25.oldPort"))
    }
    fileprivate var mask: PropertyKey<Int?> { .init("named25.mask") }
    fileprivate var names: PropertyKey<[String]> { .init("named25.names", defaultValue: []) }
    fileprivate var limits: PropertyKey<[String: Int]> { .init("named25.limits", defaultValue: [:]) }
}

extension FileNamedByVariableTests {
    @Test("A file that a variable names is read as any text is, and shown as no other (laws 24, 25, 26)")
    func reader() throws {
        let reports = container.reports()
        try container.apply(
            variables([
                "NAMED25_PASSWORD_FILE": file("\u{FEFF}hunter2\r\n", "password"),
                "NAMED25_PORT_FILE": file("8_080\n", "port"),
                "NAMED25_NAMES_FILE": file("hunter3,\nb\n", "names"),
                "NAMED25_LIMITS_FILE": file("\u{FEFF}{\"hunter4\": 5}\n", "limits"),
                "NAMED25_MASK_FILE": file("0755", "mask"),
            ]))
        expect(container.password, equals: "hunter2")
        expect(container.port, equals: 8080)
        expect(container.names, equals: ["hunter3", "b"])
        expect(container.limits, equals: ["hunter4": 5])
        let error = thrown { try container.validate(\.password, \.port, \.names, \.limits, \.mask) }
        expect(error.contains("named25.mask: expected Int without a leading zero") && !error.contains("0755"), error)
        let told = [container.explain(\.names), container.explain(\.limits), container.explain(\.mask)]
        expect(!"\(told)".contains("hunter"), "\(told)")
        expect(reports.count == 1 && reports.all.allSatisfy(error.contains), "\(reports.all)")
    }

    @Test("A wrong value in a file that a variable names is shown nowhere (laws 25, 26)")
    func wrong() throws {
        let broken = try file(#"{"hunter4": "hunter5"}"#, "limits")
        try container.apply(
            variables(["NAMED25_LIMITS_FILE": broken, "NAMED25_NAMES_FILE": file("hunter6,,", "names")]))
        let error = thrown { try container.validate(\.limits, \.names) }
        expect(error.contains("named25.limits") && error.contains("named25.names"), error)
        expect(!error.contains("hunter5") && !error.contains("hunter6"), error)
    }

    @Test("A file under a former name gives its value, and the report is about the variable (laws 24, 25)")
    func former() throws {
        let reports = container.reports()
        container.declare(\.port)
        try container.apply(variables(["NAMED25_OLD_PORT_FILE": file("80")]))
        try container.validate()
        expect(container.port, equals: 80)
        let said = "named25.oldPort is an old name; use NAMED25_PORT."
        expect(reports.all, equals: ["Fugu: environment variable NAMED25_OLD_PORT_FILE: \(said)"])
        let source = EnvironmentSource(prefix: "APP", environment: ["APP_NAMED25_OLD_PROT_FILE": "/x"])
        let other = Container()
        try other.apply(source.readingFiles(namedBy: "_FILE"))
        let error = thrown { try other.validate(\.port) }
        expect(!error.contains("did you mean APP_NAMED25_OLD_PORT"), error)
    }

    @Test("Among arguments, the last path counts, and nothing is read for a path that's switched off (law 25)")
    func arguments() throws {
        let path = try file("hunter2")
        let words = ["--named25-password-file", "/none", "--named25-password-file=\(path)", "--no-named25-host-file"]
        try container.apply(ArgumentsSource(words).readingFiles(namedBy: "_FILE"))
        expect(container.password == "hunter2" && container.host == nil)
        expect(
            thrown { try container.validate(\.password, \.host) },
            equals:
                "argument --no-named25-host-file: unknown name; only what is true or false can be switched off; did you mean --named25-host-file=…?"
        )
    }
}
