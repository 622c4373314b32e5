/// Texts under uppercase names, as in the environment and `.env` files.
struct VariableList: SnapshotContent {
    private enum Content {
        case process([String: String])
        case file(PropertyTree)
    }

    let prefix: String
    private let content: Content

    init(prefix: String, environment: [String: String]) {
        self.prefix = Spelling.prefix(prefix)
        content = .process(environment)
    }

    /// `tree`: A table that contains the variables.
    init(prefix: String, tree: PropertyTree) {
        self.prefix = Spelling.prefix(prefix)
        content = .file(tree)
    }

    var valueCount: Int? { names.count }

    func value(named name: String) -> LocatedValue? {
        let variable = spelling(of: name)
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
        var spelled = SpelledNames(known, separator: "_", spelling)
        return names.sorted().filter { !spelled.cover($0) }.compactMap { variable in
            let isMeant =
                !prefix.isEmpty && variable.hasPrefix(prefix + "_")
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
        return isFile && variable.hasPrefix(word) && spelled.cover(rest) ? rest : spelled.suggestion(for: variable)
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
