import Fugu

/// Runs for a long time what tests run briefly: `Endurance stress [SECONDS]` or `Endurance soak [REQUESTS] [RELOADS]`.
///
/// `taskset --cpu-list 0 Endurance priorities` writes at a real-time priority, as root on Linux.
@main struct Endurance {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let numbers = arguments.dropFirst().compactMap { Double($0) }
        let problems: [String]
        switch arguments.first {
        case "stress": problems = try await Stress(seconds: numbers.first ?? 60).run()
        case "soak":
            problems = try await Soak(
                requests: Int(numbers.first ?? 1_000_000), reloads: Int(numbers.dropFirst().first ?? 10_000)
            ).run()
        #if canImport(Glibc)
        case "priorities": problems = Priorities().run()
        #endif
        default: fatalError("usage: Endurance stress [SECONDS] | soak [REQUESTS] [RELOADS] | priorities")
        }
        guard problems.isEmpty else { fatalError(problems.joined(separator: "; ")) }
        print("no problems found")
    }
}
