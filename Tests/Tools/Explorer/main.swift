import Fugu
import Glibc

// Usage: see `check`.
var seconds = 50.0
var bound: Int?
var limit = 5_000
var only: World?
var given: [Int]?
var seed = 1
var validates = false
var actors = [2, 3]
var shapes = ["2", "3", "3b"]
var isSync = false
var arguments = CommandLine.arguments.dropFirst().makeIterator()
while let argument = arguments.next() {
    guard let value = arguments.next() else { fatalError("\(argument) needs a value") }
    switch argument {
    case "--seconds": seconds = Double(value)!
    case "--bound": bound = Int(value)!
    case "--limit": limit = Int(value)!
    case "--seed": seed = Int(value)!
    case "--world": only = World(value)!
    case "--validate": validates = value == "yes"
    case "--actors": actors = [Int(value)!]
    case "--shape": shapes = [value]
    case "--sync": isSync = value == "yes"
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

func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Each world once, near and far ones in turn.
func inTurn(_ all: [World], from seed: Int) -> some Sequence<World> {
    // A stride that has nothing in common with their number comes by all of them.
    var stride = Int(Double(all.count) * 0.618)
    while gcd(stride, all.count) != 1 { stride += 1 }
    return (0..<all.count).lazy.map { [stride] in all[(seed % all.count + $0 * stride) % all.count] }
}

/// Tries out as many worlds as there is time for; says whether all are right.
func explore(_ all: [World], actors: Int, bound: Int, limit: Int, seconds: Double, from seed: Int) -> Bool {
    let begin = now()
    var (worlds, whole, bounded, uncompared, schedules, steps, failures) = (0, 0, 0, 0, 0, 0, 0)
    for world in inTurn(all, from: seed) {
        guard now() - begin < seconds, failures < 10 else { break }
        let verdict = Search(world: world, bound: bound, limit: limit).verdict()
        worlds += 1
        schedules += verdict.schedules
        steps += verdict.steps
        if verdict.isWhole { whole += 1 }
        if verdict.isBounded { bounded += 1 }
        if verdict.isUncompared { uncompared += 1 }
        guard let failure = verdict.failure else { continue }
        failures += 1
        print(Report.text(world, failure))
        fflush(nil)
    }
    print(
        """
        \(actors) actors: \(worlds) of \(all.count) worlds, \(schedules) schedules with \(steps) steps in \
        \(Int(now() - begin)) s: \(whole) worlds in every way, \(bounded) in every schedule with at most \(bound) \
        preemptions, \(worlds - whole - bounded) in the first \(limit); \(uncompared) not compared, \(failures) wrong
        """)
    fflush(nil)
    return failures == 0
}

/// Compares what worlds come to in all schedules and in those that the reduction leaves.
func validate(_ all: [World], actors: Int, limit: Int, seconds: Double, from seed: Int) -> Bool {
    let begin = now()
    var (compared, tooLarge, full, reduced) = (0, 0, 0, 0)
    for world in inTurn(all, from: seed) {
        guard now() - begin < seconds else { break }
        let search = Search(world: world, limit: limit)
        for isFine in [false, true] {
            var (one, other) = (Search.Verdict(), Search.Verdict())
            let whole = search.outcomes(isFine: isFine, reduces: false, &one)
            let part = whole == nil ? nil : search.outcomes(isFine: isFine, reduces: true, &other)
            if let failure = one.failure ?? other.failure {
                print(Report.text(world, failure))
                return false
            }
            guard let whole, let part else {
                tooLarge += 1
                continue
            }
            compared += 1
            full += one.schedules
            reduced += other.schedules
            if whole != part {
                print("\(world)\nthe reduction misses \(whole.subtracting(part)), adds \(part.subtracting(whole))")
                return false
            }
        }
    }
    print("\(actors) actors: \(compared) searches agree, \(full) schedules and \(reduced); \(tooLarge) are too large")
    return true
}

func gcd(_ a: Int, _ b: Int) -> Int { b == 0 ? a : gcd(b, a % b) }

if let only {
    print(only.program)
    let search = Search(world: only, bound: bound ?? 2, limit: limit)
    if let given {
        let schedule = Schedule()
        schedule.given = given
        print(search.run(schedule, isFine: true))
        exit(0)
    }
    let verdict = search.verdict()
    print(verdict)
    exit(verdict.failure == nil ? 0 : 1)
}
var areRight = true
for count in actors {
    let worlds = World.all(actors: count, shapes).filter { world in
        !isSync || !world.actors.joined().contains { $0.isAsync || $0 == .cancelReaders }
    }
    let seconds = seconds / Double(actors.count)
    let isRight =
        validates
        ? validate(worlds, actors: count, limit: limit, seconds: seconds, from: seed)
        : explore(worlds, actors: count, bound: bound ?? 4 - count, limit: limit, seconds: seconds, from: seed)
    areRight = areRight && isRight
}
exit(areRight ? 0 : 1)
