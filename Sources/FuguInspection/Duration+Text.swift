extension Duration {
    /// The duration with three digits and a suitable unit.
    package var shortText: String {
        let (seconds, rest) = components
        let nanoseconds = Double(seconds) * 1e9 + Double(rest) / 1e9
        let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")]
        let (size, unit) = units.first { nanoseconds >= $0.0 * 0.9995 } ?? (1, "ns")
        let number = nanoseconds / size
        let digits: Double = number < 9.995 ? 100 : number < 99.95 ? 10 : 1
        let text = "\((number * digits).rounded() / digits)"
        return "\(text.hasSuffix(".0") ? String(text.dropLast(2)) : text) \(unit)"
    }
}
