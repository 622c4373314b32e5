public import Fugu

extension Container {
    /// Returns a description of all declared keys: their names in files, variables, and arguments, their types, and
    /// their defaults.
    ///
    ///     print(container.reference().helpText)
    ///
    /// Defaults are evaluated; those of secrets are left out. A key whose value is a table is listed with its members, which
    /// are found by decoding its default; where it has none, by decoding an instance from zeros and empty strings.
    ///
    /// - Parameter prefix: The prefix of variables. If you leave it out, variables are spelled as the source of variables
    ///   that was applied last spells them.
    /// - Returns: The description.
    /// - Complexity: O(*k* log *k*) for *k* keys and members.
    public func reference(prefix: String? = nil) -> ConfigurationReference {
        let snapshots =
            prefix == nil ? allSources.flatMap(\.entries).map(\.snapshot) : []
        return ConfigurationReference(
            declaredKeys.distinctNames.compactMap { key in
                key.reference { name in
                    snapshots.lazy.compactMap { $0.variable(for: name) }.first
                        ?? Spelling.variable(name, prefix: Spelling.prefix(prefix ?? ""))
                }
            })
    }
}

/// A description of the keys that a program takes from outside, to print for its users.
public struct ConfigurationReference: Sendable, Hashable {
    /// A key in a reference, such as for options of a library that parses arguments.
    public struct Entry: Sendable, Hashable {
        /// The dotted name, as in files.
        public package(set) var name: String
        /// The name of the environment variable.
        package var variable: String
        /// The argument with its leading dashes.
        public package(set) var argument: String
        /// The name of the type, or the values that it takes, with `|` between them.
        public package(set) var type: String
        /// The default, written as in TOML, or `nil` for secrets and keys without a default.
        public package(set) var defaultValue: String?
        /// A Boolean value that indicates whether the value is a secret.
        public package(set) var isSecret: Bool
        /// A Boolean value that indicates whether the value must be there, because the key has no default.
        public package(set) var isRequired: Bool
        /// The help text of the key.
        public package(set) var help: String?
        /// The names that the key had before.
        package var formerNames: [String] = []
        /// The members if the value is a table or a list of tables, in the order in which its type asks for them;
        /// otherwise empty.
        package var members: [Member] = []
        /// A Boolean value that indicates whether the value is a table, or a list of lists or tables.
        ///
        /// Variables and arguments hold it as JSON.
        package var holdsTables: Bool
        /// Whether the members are those of each element of a list.
        var isList: Bool
        /// A Boolean value that indicates whether the argument has no value, but a negation, `--no-…`.
        public package(set) var isBoolean: Bool
        /// A Boolean value that indicates whether the argument can occur several times, each with an element of a list.
        public var isRepeatable: Bool { isList && !holdsTables }
    }

    /// A member of a value that is a table.
    package struct Member: Sendable, Hashable {
        /// The dotted name within the table.
        package var name: String
        /// The name of the type, or the values that it takes.
        package var type: String
        /// The default in the notation of TOML, or `nil` for a secret and if there's no default.
        package var defaultValue: String?
        /// The name of the environment variable, or `nil` unless the table is merged member by member.
        package var variable: String?
        /// The argument with its leading dashes, or `nil` unless the table is merged member by member.
        package var argument: String?
        /// Whether the argument has a negation, `--no-…`.
        var isBoolean: Bool

        /// The argument as people write it.
        fileprivate var shownArgument: String? { argument.map { ArgumentText.shown($0, isBoolean: isBoolean) } }
    }

    /// The keys in the order of their declaration.
    public package(set) var entries: [Entry]

    init(_ entries: [Entry]) { self.entries = entries }

