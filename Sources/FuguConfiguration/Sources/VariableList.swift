/// Texts under uppercase names, as in the environment and `.env` files.
///
/// Where a name in uppercase is absent, the variable that is spelled like the key's name has the value.
struct VariableList: SnapshotContent {
    private enum Content {
        case process([String: String])
        case file(PropertyTree)
    }

    let prefix: String
    /// The prefix as it was given, with the `_` at its end.
    private let exactPrefix: String
    private let content: Content

    init(prefix: String, environment: [String: String]) { self.init(prefix, .process(environment)) }

    /// `tree`: A table that contains the variables.
    init(prefix: String, tree: PropertyTree) { self.init(prefix, .file(tree)) }

    private init(_ prefix: String, _ content: Content) {
        self.prefix = Spelling.prefix(prefix)
        exactPrefix = prefix.isEmpty || prefix.hasSuffix("_") ? prefix : prefix + "_"
        self.content = content
    }

    var valueCount: Int? { names.count }

    func value(named name: String) -> LocatedValue? {
        value(of: spelling(of: name), named: name) ?? value(of: exactPrefix + name, named: name)
    }

    private func value(of variable: String, named name: String) -> LocatedValue? {
        switch content {
        case .file(let tree): return tree.root.member(variable)
        case .process(let variables):
            guard let text = variables[variable] else { return nil }
            return PropertyTree(store: NodeStore(text: text, name: name), source: origin(of: variable).source).root
        }
    }

    private var names: [String] {
        switch content {
        case .file(let tree): tree.root.memberNames
        case .process(let variables): Array(variables.keys)
        }
    }

    private func origin(of variable: String) -> PropertyOrigin {
        switch content {
        case .file(let tree): tree.root.member(variable)?.keyOrigin ?? PropertyOrigin(source: tree.source)
        case .process: PropertyOrigin(source: "environment variable \(variable)")
        }
    }

    private func spelling(of name: String) -> String { Spelling.variable(name, prefix: prefix) }

    /// Variables without the prefix are mostly for other programs.
    ///
    /// Of those, only the ones are reported that a type would have read if variables could form tables, and lines of a
    /// file whose names are almost known.
    func unknownNames(_ known: KnownNames) -> [PropertyError] {
        let members = Set(known.members.map(spelling))
        let exact = Set(known.names.map { exactPrefix + $0 })
        var spelled = SpelledNames(known, separator: "_", spelling)
        return names.sorted().filter { !spelled.cover($0) && !exact.contains($0) }.compactMap { variable in
            let rest = [prefix + "_", exactPrefix].first(where: variable.hasPrefix).map { variable.dropFirst($0.count) }
            guard !known.ignores(String(rest ?? variable[...])) else { return nil }
            let isMeant =
                !prefix.isEmpty && rest != nil
                || members.contains(variable) && spelled.table(around: variable) != nil
            guard isMeant || isFile else { return nil }
            let suggestion = suggestion(for: variable, &spelled)
            guard isMeant || suggestion != nil else { return nil }
            let origin = origin(of: variable)
            return PropertyError(
                spelled.problem(of: variable, suggestion: suggestion), source: origin.source, line: origin.line,
                column: origin.column, name: isFile ? variable : nil)
        }
    }

    private func suggestion(for variable: String, _ spelled: inout SpelledNames) -> String? {
        // A line such as `exportPORT=1` lacks a blank.
        let word = "export"
        let rest = String(variable.dropFirst(word.count))
        return isFile && variable.hasPrefix(word) && spelled.cover(rest)
            ? rest : spelled.suggestion(for: Spelling.variable(variable, prefix: ""))
    }

    private var isFile: Bool {
        if case .file = content { true } else { false }
    }

    func variable(for name: String) -> String? { spelling(of: name) }

    func place(of name: String) -> String? {
        let variable = spelling(of: name)
        guard case .file(let tree) = content else { return variable }
        return "\(variable) in \(Quoted.line(tree.source))"
    }
}
