import Foundation
import Workloads

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
