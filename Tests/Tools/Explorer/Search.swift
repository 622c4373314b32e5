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
