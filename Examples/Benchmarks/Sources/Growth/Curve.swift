import Foundation

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
