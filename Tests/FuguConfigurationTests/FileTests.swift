import Foundation
import Fugu
@testable import FuguConfiguration
import FuguTesting
import Support
import Testing

extension ContainerKeys {
    fileprivate var word: PropertyKey<String?> { .init("bytes25.word", isSecret: true) }
    fileprivate var other: PropertyKey<String?> { .init("bytes25.other") }
    fileprivate var words: PropertyKey<[String]> { .init("bytes25.words", defaultValue: []) }
}

/// Bytes that aren't text, wherever a source finds them (law 16).
struct FileBytesTests {
    private let container = Container()
    private let notText = "bytes25.word: the bytes aren't UTF-8 text"

    @Test("A variable whose bytes aren't text is an error where it's read, and concerns nobody else (law 16)")
    func variables() async {
        await #expect(processExitsWith: .success) {
            for (name, bytes) in [("BYTES25_WORD", [0x68, 0xFF, 0x32]), ("BYTES25_MORE", [0xC3])] as [(String, [UInt8])]
            {
                _ = (bytes + [0]).map { CChar(bitPattern: $0) }.withUnsafeBufferPointer {
                    unsafe setenv(name, $0.baseAddress!, 1)
                }
            }
            setenv("BYTES25_OTHER", "a \u{FFFD}", 1)
            let container = Container()
            try container.apply(EnvironmentSource())
            precondition(container.other == "a \u{FFFD}")
            let text = thrown { _ = try container.require(\.word) }
            precondition(
                text == "environment variable BYTES25_WORD: bytes25.word: the bytes aren't UTF-8 text", text)
            precondition(thrown { try container.validate(\.word, \.other) } == text)
            precondition(!"\(container.explain(\.word))".contains("\u{FFFD}"))
            // Another list of variables isn't that of the process.
            let given = Container()
            try given.apply(EnvironmentSource(environment: ["BYTES25_WORD": "b\u{FFFD}2"]))
            precondition(given.word == "b\u{FFFD}2")
        }
    }

    @Test(
        "A line, or a file of a folder, that is not text is an error where it is read, and concerns nobody else (law 16)"
    )
    func lines() throws {
        // A line of a .env file that isn't text is an error where it's read, and concerns nobody else.
        do {
            let folder = NSTemporaryDirectory() + "fugu-bytes-\(UUID())"
            defer { unlink(folder) }
            let lines =
                Array("# caf".utf8) + [0xE9] + Array("\nBYTES25_WORD='h".utf8) + [0xFF]
                + Array("2'\nBYTES25_OTHER=a".utf8)
            try Data(lines).write(to: URL(fileURLWithPath: folder))
            try container.apply(DotEnvSource(path: folder))
            expect(container.other, equals: "a")
            try container.validate(\.other)
            expect(thrown { _ = try container.require(\.word) }, equals: "\(folder):2:14: \(notText)")
            expect(thrown { try container.validate(\.word) }, equals: "\(folder):2:14: \(notText)")
        }
        // A file of a folder that isn't text is an error for a key of text, which names both.
        do {
            let container = Container()
            let folder = NSTemporaryDirectory() + "fugu-bytes-\(UUID())"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try Data([0x68, 0xFF]).write(to: URL(fileURLWithPath: folder + "/bytes25.word"))
            try container.apply(FolderSource(path: folder))
            expect(container.other == nil)
            let text = thrown { _ = try container.require(\.word) }
            expect(
                text,
                equals: "\(folder)/bytes25.word: bytes25.word: expected String, found bytes that aren't UTF-8 text")
        }
    }
}

extension FileBytesTests {
    /// The arguments as a program gets them, of which some aren't UTF-8.
    private func arguments(_ bytes: [[UInt8]]) -> ArgumentsSource {
        var source = ArgumentsSource(bytes.map { String(decoding: $0, as: UTF8.self) })
        source.repaired = RepairedText.repaired(bytes)
        return source
    }

