import Foundation
import Fugu
import FuguInspection

/// The processor time that the formats of a graph take, as medians of several rounds.
enum Timing {
    private struct Row: Sendable {
        let name: String
        /// In milliseconds.
        let bound: Double
        let make: @Sendable (ContainerGraph) -> Void
    }

    private static let rows = [
        Row(name: "mermaid", bound: 20) { _ = $0.mermaid }, Row(name: "dot", bound: 20) { _ = $0.dot },
        Row(name: "description", bound: 20) { _ = $0.description }, Row(name: "json", bound: 20) { _ = $0.json },
        Row(name: "html", bound: 200) { _ = $0.html },
    ]

    /// Prints the medians and, with a slack, exits with 1 if one is beyond its bound times the slack.
    static func print(_ draw: () -> ContainerGraph, slack: Double?) throws {
        let graph = draw()
        Swift.print("\(graph.entries.count) entries in \(graph.containers.count) containers, medians of 11:")
        report("graph", median { _ = draw() }, "")
        var isTooSlow = false
        for row in rows {
            let milliseconds = median { row.make(graph) }
            report(row.name, milliseconds, "  at most \(Int(row.bound))")
            isTooSlow = isTooSlow || milliseconds > row.bound * (slack ?? .infinity)
        }
        if isTooSlow {
            Swift.print("too slow")
            exit(1)
        }
    }

    private static func report(_ name: String, _ milliseconds: Double, _ end: String) {
        Swift.print(
            name.padding(toLength: 12, withPad: " ", startingAt: 0) + String(format: "%6.2f ms", milliseconds) + end)
    }

    /// The processor time of this process, so that other work on the machine isn't counted.
    private static func median(_ body: () -> Void) -> Double {
        let times = (0..<11).map { _ in
            let start = clock()
            body()
            return Double(clock() - start) / Double(CLOCKS_PER_SEC) * 1000
        }
        return times.sorted()[times.count / 2]
    }
}
