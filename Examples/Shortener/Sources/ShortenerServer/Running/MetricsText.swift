import CoreMetrics
import Fugu
import Synchronization

extension ContainerKeys {
    /// The metrics that `/metrics` serves.
    ///
    /// swift-metrics has one backend for the whole process; the program names this one before anything is measured.
    package var metrics: FeatureKey<MetricsText> { .init { _ in MetricsText() } }
}

/// A backend for swift-metrics that keeps its figures in memory, and prints them in the format of Prometheus.
package final class MetricsText: MetricsFactory, Sendable {
    /// A figure with its labels, such as `hb_requests{http_route="/{code}"}`.
    fileprivate struct Name: Hashable {
        let name: String
        let labels: String
    }

    private let series = Mutex<[Name: Series]>([:])

    package init() {}

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        find(.counter, label + "_total", dimensions)
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        find(.gauge, label, dimensions)
    }

    package func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler { find(.summary, label, dimensions) }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        find(.summary, label + "_seconds", dimensions)
    }

    // Measuring again finds the same.
    package func destroyCounter(_: any CounterHandler) {}
    package func destroyMeter(_: any MeterHandler) {}
    package func destroyRecorder(_: any RecorderHandler) {}
    package func destroyTimer(_: any TimerHandler) {}

    private func find(_ kind: Series.Kind, _ label: String, _ dimensions: [(String, String)]) -> Series {
        let name = Name(
            name: Self.word(label),
            labels: dimensions.map { "\(Self.word($0))=\"\(Self.quoted($1))\"" }.joined(separator: ","))
        return series.withLock { series in
            if let known = series[name] { return known }
            let new = Series(kind)
            series[name] = new
            return new
        }
    }

    private static func word(_ text: String) -> String {
        String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    private static func quoted(_ text: String) -> String {
        text.reduce(into: "") { $0 += $1 == "\\" ? #"\\"# : $1 == "\"" ? #"\""# : $1.isNewline ? #"\n"# : String($1) }
    }
}

extension MetricsText: CustomStringConvertible {
    /// All figures, in the order of their names.
    package var description: String {
        let series = series.withLock { $0 }.sorted { ($0.key.name, $0.key.labels) < ($1.key.name, $1.key.labels) }
        var (lines, last) = ([String](), "")
        for (name, series) in series {
            if name.name != last { lines.append("# TYPE \(name.name) \(series.kind)") }
            last = name.name
            let labels = name.labels.isEmpty ? "" : "{\(name.labels)}"
            let (sum, count) = series.figures
            if series.kind == .summary {
                lines += ["\(name.name)_sum\(labels) \(sum)", "\(name.name)_count\(labels) \(count)"]
            } else {
                lines.append("\(name.name)\(labels) \(sum)")
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }
}

/// The figures of one name.
private final class Series: CounterHandler, MeterHandler, RecorderHandler, TimerHandler, Sendable {
    enum Kind { case counter, gauge, summary }

    let kind: Kind
    private let state = Mutex((sum: 0.0, count: 0))

    init(_ kind: Kind) { self.kind = kind }

    var figures: (sum: Double, count: Int) { state.withLock { $0 } }

    func increment(by amount: Int64) { record(Double(amount)) }
    func increment(by amount: Double) { record(amount) }
    func decrement(by amount: Double) { record(-amount) }
    func reset() { set(0.0) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { state.withLock { $0.sum = value } }
    func record(_ value: Int64) { record(Double(value)) }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func record(_ value: Double) {
        state.withLock {
            $0.sum += value
            $0.count += 1
        }
    }
}
