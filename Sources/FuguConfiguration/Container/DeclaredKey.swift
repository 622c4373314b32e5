import Fugu

/// A key of any type, as configuration needs it.
struct DeclaredKey: Sendable {
    /// The name and type, which keys that are the same share.
    struct Identity: Hashable {
        let label: String
        let type: ObjectIdentifier
    }

    /// The type of the value, without `Optional`.
    let valueType: Any.Type

    /// The name of the key, or if it has none, its name in messages.
    let label: String
    /// The dotted path that sources look up, if the key has a name.
    let name: String?
    /// The place in the program that declares it.
    let place: String
    let identity: Identity
    let type: String
    /// Whether there's no default.
    let isRequired: Bool
    /// What the key's form asks for, which tells forms apart.
    let form: String
    let isSecret: @Sendable () -> Bool
    let mistake: @Sendable (Container) -> PropertyError?
    let explanation: @Sendable (Container) -> Explanation
    /// Returns the default as a configuration value, without what can't be one.
    let defaultValue: @Sendable () -> PropertyValue?
    /// Returns the default in the notation of TOML, or `nil` if it can't be read back from there.
    let defaultText: @Sendable () -> String?
    /// The key's description of its value.
    let help: String?
    /// The members that have variables and arguments of their own, because tables are merged, with their full names.
    let mergedMembers: [TypeShape.Member]
    /// The names of these members.
    var memberNames: [String] { mergedMembers.map(\.name) }
    /// Whether only files can hold the value, and its members have no variables and arguments of their own.
    var isWholeTable: Bool { mergedMembers.isEmpty && shape(nil, false).isInFilesOnly }
    /// Returns the members that the type decodes, given a table with a sample of them, and whether to invent others.
    let shape: @Sendable (_ sample: LocatedValue?, _ inventsMissing: Bool) -> TypeShape
    /// Returns the members that the type decodes, and errors for other members in the sources.
    let inspection: @Sendable (Container) -> MemberInspection

    init<Value: Decodable>(_ key: PropertyKey<Value>) {
        (label, name) = (key.shownName, key.name)
        type = TypeText.name(of: Value.self, form: key.form)
        isRequired = key.isRequired
        place = key.place
        form = TypeText.form(key.form)
        identity = Identity(label: label, type: ObjectIdentifier(Value.self))
        valueType = TypeText.unwrapped(Value.self)
        isSecret = { key.isSecret }
        mistake = { container in
            let answer = container.origins(of: key).answer()
            if key.isRequired, case .nothing = answer {
                return container.missing(key.name, label: key.shownName)
            }
            return answer.mistake
        }
        explanation = { $0.origin(of: key) }
        defaultValue = { key.isRequired ? nil : Reflection.value(of: Container()[key]) }
        defaultText = { key.isRequired ? nil : TOMLText.text(of: Container()[key]) }
        help = key.help
        mergedMembers = key.name.map { MergedNames.members(of: $0, as: Value.self, key.form) } ?? []
        shape = { TypeShape(of: Value.self, sample: $0, inventsMissing: $1) }
        inspection = { container in
            key.name.map { MemberInspection($0, as: Value.self, key.form, in: container) } ?? MemberInspection()
        }
    }

    init(any key: any ConfigurationKey) {
        guard let key = key as? any DeclarableKey else { fatalError(ErrorText.foreignKey("\(Swift.type(of: key))")) }
        self = key.declared
    }

    /// Returns the keys that `ContainerKeys` declares.
    static func list<each Value: Decodable>(
        _ keys: repeat KeyPath<ContainerKeys, PropertyKey<each Value>>
    ) -> [DeclaredKey] {
        let declared = ContainerKeys()
        var list: [DeclaredKey] = []
        for key in repeat each keys { list.append(DeclaredKey(declared[keyPath: key])) }
        return list
    }
}

private protocol DeclarableKey {
    var declared: DeclaredKey { get }
}

extension PropertyKey: DeclarableKey where Value: Decodable {
    fileprivate var declared: DeclaredKey { DeclaredKey(self) }
}

/// The result of decoding a value while recording the members that its type decodes.
struct MemberInspection {
    /// An error for each member that the type doesn't have.
    var errors: [PropertyError] = []
    /// The dotted names of the members that the type has.
    var members: [String] = []

    init() {}

    /// Inspects the value of every source, including those that another source hides.
    init<Value: Decodable>(
        _ name: String, as type: Value.Type, _ form: PropertyForm<Value>?, in container: Container
    ) {
        let merged = form?.mergesTables == true ? TypeShape(of: type, sample: nil) : nil
        var tables: [Table] = []
        for level in container.allSources.compactMap({ $0 as? SourceStack }).flatMap(\.levels).enumerated() {
            let values = Array(level.element.values(named: name))
            if let merged, !merged.isList, !merged.members.isEmpty {
                inspect(values.filter { $0.node.kind == .table }, merged)
                if let table = level.element.mergedTable(named: name) {
                    tables.append(Table(value: table.located(name), level: level.offset))
                }
            } else {
                for value in values { inspect(value, as: type) }
                tables += values.map { Table(value: $0, level: level.offset) }
            }
        }
        if tables.count > 1, let first = tables.first?.value, first.node.kind == .table {
            let shape = merged ?? TypeShape(of: type, sample: first, inventsMissing: false)
            if !shape.isList, !shape.members.isEmpty { inspectHidden(tables, name, shape) }
        }
        let empty = LocatedValue(tree: PropertyTree(store: NodeStore(emptyTable: name), source: ""), id: 0)
        let record = Self.record(empty, as: type)
        members += record.usage.names(in: record.value)
    }