    /// The entries as `--help` prints them: the argument and its type, the description, the default, the variable, and
    /// the name.
    ///
    /// A table is shown by its name, with its members below, since only files and JSON can hold it.
    ///
    /// - Complexity: O(*k* log *k*) for *k* keys and members.
    public var helpText: String {
        let heads = entries.map { "  \($0.holdsTables ? $0.name : $0.shownArgument) <\($0.type)>" }
        let width = min(34, (heads.map(\.count).max() ?? 0) + 2)
        let lines = zip(heads, entries).map { head, entry in
            let margin = String(repeating: " ", count: width)
            var texts = entry.remarks.flatMap { Self.wrapped($0, to: 80 - width) }
            let isShort = head.count + 2 <= width
            let first = isShort ? head + margin.dropFirst(head.count) + texts.removeFirst() : head
            return ([first] + texts.map { margin + $0 }).joined(separator: "\n")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// Returns the lines of a text; those after the first one are indented, if the text is.
    private static func wrapped(_ text: String, to width: Int) -> [String] {
        let indent = String(text.prefix { $0 == " " })
        var lines = [indent]
        for word in text.dropFirst(indent.count).split(separator: " ", omittingEmptySubsequences: false) {
            let isFirst = lines[lines.count - 1].allSatisfy { $0 == " " }
            if isFirst {
                lines[lines.count - 1] += word
            } else if lines[lines.count - 1].count + 1 + word.count <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append((indent.isEmpty ? "" : indent + "  ") + word)
            }
        }
        return lines
    }

    /// A TOML file with all names, in which every value is commented out.
    ///
    /// - Complexity: O(*k* log *k*) for *k* keys and members.
    public var toml: String {
        var text = ""
        for (table, entries) in tables {
            if !text.isEmpty { text += "\n" }
            if !table.isEmpty { text += "[\(table.map(Quoted.name).joined(separator: "."))]\n" }
            for entry in entries {
                for line in entry.helpLines { text += "# \(line)\n" }
                text += entry.toml
            }
        }
        return text
    }

    /// The entries as a Markdown table, with a row for each member of a table.
    ///
    /// - Complexity: O(*k* log *k*) for *k* keys and members.
    public var markdown: String {
        var lines = ["| Name | Variable | Argument | Type | Default | |", "| --- | --- | --- | --- | --- | --- |"]
        for cells in entries.flatMap(\.rows) {
            lines.append("| " + cells.joined(separator: " | ") + " |")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// The entries grouped by the table that they belong to, with the top-level ones first, and otherwise in order.
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

/// The cells of a table in Markdown.
private enum Cell {
    /// Returns text as it reads: no tag, and no end of the cell.
    static func text(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("|", with: "\\|")
    }

    /// Returns code, between more backticks than it has.
    static func code(_ text: String) -> String {
        let longest = text.split { $0 != "`" }.map(\.count).max() ?? 0
        let fence = String(repeating: "`", count: longest + 1)
        let space = text.hasPrefix("`") || text.hasSuffix("`") ? " " : ""
        return fence + space + text.replacing("|", with: "\\|") + space + fence
    }
}

/// The text of arguments in a reference.
private enum ArgumentText {
    /// Returns an argument as people write it: `--[no-]verbose` for a Boolean value.
    static func shown(_ argument: String, isBoolean: Bool) -> String {
        isBoolean ? "--[no-]" + argument.dropFirst(2) : argument
    }
}

extension ConfigurationReference.Entry {
    private var isTable: Bool { !members.isEmpty && !isList }

    /// The argument as people write it.
    fileprivate var shownArgument: String { ArgumentText.shown(argument, isBoolean: isBoolean) }

    /// The lines of the help text, without control characters, and the former names.
    fileprivate var helpLines: [String] {
        let former = formerNames.isEmpty ? "" : "\nFormerly \(formerNames.joined(separator: ", "))."
        return ((help ?? "") + former).split(whereSeparator: \.isNewline).map { Quoted.line(String($0)) }
    }

    /// The text beside the entry in `--help`.
    fileprivate var remarks: [String] {
        let secret = (isRequired ? "required; " : "") + (isSecret ? "secret; " : "")
        let fallback = secret + (isSecret ? "" : defaultValue.map { "default \($0); " } ?? "")
        guard holdsTables else { return helpLines + ["\(fallback)\(variable), \(name)"] }
        let json = "in files, or as JSON in \(argument) or \(variable)"
        guard !members.isEmpty else { return helpLines + [fallback + json] }
        let list = members.map { member in
            let remarks = [member.defaultValue.map { "default \($0)" }, member.shownArgument, member.variable]
            return (["  \(member.name) <\(member.type)>"] + remarks.compactMap(\.self)).joined(separator: ", ")
        }
        let places = members[0].argument == nil ? ", \(json):" : " with members of any source:"
        return helpLines + [(isList ? "\(fallback)a list of tables" : "\(secret)a table") + places] + list
    }

    /// The lines of a sample file.
    ///
    /// Members of a table have dotted names, so that each line is valid on its own.
    fileprivate var toml: String {
        let key = Quoted.name(String(name.split(separator: ".").last ?? ""))
        let mark = (isRequired ? ", required" : "") + (isSecret ? ", secret" : "")
        if isTable {
            let lines = members.map { member in
                let path = member.name.split(separator: ".").map { Quoted.name(String($0)) }.joined(separator: ".")
                return "#\(key).\(path) = \(member.defaultValue ?? "…")  # \(member.type)\n"
            }
            return "# \(type)\(mark)\n" + lines.joined()
        }
        let places = holdsTables ? "" : "; \(variable), \(shownArgument)"
        let elements = members.map { "\($0.name) <\($0.type)>" }.joined(separator: ", ")
        let each = members.isEmpty ? "" : "# Each element has \(elements).\n"
        return "# \(type)\(mark)\(places)\n\(each)#\(key) = \(defaultValue ?? "…")\n"
    }

    /// The cells of the rows in Markdown.
    fileprivate var rows: [[String]] {
        let about = Cell.text(helpLines.joined(separator: " "))
        // A member can be optional in a table that is required.
        let fallback = { (text: String?) in isSecret ? "*secret*" : text.map(Cell.code) ?? "" }
        let own = [isRequired ? "*required*" : "", fallback(isTable ? nil : defaultValue)].filter { !$0.isEmpty }
            .joined(separator: ", ")
        return [[Cell.code(name), Cell.code(variable), Cell.code(shownArgument), Cell.text(type), own, about]]
            + members.map {
                [
                    Cell.code("\(name)\(isList ? "[]" : "").\($0.name)"), $0.variable.map(Cell.code) ?? "",
                    $0.shownArgument.map(Cell.code) ?? "", Cell.text($0.type), fallback($0.defaultValue), "",
                ]
            }
    }
}

extension DeclaredKey {
    /// Returns the entry, or `nil` for a key without a name, which can't be set from outside.
    fileprivate func reference(variable: (String) -> String) -> ConfigurationReference.Entry? {
        guard let name else { return nil }
        let isSecret = isSecret()
        let isHidden = isSecret || hasSecretDefault()
        let value = isHidden ? nil : defaultValue()
        var sample: LocatedValue?
        if case .table(let table)? = value {
            sample = NodeStore(table: table).map { PropertyTree(store: $0, source: "").root }
        }
        let shape = shape(sample, true)
        let members = shape.members.map { member in
            let value = shape.isList ? nil : member.name.split(separator: ".").reduce(sample) { $0?.member(String($1)) }
            let fullName = memberNames.first { $0 == name + "." + member.name }
            return ConfigurationReference.Member(
                name: member.name, type: TypeText.words(of: member.type),
                defaultValue: value.map { TOMLText.text($0.propertyValue) }, variable: fullName.map(variable),
                argument: fullName.map { "--" + Spelling.argument($0) },
                isBoolean: TypeText.unwrapped(member.type) == Bool.self)
        }
        return ConfigurationReference.Entry(
            name: name, variable: variable(name), argument: "--" + Spelling.argument(name),
            type: shape.holdsTables ? (shape.isList ? "list" : "table") : words,
            defaultValue: isHidden ? nil : defaultText(), isSecret: isSecret, isRequired: isRequired,
            help: help, formerNames: formerNames, members: members,
            holdsTables: shape.holdsTables, isList: shape.isList, isBoolean: valueType == Bool.self)
    }
}

extension [DeclaredKey] {
    fileprivate var distinctNames: [DeclaredKey] {
        var names: Set<String> = []
        return filter { key in key.name.map { names.insert($0).inserted } ?? false }
    }
}
