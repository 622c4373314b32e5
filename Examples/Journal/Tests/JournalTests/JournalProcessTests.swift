import Foundation
import Testing

/// The journal as its user meets it: a process.
@Suite struct JournalProcessTests {
    private let program: BuiltProgram
    private let folder: TemporaryFolder

    init() throws {
        program = try BuiltProgram("Journal")
        folder = try TemporaryFolder()
    }

    private var path: String { folder.path("journal.jsonl") }

    private func content() throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    }

    @Test("Frozen, everything that is printed and written is the same each time")
    func frozen() async throws {
        let file = ["--frozen", "--file", path]
        for text in ["Bought bread", "Fed the fish,\ntwice", "über \"quotes\" / slashes"] {
            let added = try await program.run(["add", text] + file)
            #expect(added.output == "Added 00000000-0000-0000-0000-000000000000\n")
            #expect(added.errors == "")
            #expect(added.exitCode == 0)
        }
        let id = "\"id\":\"00000000-0000-0000-0000-000000000000\""
        #expect(
            try content() == """
                {"date":"2025-01-01T00:00:00Z",\(id),"text":"Bought bread"}
                {"date":"2025-01-01T00:00:00Z",\(id),"text":"Fed the fish,\\ntwice"}
                {"date":"2025-01-01T00:00:00Z",\(id),"text":"über \\"quotes\\" / slashes"}

                """)

        let list = try await program.run(["list"] + file)
        #expect(
            list.output == """
                2025-01-01 00:00:00  Bought bread
                2025-01-01 00:00:00  Fed the fish,
                                     twice
                2025-01-01 00:00:00  über "quotes" / slashes

                """)
        let search = try await program.run(["search", "ÜBER"] + file)
        #expect(search.output == "2025-01-01 00:00:00  über \"quotes\" / slashes\n")
        let stats = try await program.run(["stats"] + file)
        #expect(
            stats.output == """
                Entries      3
                Words        10
                Days         1
                First        January 1, 2025
                Last         January 1, 2025
                Busiest day  January 1, 2025 (3)

                """)
        for result in [list, search, stats] {
            #expect(result.exitCode == 0)
            #expect(result.errors == "")
        }
    }

    @Test("A corrupt line is reported with file and line, the rest is shown, and the file stays as it is")
    func corrupt() async throws {
        let content = """
            {"date":"2025-01-02T03:04:05Z","id":"00000000-0000-0000-0000-000000000001","text":"first"}
            {"date":"2025-01-02T03:04:05Z","id":"00000000-0000-0000-0000
            {"date":"yesterday","id":"00000000-0000-0000-0000-000000000001","text":"b"}

            {"date":"2025-01-03T03:04:05Z","id":"00000000-0000-0000-0000-000000000002","text":"last"}
            {"date":"2025-01-03T03:04:05Z","id":"00000000-0000-0000-0000-000000000002"}
            """
        try Data(content.utf8).write(to: URL(filePath: path))
        let list = try await program.run(["list", "--frozen", "--file", path])
        #expect(list.output == "2025-01-02 03:04:05  first\n2025-01-03 03:04:05  last\n")
        #expect(
            list.errors == """
                Journal: \(path):2: not an entry: not valid JSON
                Journal: \(path):3: not an entry: "date" has a wrong value
                Journal: \(path):6: not an entry: "text" is missing

                """)
        #expect(list.exitCode == 65)
        #expect(try self.content() == content)

        // An addition begins a new line although the last one has no end.
        let added = try await program.run(["add", "more", "--frozen", "--file", path])
        #expect(added.exitCode == 0)
        let line = #"{"date":"2025-01-01T00:00:00Z","id":"00000000-0000-0000-0000-000000000000","text":"more"}"#
        #expect(try self.content() == content + "\n" + line + "\n")
    }

    @Test(
        "A wrong call prints why, and the usage, on standard error and exits with 64",
        arguments: [
            (["sing"], "Unexpected argument 'sing'"), (["add"], "Missing expected argument '<text> ...'"),
            (["add", " "], "add needs a text."), (["search", ""], "search needs a word."),
            (["list", "--file"], "Missing value for '--file <file>'"),
            (["list", "--file="], "Missing value for '--file <file>'"),
            (["list", "--color"], "Unknown option '--color'. Did you mean '--colour'?"),
            (["stats", "x"], "Unexpected argument 'x'"),
        ])
    func usage(arguments: [String], reason: String) async throws {
        let result = try await program.run(arguments)
        #expect(result.exitCode == 64)
        #expect(result.output == "")
        #expect(result.errors.hasPrefix("Error: \(reason)"))
        #expect(result.errors.contains("Usage: Journal "))
    }

    @Test("It completes its commands and options in shells", arguments: ["bash", "zsh", "fish"])
    func completion(shell: String) async throws {
        let result = try await program.run(["--generate-completion-script", shell])
        #expect(result.exitCode == 0)
        #expect(result.errors == "")
        for word in ["import", "frozen", "colour"] { #expect(result.output.contains(word)) }
    }

    @Test("Ctrl-C stops an import in order: whole entries stay, and the exit code shows it")
    func interrupt() async throws {
        let source = folder.path("long.txt")
        let lines = String(repeating: "A line of some length\n", count: 1_000_000)
        try lines.write(toFile: source, atomically: true, encoding: .utf8)
        let (program, path) = (program, path)
        let process = Process()
        process.executableURL = program.url
        process.arguments = ["import", source, "--file", path]
        let errors = Pipe()
        process.standardError = errors
        let (exits, exited) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { exited.yield($0.terminationStatus) }
        try process.run()
        while !FileManager.default.fileExists(atPath: path) { try await Task.sleep(for: .milliseconds(1)) }
        kill(process.processIdentifier, SIGINT)
        #expect(await exits.first { _ in true } == 130)
        #expect(String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self) == "Journal: stopped\n")
        let list = try await program.run(["list", "--file", path])
        #expect(list.exitCode == 0)
        let count = list.output.split(separator: "\n").count
        #expect(count > 0 && count < 1_000_000 && count % 100 == 0)
    }

    @Test("On a terminal there are colours and a progress bar, and the cursor is shown again at the end")
    func terminal() async throws {
        let source = folder.path("short.txt")
        try "one\ntwo\n".write(toFile: source, atomically: true, encoding: .utf8)
        let terminal = try BuiltProgram(at: "/usr/bin/script")
        func run(_ command: String, _ environment: [String: String] = [:]) async throws -> String {
            let line = "'\(program.url.path)' \(command) --frozen --file '\(path)'"
            return try await terminal.run(["-qec", line, "/dev/null"], environment: environment).output
        }
        let imported = try await run("import '\(source)'")
        #expect(imported.contains("\u{1B}[?25l"))
        #expect(imported.contains("100 % of 2"))
        #expect(imported.contains("\u{1B}[?25h"))
        #expect(try await run("list").contains("\u{1B}[2m2025-01-01 00:00:00\u{1B}[0m  one"))
        #expect(try await !run("list", ["NO_COLOR": "1"]).contains("\u{1B}"))
        #expect(try await !run("list --colour never").contains("\u{1B}"))
    }

    /// A path below a file cannot be written by root either.
    @Test("A folder that cannot be written gives an error with path and cause, and exit code 1")
    func unwritable() async throws {
        try Data().write(to: URL(filePath: folder.path("file")))
        let path = folder.path("file/sub/journal.jsonl")
        let result = try await program.run(["add", "text", "--file", path])
        #expect(result.exitCode == 1)
        #expect(result.output == "")
        #expect(result.errors == "Journal: can't load \(path): Not a directory\n")
    }

    @Test(
        "Output that can't be printed is an error, too",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func fullOutput() async throws {
        _ = try await program.run(["add", "text", "--file", path])
        let shell = try BuiltProgram(at: "/bin/sh")
        let result = try await shell.run(["-c", "exec \"$0\" list --file \"$1\" > /dev/full", program.url.path, path])
        #expect(result.exitCode == 1)
        #expect(result.errors == "Journal: can't append to /dev/stdout: No space left on device\n")
    }

    #if !canImport(Darwin) && !os(Windows)
    @Test("Without --file it lies in the user's data folder, as XDG has it")
    func dataFolder() async throws {
        let xdg = folder.path("data")
        let home = folder.path("home")
        _ = try await program.run(["add", "a"], environment: ["XDG_DATA_HOME": xdg, "HOME": home])
        #expect(FileManager.default.fileExists(atPath: "\(xdg)/Journal/journal.jsonl"))
        #expect(!FileManager.default.fileExists(atPath: home))
        _ = try await program.run(["add", "b"], environment: ["XDG_DATA_HOME": "relative", "HOME": home])
        #expect(FileManager.default.fileExists(atPath: "\(home)/.local/share/Journal/journal.jsonl"))
        let lost = try await program.run(["add", "c"])
        #expect(lost.exitCode == 1)
        #expect(lost.errors == "Journal: the environment names no home folder; say --file PATH\n")
    }
    #endif

    @Test("Programs that add together lose and mix nothing")
    func together() async throws {
        try await withThrowingTaskGroup { group in
            for number in 0..<8 {
                group.addTask { [program, path] in
                    let result = try await program.run(["add", "number \(number)", "--file", path])
                    #expect(result.exitCode == 0)
                }
            }
            try await group.waitForAll()
        }
        let list = try await program.run(["list", "--file", path])
        #expect(list.exitCode == 0)
        let texts = list.output.split(separator: "\n").map { $0.suffix(8) }
        #expect(texts.sorted() == (0..<8).map { "number \($0)" })
    }

    @Test("100,000 entries are listed in under two seconds")
    func large() async throws {
        let count = 100_000
        var content = ""
        for number in 0..<count {
            let id = "00000000-0000-4000-8000-" + String(100_000_000_000 + number)
            let date = "2025-01-01T\(10 + number / 3_600 % 14):\(10 + number / 60 % 50):\(10 + number % 50)Z"
            content += #"{"date":"\#(date)","id":"\#(id)","text":"Entry number \#(number), with some words"}"# + "\n"
        }
        try Data(content.utf8).write(to: URL(filePath: path))
        // Other tests use the processors at the same time: only the time that the program used counts. The shell
        // prints it after the program's output.
        let result = try await BuiltProgram(at: "/bin/bash").run([
            "-c", "TIMEFORMAT='%U %S'; time \"$0\" \"$@\"", program.url.path, "list", "--frozen", "--file", path,
        ])
        #expect(result.exitCode == 0)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == count)
        #expect(lines.first == "2025-01-01 10:10:10  Entry number 0, with some words")
        #expect(lines.last?.hasSuffix("  Entry number 99999, with some words") == true)
        let seconds = result.errors.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        #expect(seconds.count == 2, "nothing but the two times: \(result.errors)")
        print("Journal listed \(count) entries in \(seconds.reduce(0, +)) s of processor time")
        // Unoptimised code beside other tests is given more.
        #if DEBUG
        let limit = 3.0
        #else
        let limit = 2.0
        #endif
        #expect(seconds.reduce(0, +) < limit)
    }
}

/// An executable of this package, built along with the tests.
struct BuiltProgram {
    struct Result {
        let exitCode: Int32
        let output: String
        let errors: String
        let duration: Duration
    }

    struct NotFound: Error, CustomStringConvertible {
        let description: String
    }

    let url: URL

    /// A program of the system.
    init(at path: String) throws {
        url = URL(filePath: path)
        if !Self.isProgram(url) { throw NotFound(description: "\(path) is no program") }
    }

    /// Looks for the executable beside the test bundle: on Linux the test process is the bundle itself, on Apple
    /// platforms a runner elsewhere loads it.
    init(_ name: String) throws {
        let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
        let processes = [Bundle.main.executableURL, CommandLine.arguments.first.map { URL(filePath: $0) }].compactMap(
            \.self)
        var tried: [String] = []
        for start in bundles + processes {
            var folder = start.resolvingSymlinksInPath().deletingLastPathComponent()
            // On Apple platforms an executable lies three folders down in its bundle.
            for _ in 0..<4 {
                for candidate in [name, name + ".exe"].map({ folder.appending(path: $0, directoryHint: .notDirectory) })
                {
                    tried.append(candidate.path)
                    if Self.isProgram(candidate) {
                        url = candidate
                        return
                    }
                }
                folder.deleteLastPathComponent()
            }
        }
        throw NotFound(description: "\(name) is not among \(tried.joined(separator: ", "))")
    }

    /// Runs it to its end, with nothing in its environment but `environment` and what its sanitizer and libraries need.
    func run(_ arguments: [String] = [], environment: [String: String] = [:]) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "FuguRun-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Files, as a pipe that nobody empties would stop the program.
        let files = try ["output", "errors"].map { name in
            let url = folder.appending(path: name)
            try Data().write(to: url)
            return url
        }
        let process = Process()
        process.executableURL = url
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment
            .filter { ["PATH", "LD_LIBRARY_PATH", "TSAN_OPTIONS", "ASAN_OPTIONS", "SystemRoot"].contains($0.key) }
            .merging(environment) { $1 }
        process.standardOutput = try FileHandle(forWritingTo: files[0])
        process.standardError = try FileHandle(forWritingTo: files[1])
        let start = ContinuousClock.now
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        return Result(
            exitCode: process.terminationStatus,
            output: String(decoding: try Data(contentsOf: files[0]), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self),
            duration: start.duration(to: .now))
    }

    private static func isProgram(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && !isFolder.boolValue
            && FileManager.default.isExecutableFile(atPath: url.path)
    }
}

/// A new folder that is deleted, with its contents, when its last reference is released.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "FuguExamples-\(UUID())", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name, directoryHint: .notDirectory).path }
}
