import Footprints
import Glibc

/// Tries out the schedules of a world.
struct Search {
    struct Verdict {
        var schedules = 0
        /// How many steps were taken that no schedule before had taken.
        var steps = 0
        /// Whether all was tried that the world can come to.
        var isWhole = false
        /// Whether every schedule with few preemptions was tried.
        var isBounded = false
        /// Whether there was nothing to compare with.
        var isUncompared = false
        var failure: String?
    }

    let world: World
    var bound = 2
    /// How many schedules are tried at most.
    var limit = 5_000

    /// Tries out schedules as long as there are others, up to the limit; says whether all were tried.
    ///
    /// - `isFine`: Whether threads change at locks, too, or only where user code runs.
    /// - `check`: Is given what each came to, and returns what is wrong with it.
    private func search(
        _ schedule: Schedule, isFine: Bool, limit: Int, _ verdict: inout Verdict,
        _ check: (_ outcome: String, _ faults: [String]) -> String?
    ) -> Bool {
        defer { verdict.steps += schedule.newSteps }
        for _ in 0..<limit {
            let (outcome, faults) = run(schedule, isFine: isFine)
            verdict.schedules += 1
            if let failure = check(outcome, faults) {
                verdict.failure = failure + "\nschedule \(schedule.text)\(isFine ? "" : " of whole calls")"
                return false
            }
            if !schedule.advance() { return !schedule.hasDiverged }
        }
        return false
    }

    func run(_ schedule: Schedule, isFine: Bool) -> (outcome: String, faults: [String]) {
        alarm(20)
        Report.now = (world, schedule, isFine)
        defer { footprints_end_run() }
        let run = Run(world)
        let outcome = run.outcome(schedule, isFine: isFine)
        run.checkReleased()
        return (outcome, run.faults)
    }

    /// All that a world can come to, if there was time for it.
    func outcomes(isFine: Bool, reduces: Bool, _ verdict: inout Verdict) -> Set<String>? {
        var outcomes: Set<String> = []
        let schedule = Schedule()
        schedule.reduces = reduces
        let isWhole = search(schedule, isFine: isFine, limit: 4 * limit, &verdict) { outcome, faults in
            outcomes.insert(outcome)
            return faults.first
        }
        return isWhole ? outcomes : nil
    }

    func verdict() -> Verdict {
        var verdict = Verdict()
        // The baseline of every comparison.
        let expected = outcomes(isFine: false, reduces: true, &verdict)
        if verdict.failure != nil { return verdict }
        verdict.isUncompared = expected == nil
        func check(_ outcome: String, _ faults: [String]) -> String? {
            if let fault = faults.first { return fault }
            guard let expected, !expected.contains(outcome) else { return nil }
            let others = expected.sorted().prefix(12).joined(separator: "\n    ")
            return "it came to\n    \(outcome)\nwhich no order of whole calls gives, but only\n    \(others)"
        }
        let reduced = Schedule()
        reduced.reduces = true
        verdict.isWhole = search(reduced, isFine: true, limit: limit, &verdict, check)
        if verdict.isWhole || verdict.failure != nil { return verdict }
        let bounded = Schedule()
        bounded.bound = bound
        verdict.isBounded = search(bounded, isFine: true, limit: limit, &verdict, check)
        return verdict
    }
}

/// The choices of a run: those to repeat, and those made after them.
final class Schedule {
    struct Choice {
        /// The participants that could go on.
        let options: [UInt32]
        var taken: Int
        /// Whether whoever ran could not go on, so that taking another is no preemption.
        let isFree: Bool
        /// How many preemptions came before.
        let preemptions: Int
        /// Those whose next step was tried here, or earlier with nothing since that is in conflict with it: what begins with
        /// that step comes to the same as what was tried.
        var asleep: [(fiber: UInt32, step: Footprint)] = []
        /// The effects of the step that was taken.
        var step: Footprint?

        func isAsleep(_ option: Int) -> Bool { asleep.contains { $0.fiber == options[option] } }
    }
    private var choices: [Choice] = []
    /// The choices to make first when a schedule is repeated.
    var given: [Int] = []
    /// How many preemptions there may be.
    var bound = Int.max
    /// Whether schedules are left out that differ from others only in the order of steps that are not in conflict.
    var reduces = false
    /// Whether a run was not like the one before as far as the same was chosen.
    private(set) var hasDiverged = false
    /// Whether the rest of the run comes to the same as another one.
    private(set) var isRedundant = false
    private(set) var steps = 0
    /// How many steps were taken that none of the runs before had taken.
    private(set) var newSteps = 0
    private var position = 0
    private var realChoices = 0
    private var preemptions = 0

    func rewind() { (position, realChoices, preemptions, steps, isRedundant) = (0, 0, 0, 0, false) }

    /// Whether the step that begins is to be recorded.
    var records: Bool {
        reduces && !isRedundant && position > 0 && position == choices.count && choices[position - 1].step == nil
    }

    /// The step that was chosen last has ended.
    func endStep() { if records { choices[position - 1].step = Footprint() } }

    func choose(_ options: [UInt32], isFree: Bool) -> Int {
        endStep()
        steps += 1
        if isRedundant { return 0 }
        if position < choices.count, choices[position].options != options || choices[position].isFree != isFree {
            // Where addresses decide about an order, a world is not the same when it is run again.
            hasDiverged = true
            choices.removeSubrange(position...)
        }
        if position == choices.count {
            var choice = Choice(options: options, taken: 0, isFree: isFree, preemptions: preemptions)
            if reduces {
                choice.asleep = position == 0 ? [] : stillAsleep(after: choices[position - 1])
                guard let awake = options.indices.first(where: { !choice.isAsleep($0) }) else {
                    isRedundant = true
                    return 0
                }
                choice.taken = awake
            } else if options.count > 1, realChoices < given.count {
                choice.taken = min(given[realChoices], options.count - 1)
            }
            newSteps += 1
            choices.append(choice)
        }
        let taken = choices[position].taken
        position += 1
        if options.count > 1 { realChoices += 1 }
        if !isFree, taken > 0 { preemptions += 1 }
        return taken
    }

    private func stillAsleep(after choice: Choice) -> [(fiber: UInt32, step: Footprint)] {
        guard let step = choice.step else { return [] }
        let fiber = choice.options[choice.taken]
        return choice.asleep.filter { $0.fiber != fiber && !$0.step.conflicts(with: step) }
    }

    /// Goes to the next schedule; says whether there is one.
    func advance() -> Bool {
        choices.removeSubrange(position...)
        while var last = choices.popLast() {
            if reduces {
                if let step = last.step { last.asleep.append((last.options[last.taken], step)) }
                last.step = nil
                guard let awake = last.options.indices.first(where: { !last.isAsleep($0) }) else { continue }
                last.taken = awake
            } else {
                guard last.taken + 1 < last.options.count else { continue }
                guard last.isFree || last.preemptions < bound else { continue }
                last.taken += 1
            }
            choices.append(last)
            newSteps += 1
            return true
        }
        return false
    }

    /// The choices, where there were any.
    var text: String {
        choices.prefix(position).filter { $0.options.count > 1 }.map { "\($0.taken)" }.joined(separator: ",")
    }
}

/// The memory that one step read and wrote.
final class Footprint {
    private let pointer: OpaquePointer

    /// Takes what was recorded since it was last taken.
    init() { pointer = footprints_take() }
    deinit { footprint_free(pointer) }

    func conflicts(with other: Footprint) -> Bool { footprint_conflicts(pointer, other.pointer) }
}

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
