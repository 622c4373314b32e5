/// Values of command-line arguments: `--api-base-url v`, `--api.base_url=v`; a bare flag is `true`, and `--` ends them.
///
/// Dots, dashes and underscores of a name are the same here. An argument takes the next one as its value unless that
/// begins with `--`; write `--verbose=true` where something else follows a flag. An argument given several times is an
/// array. Whatever is no value of a name is left alone. The texts are parsed to the type that is asked for: `true` and
/// `false`, numbers, `a,b` for arrays, `30s` for a `Duration`.
public struct ArgumentsSource: PropertySource {
    private let arguments: [String]

    /// - Parameter arguments: those of this process unless said; the name of the program may stand first.
    public init(_ arguments: [String] = CommandLine.arguments) {
        self.arguments = arguments
    }

    /// `arguments`.
    public var name: String { "arguments" }

    /// Throws if an argument begins with `--=`.
    public func load() throws(PropertyError) -> PropertySnapshot {
        let values = try ArgumentList(arguments)
        return PropertySnapshot(source: name, unknown: { values.unknownNames(known: $0) }) { values.value(named: $0) }
    }
}

/// The arguments by name.
private struct ArgumentList: Sendable {
    private struct Argument {
        let spelling: String
        var texts: [String] = []
        /// Whether it has no value of its own, so that `true` is not what somebody wrote.
        var isBare = false

        var source: String { "argument \(spelling)" + (isBare ? " without a value" : "") }
    }

    private var arguments: [String: Argument] = [:]

    init(_ list: [String]) throws(PropertyError) {
        var rest = list[...]
        while let argument = rest.popFirst(), argument != "--" {
            guard argument.hasPrefix("--") else { continue }
            let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard !parts[0].isEmpty else {
                throw PropertyError(ErrorText.argumentWithoutName(), source: "arguments")
            }
            var text = parts.count == 2 ? String(parts[1]) : nil
            if text == nil, let next = rest.first, !next.hasPrefix("--") { text = rest.popFirst() }
            add(text, to: String(parts[0]))
        }
    }

    private mutating func add(_ text: String?, to name: String) {
        var argument = arguments[Self.normal(name)] ?? Argument(spelling: "--\(name)")
        argument.texts.append(text ?? "true")
        argument.isBare = text == nil && argument.texts.count == 1
        arguments[Self.normal(name)] = argument
    }

    func value(named name: String) -> LocatedValue? {
        guard let argument = arguments[Self.normal(name)] else { return nil }
        let store =
            argument.texts.count == 1
            ? NodeStore(text: argument.texts[0], name: name) : NodeStore(words: argument.texts, name: name)
        return PropertyTree(store: store, source: argument.source).root
    }

    func unknownNames(known: [String]) -> [PropertyError] {
        let normal = Set(known.map(Self.normal))
        let unknown = arguments.filter { !normal.contains($0.key) }.sorted { $0.key < $1.key }
        return unknown.map { name, argument in
            let suggestion = NearestName.suggestion(for: name, among: normal.sorted()).map { "--\($0)" }
            return PropertyError(
                ErrorText.unknownName(suggestion: suggestion), source: "argument \(argument.spelling)")
        }
    }

    private static func normal(_ name: String) -> String {
        String(name.map { $0 == "." || $0 == "_" ? "-" : $0 })
    }
}
