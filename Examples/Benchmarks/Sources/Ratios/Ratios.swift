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

/// The times of a row, by round.
struct Measurement {
    let row: Row
    /// Nanoseconds per operation in each round.
    private(set) var subject: [Double] = []
    /// Nanoseconds per operation of each baseline in the same rounds.
    private(set) var baselines: [[Double]]

    /// Measures the subject and the baselines alternately, so that other work on the machine affects both.
    init(of row: Row, rounds: Int, sample: Duration, countsProcessor: Bool) async throws {
        self.row = row
        baselines = Array(repeating: [], count: row.baselines.count)
        let all = try await ([row.subject] + row.baselines).asyncMap {
            try await Sampler($0, lasting: sample, countsProcessor: countsProcessor)
        }
        for round in 0..<rounds {
            // Every other round runs in reverse order, because the first workload can run at another clock speed.
            let order = round.isMultiple(of: 2) ? Array(all.indices) : all.indices.reversed()
            for index in order {
                let time = try await all[index].nanoseconds()
                if index == 0 { subject.append(time) } else { baselines[index - 1].append(time) }
            }
        }
    }

    var medianOfSubject: Double { median(subject) }

    func medianOfBaseline(_ index: Int) -> Double { median(baselines[index]) }

    /// The speedup over the first baseline: the median over the rounds.
    var timesFaster: Double? {
        guard let first = baselines.first else { return nil }
        return median(zip(first, subject).map { $0 / $1 })
    }

    /// The part of its bound that the row uses: the median over the rounds.
    ///
    /// More than 1 breaks the bound.
    var share: Double? {
        guard let bound = row.bound else { return nil }
        return median(subject.indices.map { round in subject[round] / bound.limit(baselines.map { $0[round] }) })
    }
}

/// A workload with the number of iterations for one sample.
private struct Sampler {
    private let workload: Workload
    private let countsProcessor: Bool
    private var n = 1
    private static let start = ContinuousClock.now

    init(_ workload: Workload, lasting duration: Duration, countsProcessor: Bool) async throws {
        self.workload = workload
        self.countsProcessor = countsProcessor
        // Run once to load features, and then double the number until the clock can measure it.
        while try await time(n) < duration / 4 {
            n *= 2
            precondition(n < 1 << 40, "The optimizer left nothing to measure of: \(workload.name)")
        }
        n = max(1, Int(Double(n) * (duration / (try await time(n)))))
    }

    func nanoseconds() async throws -> Double {
        if workload.threads > 1 { return workload.nanosecondsTogether(n) }
        return try await time(n) / .nanoseconds(n * workload.operations)
    }

    private func time(_ n: Int) async throws -> Duration {
        let start = now
        switch workload.body {
        case .plain(let body): consume(body(n))
        case .async(let body): consume(try await body(n))
        }
        return now - start
    }

    /// Wall-clock time or processor time since a fixed moment.
    private var now: Duration {
        if countsProcessor { return .microseconds(Int64(clock()) * 1_000_000 / Int64(CLOCKS_PER_SEC)) }
        return ContinuousClock.now - Sampler.start
    }
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
}

extension Array {
    fileprivate func asyncMap<R>(_ body: (Element) async throws -> R) async rethrows -> [R] {
        var result: [R] = []
        for element in self { result.append(try await body(element)) }
        return result
    }
}

/// A chart of the figures: for each row, a bar for Fugu and one for each baseline, on a logarithmic scale.
struct Picture {
    private let measurements: [Measurement]
    private let left = 330.0
    private let width = 900.0
    private let barHeight = 13.0
    private let gap = 9.0

    /// Creates a chart of the rows that have baselines.
    init(_ measurements: [Measurement]) {
        self.measurements = measurements.filter { !$0.row.baselines.isEmpty }
    }