    private var broken: [UInt8] { [0x68, 0xFF, 0x32] }
    private var named: [UInt8] { Array("--bytes25-word=".utf8) + broken }

    @Test("An argument whose bytes aren't text is an error where it's read, and concerns nobody else (law 16)")
    func arguments() throws {
        let other = Array("--bytes25-other=a\u{FFFD}".utf8)
        try container.apply(arguments([other, named]))
        expect(container.other, equals: "a\u{FFFD}")
        expect(thrown { _ = try container.require(\.word) }, equals: "argument --bytes25-word: \(notText)")
        let apart = Container()
        try apart.apply(arguments([Array("--bytes25-word".utf8), broken, Array("--bytes25-other=b".utf8)]))
        expect(thrown { try apart.validate(\.word, \.other) }, equals: "argument --bytes25-word: \(notText)")
        expect(apart.other, equals: "b")
    }

    @Test("Of a list, each word has to be text; of an argument that occurs twice, only what counts (law 16)")
    func lists() throws {
        // A word of a list that isn't text is an error for the list, and none for what takes one word.
        do {
            try container.apply(arguments([Array("--bytes25-words".utf8), Array("a".utf8), broken]))
            let text = thrown { _ = try container.require(\.words) }
            expect(text.hasPrefix("argument --bytes25-words: bytes25.words: expected words of UTF-8 text"), "\(text)")
            let one = Container()
            try one.apply(arguments([Array("--bytes25-other".utf8), Array("a".utf8), broken]))
            expect(one.other, equals: "a")
        }
        // Of an argument that occurs twice, only bytes that count are an error.
        do {
            let text = Array("--bytes25-word=a".utf8)
            let good = try container(named, text)
            expect(good.word, equals: "a")
            try good.validate(\.word)
            expect(
                thrown { try container(text, named).validate(\.word) }, equals: "argument --bytes25-word: \(notText)")
            let (words, list) = (Array("--bytes25-words=".utf8), Array("--bytes25-words=a,b".utf8))
            expect(
                thrown { try container(words + broken, list).validate(\.words) }.hasPrefix(
                    "argument --bytes25-words: bytes25.words: expected words of UTF-8 text"))
            expect(
                thrown { try container(list, words + broken).validate(\.words) },
                equals: "argument --bytes25-words: bytes25.words: the bytes aren't UTF-8 text")
        }
    }
}

extension ContainerKeys {
    fileprivate var flag: PropertyKey<Bool> { .init("bytes25.flag", defaultValue: false) }
    fileprivate var limits: PropertyKey<[String: String]> {
        .init("bytes25.limits", defaultValue: [:], form: .merged)
    }
}

/// Bytes that aren't text where arguments have conventions of their own.
extension FileBytesTests {
    private func container(_ words: [UInt8]...) throws -> Container {
        let container = Container()
        try container.apply(arguments(words))
        return container
    }

    @Test("A word for others that isn't text concerns no argument before it (law 16)")
    func others() throws {
        let flag = Array("--bytes25-flag".utf8)
        let set = try container(flag, broken)
        try set.validate(\.flag)
        expect(set.flag)
        expect(set.explain(\.flag).winner.description, equals: "true (argument --bytes25-flag)")
        expect(
            thrown { try container(flag + Array("=".utf8) + broken).validate(\.flag) },
            equals: "argument --bytes25-flag: bytes25.flag: the bytes aren't UTF-8 text")
        let off = try container(flag, broken, Array("--no-bytes25-flag".utf8))
        try off.validate(\.flag)
        expect(!off.flag)
        let list = try container(Array("--bytes25-words".utf8), Array("a,b".utf8), broken)
        expect(list.words, equals: ["a", "b"])
        try list.validate(\.words)
    }

