import Foundation
package import Testing

/// The operating system's figures for this process.
package enum ThisProcess {
    /// The bytes of memory in use, where they're known.
    package static var residentBytes: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map {
            $0 * Int(sysconf(Int32(_SC_PAGESIZE)))
        }
    }

    /// The time for which the calling thread has run on a processor.
    package static var threadTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(Int(time.tv_sec)) + .nanoseconds(Int(time.tv_nsec))
    }

    /// Whether the thread sanitizer runs, with which memory and times mean little.
    package static var isThreadSanitized: Bool { dlsym(dlopen(nil, RTLD_NOW), "__tsan_init") != nil }

    /// For exit tests: ends the process with success, which they take for a failure, unless it stops in good time.
    package static func mustStopSoon() {
        startThread {
            Thread.sleep(forTimeInterval: 30)
            exit(EXIT_SUCCESS)
        }
    }

    /// For exit tests: ends the process with failure unless it ends in good time.
    package static func mustEndSoon() {
        startThread {
            Thread.sleep(forTimeInterval: 30)
            fatalError("the process hangs")
        }
    }
}

/// Expects that a process that stopped has said all of `parts` on standard error.
package func expectMessage(
    of result: ExitTest.Result?, _ parts: String..., sourceLocation: SourceLocation = #_sourceLocation
) {
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    for part in parts {
        #expect(text.contains(part), "standard error was: \(text)", sourceLocation: sourceLocation)
    }
}
