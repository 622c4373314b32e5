import Glibc

/// The report of a failure: the world as a short program, and the schedule.
enum Report {
    private final class Box: @unchecked Sendable {
        static let shared = Box()
        var now: (World, Schedule, Bool)?
    }

    /// The threads that run.
    static var now: (world: World, schedule: Schedule, isFine: Bool)? {
        get { Box.shared.now }
        set { Box.shared.now = newValue }
    }

    static func text(_ world: World, _ failure: String) -> String {
        "\(world.program)\nagain with: Tests/Tools/Explorer/check --world \"\(world)\"\n\(failure)\n"
    }

    /// Ends the process: threads are left that cannot go on.
    static func fail(_ reason: String) -> Never {
        if let now {
            print(text(now.world, "\(reason)\nschedule \(now.schedule.text)\(now.isFine ? "" : " of whole calls")"))
        }
        fflush(nil)
        _exit(1)
    }

    /// A trap of the engine, or a schedule that takes 20 seconds, says which world led to it.
    static func watch() {
        for number in [SIGILL, SIGTRAP, SIGSEGV, SIGABRT, SIGBUS, SIGALRM] {
            signal(number) { number in
                signal(number, SIG_DFL)
                Report.fail("the program was ended by signal \(number)")
            }
        }
    }
}
