import Foundation
import Fugu
import FuguConfiguration

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

/// A workload of variable size that measures itself.
struct Course: Sendable {
    let name: String
    let sizes: [Int]
    /// Returns the seconds of processor time for `n`, without the preparation.
    let seconds: @Sendable (_ n: Int) async throws -> Double

    init(
        _ name: String, sizes: [Int] = [10_000, 20_000, 40_000, 80_000],
        seconds: @escaping @Sendable (_ n: Int) async throws -> Double
    ) {
        self.name = name
        self.sizes = sizes
        self.seconds = seconds
    }
}

/// The growth of a course's time with its size.
struct Curve: Sendable {
    let name: String
    let sizes: [Int]
    /// The best time for each size.
    private(set) var seconds: [Double] = []

    /// A shorter time depends more on the machine than on the work.
    private static let least = 0.000_2
    /// A size that takes longer is measured once, and larger ones aren't measured.
    private static let most = 6.0

    /// The exponent for "doubling takes at most 2.3 times as long".
    static let bound = 1.2

    /// Measures all sizes, and keeps the best of several rounds for each.
    init(of course: Course, rounds: Int) async throws {
        name = course.name
        sizes = course.sizes
        for size in sizes {
            var best = Double.infinity
            for _ in 0..<rounds {
                best = min(best, try await course.seconds(size))
                if best > 1 { break }
            }
            seconds.append(max(best, Self.least))
            if best > Self.most { break }
        }
    }

    /// The exponent of the last doubling.
    var last: Double {
        guard seconds.count > 1 else { return .infinity }
        return log2(seconds[seconds.count - 1] / seconds[seconds.count - 2])
    }

    /// The exponent over all sizes: the slope of the line that fits the logarithms best.
    var fit: Double {
        guard seconds.count > 1 else { return .infinity }
        let x = sizes.prefix(seconds.count).map { log2(Double($0)) }
        let y = seconds.map { log2($0) }
        let meanX = x.reduce(0, +) / Double(x.count)
        let meanY = y.reduce(0, +) / Double(y.count)
        let up = zip(x, y).map { ($0 - meanX) * ($1 - meanY) }.reduce(0, +)
        return up / x.map { ($0 - meanX) * ($0 - meanX) }.reduce(0, +)
    }

    func isInProportion(slack: Double) -> Bool {
        seconds.count == sizes.count && fit <= Self.bound + slack
    }
}

/// Returns the seconds of processor time that `body` takes with empty caches.
///
/// Otherwise, a small preparation would still be in the cache, and a large one wouldn't, which would look like
/// growth.
func seconds(_ body: () throws -> Void) rethrows -> Double {
    emptyCaches()
    let start = clock()
    try body()
    return Double(clock() - start) / Double(CLOCKS_PER_SEC)
}

/// Returns the same for asynchronous work, on all threads together.
func seconds(_ body: () async throws -> Void) async rethrows -> Double {
    emptyCaches()
    let start = clock()
    try await body()
    return Double(clock() - start) / Double(CLOCKS_PER_SEC)
}

private let ballast = [Int](repeating: 1, count: 4 << 20)

private func emptyCaches() {
    var sum = 0
    for index in stride(from: 0, to: ballast.count, by: 8) { sum &+= ballast[index] }
    // The sum is looked at, so that it has to be computed.
    precondition(sum == ballast.count / 8)
}

/// Long lists in documents.
enum Documents {
    /// A package of a lock file, whose dependencies are whatever they are.
    private struct Package: Decodable, Sendable {
        let name: String
        let dependencies: PropertyValue
    }

    static var courses: [Course] {
        [
            course("decode n packages of a lock file as values", [PropertyValue].self),
            course("decode n packages of a lock file as structs of values", [Package].self),
        ]
    }

    private static func course<List: RandomAccessCollection & Decodable & Sendable>(
        _ name: String, _ type: List.Type
    ) -> Course {
        Course(name, sizes: [25_000, 50_000, 100_000, 200_000]) { n in
            let package = "[[package]]\nname = 'a'\ndependencies = ['b 1.0', 'c 2.1']\n"
            let snapshot = try TOMLSource(text: String(repeating: package, count: n), name: "lock").load()
            return try await seconds {
                guard try snapshot.property("package", as: type)?.count == n else { fatalError("packages are missing") }
            }
        }
    }
}
