import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// An operation whose instructions are counted.
public struct Row: Sendable {
    /// The name in `instructions.txt` and on the command line.
    let name: String
    let summary: String
    /// Prepares what the operation needs, performs it some times, and returns something that depends on every result.
    let run: @Sendable (Int) async throws -> Int

    /// An operation of a plain function.
    public init(_ name: String, _ summary: String, run: @escaping @Sendable (Int) throws -> Int) {
        self.name = name
        self.summary = summary
        self.run = { try run($0) }
    }

    /// An operation of an asynchronous function.
    public init(async name: String, _ summary: String, run: @escaping @Sendable (Int) async throws -> Int) {
        self.name = name
        self.summary = summary
        self.run = run
    }
}

/// Does what the command line says: performs one operation again and again, or lists them all.
///
/// The operation runs in a detached task, because each `await` on the main actor would add a hop. Call this from a `main` that isn't
/// asynchronous: valgrind crashes in the call with which an asynchronous one waits.
public func perform(_ rows: [Row], _ arguments: [String] = Array(CommandLine.arguments.dropFirst())) {
    if arguments == ["--list"] {
        for row in rows { print("\(row.name)\t\(row.summary)") }
        return
    }
    guard arguments.count == 2, let count = Int(arguments[1]), count >= 0,
        let row = rows.first(where: { $0.name == arguments[0] })
    else {
        print("usage: ROW COUNT | --list")
        exit(64)
    }
    let result = Outcome()
    Task.detached {
        do {
            result.set(String(try await row.run(count)))
        } catch {
            print(error)
            exit(1)
        }
    }
    print(result.awaited())
}

/// A text that a thread waits for.
///
/// It waits in the kernel, where no instructions are counted.
private final class Outcome: Sendable {
    private let text = Mutex("")
    private let reading: Int32
    private let writing: Int32

    init() {
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0)
        (reading, writing) = (ends[0], ends[1])
    }

    func set(_ new: String) {
        text.withLock { $0 = new }
        close(writing)
    }

    func awaited() -> String {
        var byte: UInt8 = 0
        _ = read(reading, &byte, 1)
        return text.withLock { $0 }
    }
}