    /// The chart as an SVG document for light and dark pages.
    var svg: String {
        var body = ""
        var y = 46.0
        for measurement in measurements {
            body += bar(measurement.row.subject.name, measurement.medianOfSubject, kind: "ours", at: &y)
            for (index, baseline) in measurement.row.baselines.enumerated() {
                body += bar(baseline.name, measurement.medianOfBaseline(index), kind: "other", at: &y)
            }
            y += gap
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(width)) \(Int(y + 10))" font-family="sans-serif" \
            font-size="11" role="img" aria-label="Nanoseconds of one operation">
            <style>
            text { fill: #24292f } .ours { fill: #0a7ea4 } .other { fill: #b4bcc4 } .line { stroke: #8883; stroke-width: 1 }
            @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .ours { fill: #4cc2e6 } .other { fill: #59636e } }
            </style>
            \(axis(to: y))\(body)</svg>

            """
    }

    private func bar(_ name: String, _ nanoseconds: Double, kind: String, at y: inout Double) -> String {
        defer { y += barHeight + 2 }
        let end = x(nanoseconds)
        return """
            <text x="\(left - 8)" y="\(y + 10)" text-anchor="end">\(name.escaped)</text>\
            <rect class="\(kind)" x="\(left)" y="\(y)" width="\(max(1, (end - left)).tenths)" height="\(barHeight)" rx="2"/>\
            <text x="\((max(left + 1, end) + 5).tenths)" y="\(y + 10)">\(nanoseconds.short)</text>

            """
    }

    private func axis(to bottom: Double) -> String {
        var axis =
            "<text x=\"\(left)\" y=\"16\">nanoseconds of one operation, each line ten times the one before</text>\n"
        for power in [1.0, 10, 100, 1_000, 10_000] {
            let x = x(power).tenths
            axis += "<line class=\"line\" x1=\"\(x)\" y1=\"38\" x2=\"\(x)\" y2=\"\(Int(bottom))\"/>"
            axis += "<text x=\"\(x)\" y=\"34\" text-anchor=\"middle\">\(power.short)</text>\n"
        }
        return axis
    }

    /// The scale goes from half a nanosecond to ten thousand.
    private func x(_ nanoseconds: Double) -> Double {
        let share = (log10(max(nanoseconds, 0.5)) - log10(0.5)) / (4 - log10(0.5))
        return left + share * (width - left - 60)
    }
}

extension Double {
    fileprivate var tenths: String { "\((self * 10).rounded() / 10)" }
}

extension String {
    fileprivate var escaped: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}

/// A printed table whose columns are as wide as their widest cell, with the first column left-aligned and the others
/// right-aligned.
struct Table {
    private var rows: [[String]]

    init(columns: String...) {
        rows = [columns]
    }

    mutating func append(_ cells: String...) {
        rows.append(cells)
    }

    var text: String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = rows.map { row in
            row.indices.map { column in
                let space = String(repeating: " ", count: widths[column] - row[column].count)
                return column == 0 || column == 2 ? row[column] + space : space + row[column]
            }
            .joined(separator: "  ")
        }
        lines.insert(widths.map { String(repeating: "-", count: $0) }.joined(separator: "  "), at: 1)
        return lines.joined(separator: "\n")
    }
}

/// Whether a row that uses this part of its bound keeps it.
enum Verdict: String {
    case passed = "passed"
    /// Beyond the bound, but within the slack for noisy machines.
    case tolerated = "tolerated"
    /// Beyond the bound, as is known.
    case missed = "missed"
    case failed = "FAILED"
    case none = ""

    init(share: Double?, reached: Double = 1, slack: Double) {
        guard let share else {
            self = .none
            return
        }
        if share <= 1 {
            self = .passed
        } else if share <= slack * reached {
            self = reached > 1 ? .missed : .tolerated
        } else {
            self = .failed
        }
    }
}

extension Table {
    /// Returns the table of times, with a line for each baseline after the first one that a bound refers to.
    static func times(_ measurements: [Measurement], slack: Double) -> Table {
        var table = Table(columns: "workload", "ns", "baseline", "ns", "faster", "bound", "used", "")
        for measurement in measurements {
            let row = measurement.row
            let verdict = Verdict(share: measurement.share, reached: row.reached, slack: slack)
            table.append(
                row.subject.name,
                measurement.medianOfSubject.short,
                row.baselines.map(\.name).joined(separator: " + "),
                row.baselines.indices.map { measurement.medianOfBaseline($0).short }.joined(separator: " + "),
                measurement.timesFaster.map { "\($0.short) ×" } ?? "",
                row.bound?.text ?? "",
                measurement.share?.percent ?? "",
                verdict.rawValue
            )
        }
        return table
    }

    static func footprints(_ footprints: [Footprint]) -> Table {
        var table = Table(columns: "memory", "bytes", "", "bound", "used", "")
        for footprint in footprints {
            let share = footprint.bound.isFinite ? footprint.share : nil
            table.append(
                footprint.name,
                footprint.bytes.short,
                "",
                share == nil ? "" : "≤ \(footprint.bound.short)",
                share?.percent ?? "",
                Verdict(share: share, slack: 1).rawValue
            )
        }
        return table
    }
}

extension Footprint {
    var share: Double { bytes / bound }
}

extension Double {
    var percent: String { "\(Int((self * 100).rounded())) %" }
}
