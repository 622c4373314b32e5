import Workloads

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