    @Test("A JSON object whose bytes aren't text is an error, also where tables are merged (law 16)")
    func objects() throws {
        let table = Array("--bytes25-limits={\"a\": \"".utf8) + broken + Array("\"}".utf8)
        let text = "argument --bytes25-limits: bytes25.limits: the bytes aren't UTF-8 text"
        expect(thrown { try container(table).validate(\.limits) }, equals: text)
        let merged = try container(table)
        try merged.apply(TOMLSource(text: "bytes25.limits = { b = 'c' }", name: "x"))
        expect(thrown { try merged.validate(\.limits) }, equals: text)
    }
}

extension ContainerKeys {
    fileprivate var pipePort: PropertyKey<Int> { .init("pipe25.port", defaultValue: 80) }
    fileprivate var text: PropertyKey<String> { .init("pipe25.text", defaultValue: "") }
}

/// Pipes give their content only once (law 16).
struct FilePipeTests {
    private let path = NSTemporaryDirectory() + "fugu-pipe-\(UUID())"

    /// Writes to the pipe from another thread, which waits until somebody reads.
    private func write(_ text: String) {
        startThread { [path] in
            let file = FileHandle(forWritingAtPath: path)
            file?.write(Data(text.utf8))
            try? file?.close()
        }
    }

    private func source(_ kind: String) -> (any PropertySource, String) {
        let long = String(repeating: "x", count: 200_000)
        return switch kind {
        case "JSON": (JSONSource(path: path), #"{"pipe25": {"port": 9000, "text": "\#(long)"}}"#)
        case "TOML": (TOMLSource(path: path), "[pipe25]\nport = 9000\ntext = '\(long)'\n")
        default: (DotEnvSource(path: path), "PIPE25_PORT=9000\nPIPE25_TEXT=\(long)\n")
        }
    }

    @Test(
        "A named pipe is read once, to its end, and a reload keeps its values (law 16)", .timeLimit(.minutes(1)),
        arguments: ["JSON", "TOML", "variables"])
    func named(kind: String) throws {
        expect(mkfifo(path, 0o600), equals: 0)
        let container = Container()
        container.declare(\.pipePort, \.text)
        let (source, content) = source(kind)
        write(content)
        let stamp = source.modificationStamp()
        try container.apply(source)
        expect(container.pipePort == 9000 && container.text.count == 200_000)
        try container.reload()
        try container.validate()
        expect(container.pipePort == 9000 && source.modificationStamp() == stamp)
        // Another container that applies the same source gets the same.
        let other = Container()
        try other.apply(source)
        expect(other.pipePort, equals: 9000)
        unlink(path)
        try container.reload()
        expect(container.pipePort == 9000 && source.modificationStamp() == stamp)
    }

    @Test(
        "A pipe that the shell opens is read by its path, and one in a folder of values isn't waited for (law 16)",
        .timeLimit(.minutes(1)))
    func opened() throws {
        // A pipe that the shell opens is read by its path.
        do {
            let pipe = Pipe()
            pipe.fileHandleForWriting.write(Data("[pipe25]\nport = 9001".utf8))
            try pipe.fileHandleForWriting.close()
            let container = Container()
            try container.apply(TOMLSource(path: "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"))
            try container.reload()
            expect(container.pipePort, equals: 9001)
            try container.apply(TOMLSource(path: "/dev/null"))
            expect(container.pipePort, equals: 9001)
        }
        // A pipe in a folder of values isn't waited for; it's an error for its name alone.
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: path) }
            expect(mkfifo(path + "/pipe25.port", 0o600), equals: 0)
            try Data("a".utf8).write(to: URL(fileURLWithPath: path + "/pipe25.text"))
            let container = Container()
            try container.apply(FolderSource(path: path))
            expect(container.text, equals: "a")
            expect(
                thrown { _ = try container.require(\.pipePort) },
                equals: "\(path)/pipe25.port: pipe25.port: can't be read: it's a pipe or a device, not a regular file")
        }
    }
}

