import Fugu
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Performs one operation again and again, for a program that counts instructions (`instructions` in this package).
///
/// The rows run in a detached task, because each `await` on the main actor would add a hop. And `main` isn't asynchronous, because its
/// thread would then end while valgrind creates others, which valgrind doesn't survive.
@main struct Instructions {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments == ["--list"] {
            for row in Row.all { print("\(row.name)\t\(row.summary)") }
            return
        }
        guard arguments.count == 2, let count = Int(arguments[1]), count >= 0,
            let row = Row.all.first(where: { $0.name == arguments[0] })
        else {
            print("usage: Instructions ROW COUNT | --list")
            exit(64)
        }
        let result = Outcome()
        Task.detached {
            do {
                result.set(String(try await row.run(count)))
            } catch {
                result.set("\(error)")
            }
        }
        print(result.awaited())
    }
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
