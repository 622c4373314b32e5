import Foundation
import Fugu
import FuguConfiguration
import Support
import Testing

extension ContainerKeys {
    fileprivate var port: PropertyKey<Int> { .init("pipe25.port", defaultValue: 80) }
    fileprivate var text: PropertyKey<String> { .init("pipe25.text", defaultValue: "") }
}

/// Pipes give their content only once (law 25).
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
        "A named pipe is read once, to its end, and a reload keeps its values (law 25)", .timeLimit(.minutes(1)),
        arguments: ["JSON", "TOML", "variables"])
    func named(kind: String) throws {
        expect(mkfifo(path, 0o600), equals: 0)
        let container = Container()
        container.declare(\.port, \.text)
        let (source, content) = source(kind)
        write(content)
        let stamp = source.modificationStamp()
        try container.apply(source)
        expect(container.port == 9000 && container.text.count == 200_000)
        try container.reload()
        try container.validate()
        expect(container.port == 9000 && source.modificationStamp() == stamp)
        // Another container that applies the same source gets the same.
        let other = Container()
        try other.apply(source)
        expect(other.port, equals: 9000)
        unlink(path)
        try container.reload()
        expect(container.port == 9000 && source.modificationStamp() == stamp)
    }

    @Test("A pipe that the shell opens is read by its path (law 25)", .timeLimit(.minutes(1)))
    func opened() throws {
        let pipe = Pipe()
        pipe.fileHandleForWriting.write(Data("[pipe25]\nport = 9001".utf8))
        try pipe.fileHandleForWriting.close()
        let container = Container()
        try container.apply(TOMLSource(path: "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"))
        try container.reload()
        expect(container.port, equals: 9001)
        try container.apply(TOMLSource(path: "/dev/null"))
        expect(container.port, equals: 9001)
    }

    @Test("A pipe in a folder of values isn't waited for; it's an error for its name alone (law 25)")
    func inFolder() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        expect(mkfifo(path + "/pipe25.port", 0o600), equals: 0)
        try Data("a".utf8).write(to: URL(fileURLWithPath: path + "/pipe25.text"))
        let container = Container()
        try container.apply(FolderSource(path: path))
        expect(container.text, equals: "a")
        expect(
            thrown { _ = try container.require(\.port) },
            equals: "\(path)/pipe25.port: pipe25.port: can't be read: it's a pipe or a device, not a regular file")
    }
}
