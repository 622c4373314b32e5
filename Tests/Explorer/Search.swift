import Glibc

/// Tries out the schedules of a world.
struct Search {
    struct Verdict {
        var schedules = 0
        var choices = 0
        /// Whether every schedule was tried, with any number of preemptions.
        var isWhole = false
        /// Whether every schedule within the bound was tried.
        var isBounded = false
        /// Whether there was nothing to compare with.
        var isUncompared = false
        var failure: String?
    }

    let world: World
    var bound = 2
    /// How many schedules are tried at most.
    var limit = 5_000

    /// All that a world can come to when threads change only where user code runs: what anything else is compared with.
    private func expected(_ verdict: inout Verdict) -> Set<String>? {
        var outcomes: Set<String> = []
        let schedule = Schedule()
        for _ in 0..<4 * limit {
            let (outcome, faults) = run(schedule, isFine: false)
            verdict.schedules += 1
            if let fault = faults.first {
                verdict.failure = fault
                return outcomes
            }
            outcomes.insert(outcome)
            if !schedule.advance() { return outcomes }
        }
        return nil
    }

    func run(_ schedule: Schedule, isFine: Bool) -> (outcome: String, faults: [String]) {
        alarm(20)
        Report.now = (world, schedule, isFine)
        let run = Run(world)
        let outcome = run.outcome(schedule, isFine: isFine)
        run.checkReleased()
        return (outcome, run.faults)
    }

    func verdict() -> Verdict {
        var verdict = Verdict()
        let expected = expected(&verdict)
        if verdict.failure != nil { return verdict }
        verdict.isUncompared = expected == nil
        let schedule = Schedule()
        schedule.bound = bound
        for _ in 0..<limit {
            let (outcome, faults) = run(schedule, isFine: true)
            verdict.schedules += 1
            verdict.choices += schedule.choices.count
            var fault = faults.first
            if fault == nil, let expected, !expected.contains(outcome) {
                let others = expected.sorted().prefix(12).joined(separator: "\n    ")
                fault = "it came to\n    \(outcome)\nwhich no order of whole calls gives, but only\n    \(others)"
            }
            if let fault {
                verdict.failure = fault + "\nschedule \(schedule.text)"
                return verdict
            }
            if !schedule.advance() {
                verdict.isWhole = !schedule.isCut && !schedule.hasDiverged
                verdict.isBounded = schedule.isCut && !schedule.hasDiverged
                return verdict
            }
        }
        return verdict
    }
}