    /// Inspects tables that are merged, none of which needs to have all members.
    private mutating func inspect(_ tables: [LocatedValue], _ shape: TypeShape) {
        let types = Dictionary(shape.members.map { ($0.name, $0.type) }) { first, _ in first }
        let known = KnownNames(shape.members.map(\.name))
        var nearest = NearestName()
        var open = tables.map { ($0, known.root, "") }
        while let (table, branch, prefix) = open.popLast() {
            table.forEachChild { child in
                let segment = child.tree.store.string(child.node.key)
                switch branch.branches[segment] {
                case nil: errors.append(Self.error(child, &nearest, branch.segments))
                case let next? where !next.isName:
                    if child.node.kind == .table { open.append((child, next, prefix + segment + ".")) }
                default: if let type = types[prefix + segment] as? any Decodable.Type { inspect(child, as: type) }
                }
            }
        }
    }

    /// A table of a key, and the number of its container on the way to the root.
    private struct Table {
        let value: LocatedValue
        let level: Int
    }

    /// Finds members that get lost, because the table of a later source or of a child has others.
    private mutating func inspectHidden(_ tables: [Table], _ name: String, _ shape: TypeShape) {
        let known = KnownNames(shape.members.map(\.name)).root
        let first = tables[0]
        for table in tables.dropFirst() where table.value.node.kind == .table {
            var open = [(winner: first.value, hidden: table.value, name: name, branch: known)]
            while let (winner, hidden, name, branch) = open.popLast() {
                for member in hidden.memberNames {
                    guard let lost = hidden.member(member) else { continue }
                    let (name, next) = (name + "." + member, branch.branches[member])
                    guard let kept = winner.member(member) else {
                        let place = winner.origin.description
                        let origin = lost.keyOrigin
                        errors.append(
                            PropertyError(
                                ErrorText.lostMember(hiddenAt: place, canMerge: first.level == table.level),
                                source: origin.source, line: origin.line, column: origin.column,
                                name: SecretNames.printable(name)))
                        continue
                    }
                    // The names of a dictionary aren't members of a type, so none of them gets lost.
                    if let next, !next.isName, kept.node.kind == .table, lost.node.kind == .table {
                        open.append((kept, lost, name, next))
                    }
                }
            }
        }
    }

    private mutating func inspect(_ value: LocatedValue, as type: any Decodable.Type) {
        guard value.node.kind == .table || value.node.kind == .array else { return }
        let type = (type as? any OptionalType.Type)?.wrapped as? any Decodable.Type ?? type
        // One by one, so that a wrong element hides no mistake in the others.
        if value.node.kind == .array, let list = type as? any ListType.Type {
            value.forEachChild { inspect($0, as: list.element) }
        } else {
            inspectTable(value, as: type)
        }
    }

    private mutating func inspectTable<Value: Decodable>(_ value: LocatedValue, as type: Value.Type) {
        let record = Self.record(value, as: type)
        members += record.usage.names(in: record.value)
        // After an error, the remaining members weren't decoded.
        guard !record.isBroken else { return }
        var nearest = NearestName()
        errors += record.usage.unread(in: record.value).map { Self.error($0.member, &nearest, $0.known) }
    }

    private static func record<Value: Decodable>(
        _ value: LocatedValue, as type: Value.Type
    ) -> (usage: MemberUsage, value: LocatedValue, isBroken: Bool) {
        let recording = LocatedValue(tree: PropertyTree(recording: value.tree), id: value.id)
        let isBroken = (try? recording.decode(type)) == nil
        return (recording.tree.usage!, recording, isBroken)
    }

    private static func error(_ member: LocatedValue, _ nearest: inout NearestName, _ known: [String]) -> PropertyError
    {
        let (origin, name) = (member.keyOrigin, member.name)
        var error = PropertyError("", source: origin.source, line: origin.line, column: origin.column)
        error.name = SecretNames.printable(name)
        guard !SecretNames.cover(name) else {
            error.reason = ErrorText.unknownMember
            return error
        }
        let segment = member.tree.store.string(member.node.key)
        let prefix = name.dropLast(segment.count)
        let meant = nearest.suggestion(for: segment, in: known).map { String(prefix) + $0 }
        error.reason = ErrorText.unknownName(suggestion: meant, isMember: true)
        return error
    }
}

/// Type names for people who write values: without generic wrappers, and with the values of an enumeration.
enum TypeText {
    /// Returns the type's name with what a form expects of a value.
    static func name<Value>(of type: Value.Type, form: PropertyForm<Value>?) -> String {
        name(of: type) + (form?.check.map { ", \($0.expected)" } ?? "")
    }

    /// Returns what a form asks for.
    static func form<Value>(_ form: PropertyForm<Value>?) -> String {
        guard let form else { return "any value" }
        let separator = form.text.separator ?? ","
        let parts = [
            form.check?.expected, separator == "," ? nil : "words between \(Quoted.string(String(separator)))",
            form.text.acceptsAnyBoolean ? "any Boolean spelling" : nil, form.mergesTables ? "merged tables" : nil,
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }

    static func unwrapped(_ type: Any.Type) -> Any.Type {
        (type as? any OptionalType.Type).map { unwrapped($0.wrapped) } ?? type
    }

    static func name(of type: Any.Type) -> String {
        if let optional = type as? any OptionalType.Type { return name(of: optional.wrapped) }
        if let choices = LocatedValue.rawValues(of: type) { return choices.joined(separator: "|") }
        if type == Bool.self { return "true|false" }
        return "\(type)"
    }
}
