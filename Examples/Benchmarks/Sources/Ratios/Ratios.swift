import Foundation
import Workloads

/// Measures every row of the table in one process, and checks the bounds.
@main
struct Ratios {
    static func main() async throws {
        let options = options()
        let footprints = options.filter == nil ? Footprint.measured() : []
        let measurements = try await measurements(options)
        print(Table.times(measurements, slack: options.slack).text)
        if !footprints.isEmpty { print("\n" + Table.footprints(footprints).text) }
        let suspensions = try await suspensions(inReads: 1_000)
        print("\n1000 reads of a loaded async feature suspend \(suspensions) times (bound: 0)")
        print("\nMedians of \(options.rounds) rounds, each measured alternately with its baselines.")
        if let path = options.picture {
            try Data(Picture(measurements).svg.utf8).write(to: URL(filePath: path))
            print("The chart is in \(path).")
        }
        if options.check { check(measurements, footprints, suspensions, slack: options.slack) }
    }

    /// Returns the options of the command line; an error ends the program with status 64 and the usage.
    private static func options() -> Options {
        do {
            return try Options(CommandLine.arguments.dropFirst())
        } catch {
            FileHandle.standardError.write(Data("error: \(error)\n".utf8))
            exit(64)
        }
    }

    /// Runs off the main actor, where asynchronous reads could behave differently.
    @concurrent
    private static func measurements(_ options: Options) async throws -> sending [Measurement] {
        var measurements: [Measurement] = []
        for row in allRows where options.filter.map(row.subject.name.contains) ?? true {
            measurements.append(
                try await Measurement(
                    of: row, rounds: options.rounds, sample: options.sample, countsProcessor: options.countsProcessor))
        }
        return measurements
    }

    /// Exits with status 1 if a row exceeds its bound by more than the slack.
    ///
    /// Sizes get almost no slack; the array that holds the measured objects can grow in the meantime.
    private static func check(
        _ measurements: [Measurement], _ footprints: [Footprint], _ suspensions: Int, slack: Double
    ) {
        var broken = measurements.filter { ($0.share ?? 0) > slack * $0.row.reached }
            .map { "\($0.row.subject.name): \($0.row.bound?.text ?? ""), used \(($0.share ?? 0).percent)" }
        broken += footprints.filter { $0.share > 1.02 }
            .map { "\($0.name): \($0.bytes.short) bytes of \($0.bound.short)" }
        if suspensions > 0 { broken.append("a read of a loaded async feature suspends") }
        guard !broken.isEmpty else { return print("Every row is within its bound (slack \(slack.short)).") }
        for line in broken { print("broken: \(line)") }
        exit(1)
    }
}

/// The options of the command line.
struct Options: Sendable {
    var check = false
    /// The factor by which a ratio may exceed its bound on noisy machines.
    var slack = 1.0
    var rounds = 7
    var sample = Duration.milliseconds(10)
    /// Whether to measure the processor time of the process instead of wall-clock time, for machines with other work.
    var countsProcessor = false
    var picture: String?
    var filter: String?

    init(_ arguments: some Sequence<String>) throws(Usage) {
        var arguments = arguments.makeIterator()
        func value<T>(of option: String, _ parse: (String) -> T?) throws(Usage) -> T {
            guard let text = arguments.next(), let value = parse(text) else {
                throw Usage("\(option) needs a value\n\(Usage.text)")
            }
            return value
        }
        while let argument = arguments.next() {
            switch argument {
            case "--check": check = true
            case "--slack": slack = try value(of: argument) { Double($0) }
            case "--rounds": rounds = try value(of: argument) { Int($0).flatMap { $0 > 0 ? $0 : nil } }
            case "--sample": sample = .milliseconds(try value(of: argument) { Int($0) })
            case "--processor": countsProcessor = true
            case "--picture": picture = try value(of: argument) { $0 }
            case "--filter": filter = try value(of: argument) { $0 }
            default: throw Usage("unknown option \(argument)\n\(Usage.text)")
            }
        }
    }
}

/// An error in the command line.
struct Usage: Error, CustomStringConvertible {
    static let text = """
        usage: Ratios [--check] [--slack FACTOR] [--rounds N] [--sample MILLISECONDS] [--processor] [--picture FILE.svg] \
        [--filter TEXT]
        """

    let description: String

    init(_ description: String) {
        self.description = description
    }
}
