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

    private func holds(_ variable: String) -> Bool {
        switch content {
        case .file(let tree): tree.root.member(variable) != nil
        case .process(let variables): variables[variable] != nil
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

    private func spelling(of name: String) -> String {
        let variable = Spelling.variable(name, prefix: prefix)
        guard !holds(variable) else { return variable }
        let plain = Spelling.plainVariable(name, prefix: prefix)
        return holds(plain) ? plain : variable
    }

    /// Variables without the prefix are mostly for other programs.
    ///
    /// Of those, only the ones are reported that a type would have read if variables could form tables, and lines of a
    /// file whose names are almost known.
    func unknownNames(_ known: KnownNames) -> [PropertyError] {
        let spellings = Set(known.names.map(spelling))
        let members = Set(known.members.map(spelling)).filter { holds($0) && !spellings.contains($0) }
        var errors = members.sorted().compactMap { inside(known, $0) }
        let sorted = spellings.sorted()
        var nearest = NearestName()
        for variable in names.sorted() where !members.contains(variable) && !spellings.contains(variable) {
            let isMeant = !prefix.isEmpty && variable.hasPrefix(prefix + "_")
            guard isMeant || isFile else { continue }
            let suggestion = suggestion(for: variable, in: sorted, &nearest)
            guard isMeant || suggestion != nil else { continue }
            let error = error(ErrorText.unknownName(suggestion: suggestion), variable)
            errors.append(suggestion == nil ? inside(known, variable) ?? error : error)
        }
        return errors
    }

    private func suggestion(for variable: String, in known: [String], _ nearest: inout NearestName) -> String? {
        // A line such as `exportPORT=1` lacks a blank.
        let word = "export"
        if isFile, variable.hasPrefix(word), known.contains(String(variable.dropFirst(word.count))) {
            return String(variable.dropFirst(word.count))
        }
        return nearest.suggestion(for: variable, in: known)
    }

    private var isFile: Bool {
        if case .file = content { true } else { false }
    }

    /// Returns the error for a variable that would be a member of a known table.
    private func inside(_ known: KnownNames, _ variable: String) -> PropertyError? {
        let table = known.names.filter { variable.hasPrefix(spelling(of: $0) + "_") }.max { $0.count < $1.count }
        return table.map { error(ErrorText.insideTable($0), variable) }
    }

    private func error(_ reason: String, _ variable: String) -> PropertyError {
        let origin = origin(of: variable)
        let isFile = origin.line != nil
        return PropertyError(
            reason, source: origin.source, line: origin.line, column: origin.column, name: isFile ? variable : nil)
    }

    func variable(for name: String) -> String? { Spelling.variable(name, prefix: prefix) }

    func place(of name: String) -> String? {
        let variable = Spelling.variable(name, prefix: prefix)
        guard case .file(let tree) = content else { return variable }
        return "\(variable) in \(Quoted.line(tree.source))"
    }
}
