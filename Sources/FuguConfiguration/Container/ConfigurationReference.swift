public import Fugu

extension Container {
    /// Returns a description of all declared keys: their names in files, variables, and arguments, their types, and
    /// their defaults.
    ///
    ///     print(container.reference().helpText)
    ///
    /// Defaults are evaluated; those of secrets are left out.
    ///
    /// - Parameter prefix: The prefix of variables. If you leave it out, it's the prefix of the ``EnvironmentSource``
    ///   that was applied last.
    /// - Returns: The description.
    public func reference(prefix: String? = nil) -> ConfigurationReference {
        let prefix = prefix ?? appliedPrefix
        return ConfigurationReference(declaredKeys.compactMap { $0.reference(prefix: prefix) })
    }

    private var appliedPrefix: String {
        let entries = allSources.lazy.compactMap { $0 as? SourceStack }.flatMap(\.entries)
        return entries.compactMap { ($0.source as? EnvironmentSource)?.prefix }.first ?? ""
    }
}

/// A description of the keys that a program takes from outside, to print for those who run it.
public struct ConfigurationReference: Sendable, Hashable {
    /// A key in a reference.
    public struct Entry: Sendable, Hashable {
        /// The dotted name, as in files.
        public var name: String
        /// The name of the environment variable.
        public var variable: String
        /// The argument with its leading dashes.
        public var argument: String
        /// The name of the type, or the values that it takes.
        public var type: String
        /// The default, written as in TOML, or `nil` for secrets and keys without a default.
        public var defaultValue: String?
        /// A Boolean value that indicates whether the value is a secret.
        public var isSecret: Bool
        /// The help text of the key.
        public var help: String?
    }

    /// The keys in the order of their declaration.
    public var entries: [Entry]

    init(_ entries: [Entry]) { self.entries = entries }

    /// The entries as `--help` prints them: the argument and its type, what the key says of itself, the default, the
    /// variable and the name.
    public var helpText: String {
        let heads = entries.map { "  \($0.argument) <\($0.type)>" }
        let width = min(34, (heads.map(\.count).max() ?? 0) + 2)
        let lines = zip(heads, entries).map { head, entry in
            let margin = String(repeating: " ", count: width)
            var texts = [entry.help, entry.remark + "\(entry.variable), \(entry.name)"].compactMap { $0 }
            let isShort = head.count + 2 <= width
            let first = isShort ? head + margin.dropFirst(head.count) + texts.removeFirst() : head
            return ([first] + texts.map { margin + $0 }).joined(separator: "\n")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// A TOML file with all names, in which every value is commented out.
    public var toml: String {
        var text = ""
        for (table, entries) in tables {
            if !text.isEmpty { text += "\n" }
            if !table.isEmpty { text += "[\(table.map(Quoted.name).joined(separator: "."))]\n" }
            for entry in entries {
                let key = Quoted.name(String(entry.name.split(separator: ".").last ?? ""))
                if let help = entry.help { text += "# \(help)\n" }
                text += "# \(entry.type)\(entry.isSecret ? ", secret" : ""); \(entry.variable), \(entry.argument)\n"
                text += "#\(key) = \(entry.defaultValue ?? "…")\n"
            }
        }
        return text
    }

    /// The entries as a Markdown table.
    public var markdown: String {
        var lines = ["| Name | Variable | Argument | Type | Default | |", "| --- | --- | --- | --- | --- | --- |"]
        for entry in entries {
            let fallback = entry.isSecret ? "*secret*" : entry.defaultValue.map { "`\($0)`" } ?? ""
            let cells = [
                "`\(entry.name)`", "`\(entry.variable)`", "`\(entry.argument)`", entry.type, fallback, entry.help ?? "",
            ]
            lines.append("| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// The entries by the table that they lie in, those of the top first, else in order.
    private var tables: [(table: [String], entries: [Entry])] {
        var tables: [(table: [String], entries: [Entry])] = []
        for entry in entries {
            let table = entry.name.split(separator: ".").dropLast().map(String.init)
            if let index = tables.firstIndex(where: { $0.table == table }) {
                tables[index].entries.append(entry)
            } else {
                tables.append((table, [entry]))
            }
        }
        return tables.filter(\.table.isEmpty) + tables.filter { !$0.table.isEmpty }
    }
}

extension ConfigurationReference.Entry {
    fileprivate var remark: String { isSecret ? "secret; " : defaultValue.map { "default \($0); " } ?? "" }
}

extension DeclaredKey {
    /// Nil for a key without a name, which nobody outside can address.
    fileprivate func reference(prefix: String) -> ConfigurationReference.Entry? {
        guard let name else { return nil }
        let isSecret = isSecret()
        return ConfigurationReference.Entry(
            name: name, variable: Spelling.variable(name, prefix: prefix), argument: "--" + Spelling.argument(name),
            type: type, defaultValue: isSecret ? nil : defaultValue()?.description, isSecret: isSecret, help: help)
    }
}
