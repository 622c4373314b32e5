import Fugu
import Glibc

// Usage: see `check`.
var seconds = 50.0
var bound = 2
var every: Int?
var only: World?
var given: [Int]?
var seed = 1
var arguments = CommandLine.arguments.dropFirst().makeIterator()
while let argument = arguments.next() {
    guard let value = arguments.next() else { fatalError("\(argument) needs a value") }
    switch argument {
    case "--seconds": seconds = Double(value)!
    case "--bound": bound = Int(value)!
    case "--every": every = Int(value)!
    case "--seed": seed = Int(value)!
    case "--world": only = World(value)!
    case "--schedule": given = value.split(separator: ",").map { Int($0)! }
    default: fatalError("unknown: \(argument)")
    }
}

Exploring(
    willLock: { Scheduler.shared.willLock() }, didUnlock: { Scheduler.shared.didUnlock() },
    yield: { Scheduler.shared.yield() }, wait: { Scheduler.shared.wait($0) }
).install()
Jobs.shared.install()
Report.watch()
exit(explore() ? 0 : 1)

func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

@MainActor func explore() -> Bool {
    if let world = only {
        print(world.program)
        if let given {
            let schedule = Schedule()
            schedule.given = given
            let search = Search(world: world)
            print(search.run(schedule, isFine: true))
            return true
        }
        let verdict = Search(world: world, bound: bound).verdict()
        print("\(verdict)")
        return verdict.failure == nil
    }
    let all = World.all()
    // A stride that has nothing in common with their number comes by all of them.
    var stride = every ?? Int(Double(all.count) * 0.618)
    while gcd(stride, all.count) != 1 { stride += 1 }
    let begin = now()
    var (worlds, complete, uncompared, schedules, failures) = (0, 0, 0, 0, 0)
    var index = seed % all.count
    while worlds < all.count, now() - begin < seconds {
        let world = all[index]
        index = (index + stride) % all.count
        let verdict = Search(world: world, bound: bound).verdict()
        worlds += 1
        schedules += verdict.schedules
        if verdict.isComplete { complete += 1 }
        if verdict.isUncompared { uncompared += 1 }
        if let failure = verdict.failure {
            failures += 1
            print(Report.text(world, failure))
            fflush(nil)
            if failures == 10 { break }
        }
    }
    let time = Int(now() - begin)
    print(
        """
        \(worlds) of \(all.count) worlds, \(schedules) schedules in \(time) s: \(complete) worlds in every schedule, the \
        others in every schedule with at most \(bound) preemptions; \(uncompared) not compared; \(failures) failures
        """)
    return failures == 0
}

func gcd(_ a: Int, _ b: Int) -> Int { b == 0 ? a : gcd(b, a % b) }