extension ContainerKeys {
    fileprivate var password: PropertyKey<String?> { .init("named25.password", isSecret: true) }
    fileprivate var host: PropertyKey<String?> { .init("named25.host") }
    fileprivate var data: PropertyKey<Data?> { .init("named25.data") }
}

/// Values in files that variables name, as containers are given secrets (law 16).
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

    @Test(
        "A variable with the ending, of every source, leads to the value, as a secret without the last line break (laws 16, 17)"
    )
    func variables() throws {
        // A variable with the ending leads to the value, as a secret without the last line break.
        do {
            let path = try file("hunter2\n")
            try container.apply(
                variables(["NAMED25_PASSWORD_FILE": path, "NAMED25_HOST": "a", "NAMED25_DATA_FILE": path]))
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
        // Every source can name files.
        do {
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
    }

    @Test("A file given both ways, or that cannot be read, is an error that shows no secret in its place (laws 16, 17)")
    func both() throws {
        // A value that's given both ways is an error that names both places.
        do {
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
        // A file that can't be read is an error with its reason, which doesn't show a secret in its place.
        do {
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
    }

    @Test("A pipe that a variable names is read once (law 16)", .timeLimit(.minutes(1)))
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

    @Test(
        "Names with the ending are checked like those of the keys, and a wrong value in the file is shown nowhere (laws 16, 17)"
    )
    func typos() throws {
        // Names with the ending are checked like those of the keys.
        do {
            let source = EnvironmentSource(prefix: "APP", environment: ["APP_NAMED25_PASWORD_FILE": "/x"])
            try container.apply(source.readingFiles(namedBy: "_FILE"))
            expect(
                thrown { try container.validate(\.password) },
                equals:
                    "environment variable APP_NAMED25_PASWORD_FILE: unknown name; did you mean APP_NAMED25_PASSWORD_FILE?"
            )
        }
        // A wrong value in a file that a variable names is shown nowhere.
        do {
            let broken = try file(#"{"hunter4": "hunter5"}"#, "limits")
            try container.apply(
                variables(["NAMED25_LIMITS_FILE": broken, "NAMED25_NAMES_FILE": file("hunter6,,", "names")]))
            let error = thrown { try container.validate(\.namedLimits, \.names) }
            expect(error.contains("named25.limits") && error.contains("named25.names"), error)
            expect(!error.contains("hunter5") && !error.contains("hunter6"), error)
        }
    }
}

extension ContainerKeys {
    fileprivate var namedPort: PropertyKey<Int> {
        .init("named25.port", defaultValue: 0, form: .formerly("named25.oldPort"))
    }
    fileprivate var mask: PropertyKey<Int?> { .init("named25.mask") }
    fileprivate var names: PropertyKey<[String]> { .init("named25.names", defaultValue: []) }
    fileprivate var namedLimits: PropertyKey<[String: Int]> { .init("named25.limits", defaultValue: [:]) }
}

extension FileNamedByVariableTests {
    @Test("A file that a variable names is read as any text is, and shown as no other (laws 15, 16, 17)")
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
        expect(container.namedPort, equals: 8080)
        expect(container.names, equals: ["hunter3", "b"])
        expect(container.namedLimits, equals: ["hunter4": 5])
        let error = thrown { try container.validate(\.password, \.namedPort, \.names, \.namedLimits, \.mask) }
        expect(error.contains("named25.mask: expected Int without a leading zero") && !error.contains("0755"), error)
        let told = [container.explain(\.names), container.explain(\.namedLimits), container.explain(\.mask)]
        expect(!"\(told)".contains("hunter"), "\(told)")
        expect(reports.count == 1 && reports.all.allSatisfy(error.contains), "\(reports.all)")
    }

    @Test("A file under a former name gives its value, and the report is about the variable (laws 15, 16)")
    func former() throws {
        let reports = container.reports()
        container.declare(\.namedPort)
        try container.apply(variables(["NAMED25_OLD_PORT_FILE": file("80")]))
        try container.validate()
        expect(container.namedPort, equals: 80)
        let said = "named25.oldPort is an old name; use NAMED25_PORT."
        expect(reports.all, equals: ["Fugu: environment variable NAMED25_OLD_PORT_FILE: \(said)"])
        let source = EnvironmentSource(prefix: "APP", environment: ["APP_NAMED25_OLD_PROT_FILE": "/x"])
        let other = Container()
        try other.apply(source.readingFiles(namedBy: "_FILE"))
        let error = thrown { try other.validate(\.namedPort) }
        expect(!error.contains("did you mean APP_NAMED25_OLD_PORT"), error)
    }

    @Test("Among arguments, the last path counts, and nothing is read for a path that's switched off (law 16)")
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

// The optimizer of Swift 6.3.1 crashes on this target where these tests are in it.
#if DEBUG || UNOPTIMIZED
extension ContainerKeys {
    fileprivate var polledPort: PropertyKey<Int> { .init("law25b.port", defaultValue: 80) }
    fileprivate var polledHost: PropertyKey<String> { .init("law25b.host", defaultValue: "") }
}

@Suite("A poll where one of several sources can't be read (law 16)", .timeLimit(.minutes(5))) struct FileBrokenTests {
    private let container = Container()
    private let clock = ManualClock()
}

extension FileBrokenTests {
    @Test("A source that can't be read holds up no other that is polled, and is reported once (law 16)")
    func broken() async throws {
        container.clock = AnyClock(clock)
        let reports = container.reports()
        let (first, second) = (ChangingSource(["law25b.port": 1]), ChangingSource(["law25b.host": "a"]))
        let counting = CountingSource(["law25b.count"])
        try container.apply(first)
        try container.apply(second)
        try container.apply(counting)
        #expect(container.polledPort == 1 && container.polledHost == "a")
        let task = Task { [container] in await container.reload(every: .seconds(5)) }
        await clock.sleepers(atLeast: 1)
        func step() async {
            for _ in 0..<2 {
                clock.move(by: .seconds(5))
                await clock.sleepers(atLeast: 1)
            }
        }
        first.fail("broken")
        second.change(to: ["law25b.host": "b"])
        await step()
        #expect(container.polledPort == 1 && container.polledHost == "b" && reports.all.count == 1, "\(reports.all)")
        let count = try container.property("law25b.count", as: Int.self)
        second.change(to: ["law25b.host": "c"])
        await step()
        #expect(container.polledHost == "c" && reports.all.count == 1, "\(reports.all)")
        for _ in 0..<4 { await step() }
        // What still can't be read doesn't let the others be read again.
        try expect(container.property("law25b.count", as: Int.self), equals: count.map { $0 + 1 })
        first.change(to: ["law25b.port": 2])
        await step()
        #expect(container.polledPort == 2 && reports.all.count == 1)
        task.cancel()
        await task.value
    }

    @Test("A value that would become wrong holds back all that rests with it (law 16)")
    func wrong() async throws {
        container.clock = AnyClock(clock)
        let reports = container.reports()
        let (first, second) = (ChangingSource(["law25b.port": 1]), ChangingSource(["law25b.host": "a"]))
        try container.apply(first)
        try container.apply(second)
        #expect(container.polledPort == 1 && container.polledHost == "a")
        let task = Task { [container] in await container.reload(every: .seconds(5)) }
        await clock.sleepers(atLeast: 1)
        first.change(to: ["law25b.port": "x"])
        second.change(to: ["law25b.host": "b"])
        for _ in 0..<4 {
            clock.move(by: .seconds(5))
            await clock.sleepers(atLeast: 1)
        }
        #expect(container.polledPort == 1 && container.polledHost == "a" && reports.all.count == 1, "\(reports.all)")
        task.cancel()
        await task.value
    }
}
#endif
