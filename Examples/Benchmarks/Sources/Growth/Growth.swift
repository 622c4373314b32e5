import Foundation

/// Measures how time grows with size, and that memory doesn't grow.
@main
struct Growth {
    static func main() async throws {
        let options: Options
        do {
            options = try Options(CommandLine.arguments.dropFirst())
        } catch {
            FileHandle.standardError.write(Data("error: \(error)\n".utf8))
            exit(64)
        }
        let broken = try await curves(options) + levels(options)
        guard options.check else { return }
        guard !broken.isEmpty else { return print("\nEvery row grows in proportion (slack \(options.slack)).") }
        for line in broken { print("broken: \(line)") }
        exit(1)
    }

    /// Prints each row when it's measured, and returns the rows that grow too much.
    @concurrent
    private static func curves(_ options: Options) async throws -> [String] {
        let courses = (Families.courses + Waiting.courses + Documents.courses).filter { options.wants($0.name) }
        guard !courses.isEmpty else { return [] }
        printRow("milliseconds for n", ["n", "times n", "2 n", "4 n", "8 n", "last", "fit", ""])
        var broken: [String] = []
        for course in courses {
            let curve = try await Curve(of: course, rounds: options.rounds)
            let times = curve.seconds.map { ($0 * 1_000).short } + Array(repeating: "-", count: 4 - curve.seconds.count)
            let isRight = curve.isInProportion(slack: options.slack)
            printRow(
                curve.name,
                ["\(curve.sizes[0])"] + times
                    + [curve.last.short, curve.fit.short, isRight ? "passed" : "FAILED"])
            if !isRight { broken.append("\(curve.name): exponent \(curve.fit.short)") }
        }
        print("\nProcessor time, best of \(options.rounds) rounds. Exponents (last, fit): at most \(Curve.bound).\n")
        return broken
    }

    /// Prints the memory in use, and returns the routines that let it grow.
    @concurrent
    private static func levels(_ options: Options) async throws -> [String] {
        let routines = Flat.routines.filter { options.wants($0.name) }
        guard !routines.isEmpty else { return [] }
        printRow("KB more after", ["a quarter", "half", "all", "of", "seconds", ""])
        var broken: [String] = []
        for routine in routines {
            let level = try await Level(of: routine, count: options.count)
            printRow(
                level.name,
                level.bytes.map { "\($0 / 1_024)" } + [
                    "\(level.count)", level.seconds.short, level.isFlat ? "passed" : "FAILED",
                ])
            if !level.isFlat { broken.append("\(level.name): memory grows by \(level.bytes) bytes") }
        }
        return broken
    }

    private static func printRow(_ name: String, _ cells: [String]) {
        func space(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
        let rest = cells.map { space(9 - $0.count) + $0 }.joined(separator: " ")
        print(name + space(60 - name.count) + rest)
        fflush(nil)
    }
}

/// The options of the command line.
struct Options: Sendable {
    var check = false
    /// The tolerance for exponents on noisy machines.
    var slack = 0.0
    var rounds = 3
    /// The number of repetitions for the rows about memory.
    var count = 1_000_000
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
            case "--count": count = try value(of: argument) { Int($0).flatMap { $0 >= 1_000 ? $0 : nil } }
            case "--filter": filter = try value(of: argument) { $0 }
            default: throw Usage("unknown option \(argument)\n\(Usage.text)")
            }
        }
    }

    func wants(_ name: String) -> Bool { filter.map(name.contains) ?? true }
}

/// An error in the command line.
struct Usage: Error, CustomStringConvertible {
    static let text = "usage: Growth [--check] [--slack EXPONENT] [--rounds N] [--count N] [--filter TEXT]"

    let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension Double {
    /// With two digits.
    fileprivate var short: String { "\((self * 100).rounded() / 100)" }
}
