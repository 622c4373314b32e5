public import Fugu

/// The declarations of a container, kept beside its sources so that copies take them along.
struct Declarations: Sendable {
    private(set) var keys: [DeclaredKey] = []
    var checks: [DeclaredCheck] = []
    private var known: Set<[String]> = []

    /// Adds the keys that aren't there yet, and returns whether there are any.
    ///
    /// A name can be declared at several places, which ought to agree.
    @discardableResult
    mutating func add(_ more: [DeclaredKey]) -> Bool {
        let new = more.filter { known.insert([$0.label, $0.type, $0.place]).inserted }
        keys += new
        return !new.isEmpty
    }
}

/// A condition on several keys, identified by the object.
final class DeclaredCheck: Sendable {
    /// Returns the error if the condition isn't met.
    let mistake: @Sendable (Container) -> PropertyError?

    init(_ mistake: @escaping @Sendable (Container) -> PropertyError?) { self.mistake = mistake }
}

extension Container {
    /// Declares keys before anything reads them.
    ///
    /// `validate` and `explain` then know them, and errors and explanations protect those that are secrets.
    ///
    /// Declare all keys of a program once, before you apply its sources:
    ///
    /// ```swift
    /// container.declare(\.port, \.password)
    /// ```
    ///
    /// Descendants know the keys that are declared here. Declaring a key again changes nothing.
    ///
    /// - Parameter keys: Key paths to the keys.
    /// - Complexity: O(*k*) for *k* keys that are declared here, now and before.
    public func declare<each Value: Decodable>(_ keys: repeat KeyPath<ContainerKeys, PropertyKey<each Value>>) {
        declare(DeclaredKey.list(repeat each keys))
    }

    /// Declares the keys in a list before anything reads them.
    ///
    /// - Parameter keys: The keys.
    /// - Complexity: O(*k*) for *k* keys that are declared here, now and before.
    public func declare(_ keys: [any ConfigurationKey]) { declare(keys.map { DeclaredKey(any: $0) }) }

    /// Declares a condition on the values of several keys.
    ///
    /// `validate` throws an error with the place of the key's value if the condition isn't met, and a reload that breaks it
    /// is refused:
    ///
    /// ```swift
    /// container.declareCheck(of: \.certificate, "needs tls.key") { $0.certificate == nil || $0.privateKey != nil }
    /// ```
    ///
    /// `validate` checks it where no single value is wrong or missing. For a reload, wrong values count as their defaults, and a
    /// condition that wasn't met before refuses nothing.
    ///
    /// - Parameters:
    ///   - key: The member of `ContainerKeys` that declares the key to which errors refer.
    ///   - reason: The error, as a sentence without the key.
    ///   - isMet: A closure that returns whether the condition is met. It must read only keys. It's called on any thread,
    ///     also with values that are about to be reloaded.
    public func declareCheck<Value>(
        of key: KeyPath<ContainerKeys, PropertyKey<Value>>, _ reason: String,
        _ isMet: @escaping @Sendable (Container) -> Bool
    ) {
        let key = ContainerKeys()[keyPath: key]
        let check = DeclaredCheck { isMet($0) ? nil : $0.error(reason, about: key) }
        change { declarations in
            declarations.checks.append(check)
            return true
        }
    }

    func declare(_ keys: [DeclaredKey]) { change { $0.add(keys) } }

    /// Changes what this container declares; the closure returns whether there's a change.
    private func change(_ body: (inout Declarations) -> Bool) {
        // No value changes, so nothing is refused.
        try? changeSources { $0.declaring(body) }
    }

    /// The keys that were declared here and in ancestors, the farthest first.
    ///
    /// It doesn't count as a read.
    var declaredKeys: [DeclaredKey] {
        var all = Declarations()
        for declarations in declarations { all.add(declarations.keys) }
        return all.keys
    }

    /// The conditions that were declared here and in ancestors, the farthest first.
    ///
    /// It doesn't count as a read.
    var declaredChecks: [DeclaredCheck] {
        // A copy of a container and its child has what the container declares twice.
        var known: Set<ObjectIdentifier> = []
        return declarations.flatMap(\.checks).filter { known.insert(ObjectIdentifier($0)).inserted }
    }

    private var declarations: [Declarations] {
        allSources.flatMap(\.levels).map(\.declarations).reversed()
    }
}

extension [DeclaredKey] {
    /// The keys without those that are the same as an earlier one.
    var distinct: [DeclaredKey] {
        var known: Set<DeclaredKey.Identity> = []
        return filter { known.insert($0.identity).inserted }
    }

    /// An error for each declaration that disagrees with an earlier one: another type, default, or form for the same name, one
    /// that's a secret only here or there, or another name for the same variable and argument.
    ///
    /// The members of merged tables are names, too. The former name of one key mustn't be the name of another, or switch it off.
    var disagreements: [PropertyError] { disagreementsOfNames + formerNamesInUse }

    private var formerNamesInUse: [PropertyError] {
        let names = Set(compactMap(\.name))
        let switches = filter { $0.valueType == Bool.self }.compactMap(\.name).map {
            ("no-" + Spelling.argument($0), $0)
        }
        let switchedOff = Dictionary(switches) { first, _ in first }
        return distinct.flatMap { key in
            key.formerNames.compactMap { old in
                if names.contains(old) {
                    return PropertyError(ErrorText.formerNameInUse(by: key.label, at: key.place), name: old)
                }
                let argument = Spelling.argument(old)
                return switchedOff[argument].map { PropertyError(ErrorText.sameSwitch($0, "--\(argument)"), name: old) }
            }
        }
    }

    private var disagreementsOfNames: [PropertyError] {
        var first: [String: DeclaredKey] = [:]
        var spelled: [String: (name: String, type: Any.Type, place: String)] = [:]
        return flatMap { key -> [PropertyError] in
            guard let name = key.name else { return [] }
            if let other = first[name] { return key.disagreements(with: other) }
            first[name] = key
            let names =
                [(name: name, type: key.valueType)] + key.mergedMembers.map { ($0.name, TypeText.unwrapped($0.type)) }
            return names.compactMap { name, type in
                let argument = Spelling.argument(name)
                // `--no-cache` switches `cache` off, and sets `noCache`.
                let on = argument.hasPrefix("no-") ? spelled[String(argument.dropFirst(3))] : nil
                if let on, on.type == Bool.self {
                    return PropertyError(ErrorText.sameSwitch(on.name, "--\(argument)"), name: name)
                }
                if type == Bool.self, let off = spelled["no-\(argument)"] {
                    return PropertyError(ErrorText.sameSwitch(name, "--no-\(argument)"), name: off.name)
                }
                guard let other = spelled[argument] else {
                    spelled[argument] = (name, type, key.place)
                    return nil
                }
                guard other.name == name else {
                    let variable = Spelling.variable(name, prefix: "")
                    return PropertyError(
                        ErrorText.sameSpelling(as: other.name, variable: variable, argument: "--\(argument)"),
                        name: name)
                }
                guard type != other.type else { return nil }
                let (before, now) = (TypeText.name(of: other.type), TypeText.name(of: type))
                return PropertyError(ErrorText.declaredTwice((before, other.place), (now, key.place)), name: name)
            }
        }
    }
}

extension DeclaredKey {
    fileprivate func disagreements(with other: DeclaredKey) -> [PropertyError] {
        guard place != other.place || identity != other.identity else { return [] }
        guard identity == other.identity else {
            return [PropertyError(ErrorText.declaredTwice((other.type, other.place), (type, place)), name: name)]
        }
        var errors: [PropertyError] = []
        let values = [other, self].map { $0.isRequired ? nil : $0.defaultValue() }
        let texts = zip([other, self], values).map { $0.isRequired ? "none" : $1?.description ?? "nil" }
        if texts[0] != texts[1] {
            // The values inside a table aren't quoted.
            let told = zip(texts, values).map { text, value in value.map { ValueText.text(of: $0) } ?? text }
            let isHidden = [self, other].contains { $0.isSecret() || $0.hasSecretDefault() }
            let shown = isHidden ? ["a secret", "another one"] : told
            errors.append(PropertyError(ErrorText.twoDefaults((shown[0], other.place), (shown[1], place)), name: name))
        }
        if isDeclaredSecret != other.isDeclaredSecret {
            let (secret, open) = isDeclaredSecret ? (self, other) : (other, self)
            errors.append(PropertyError(ErrorText.secretAndOpen(secret: secret.place, open: open.place), name: name))
        }
        if form != other.form {
            errors.append(PropertyError(ErrorText.twoForms((other.form, other.place), (form, place)), name: name))
        }
        return errors
    }
}

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
    /// What people write for a value.
    let words: String
    /// Whether there's no default.
    let isRequired: Bool
    /// The names that the key had before.
    let formerNames: [String]
    /// What the key's form asks for, which tells forms apart.
    let form: String
    let isSecret: @Sendable () -> Bool
    /// Whether this declaration says that the value is a secret.
    let isDeclaredSecret: Bool
    let mistake: @Sendable (Container) -> PropertyError?
    /// Returns an error if code or a rule has set a value that the form refuses.
    let refusal: @Sendable (Container) -> PropertyError?
    let explanation: @Sendable (Container) -> Explanation
    /// Returns the default as a configuration value, without what can't be one.
    let defaultValue: @Sendable () -> PropertyValue?
    /// Returns the default in the notation of TOML, or `nil` if it can't be read back from there.
    let defaultText: @Sendable () -> String?
    /// Returns whether the default is made from a secret.
    let hasSecretDefault: @Sendable () -> Bool
    /// The key's description of its value.
    let help: String?
    /// The members that have variables and arguments of their own, because tables are merged, with their full names.
    let mergedMembers: [TypeShape.Member]
    /// The names of these members.
    var memberNames: [String] { mergedMembers.map(\.name) }
    /// The names of this key and its members that aren't Boolean.
    var otherThanSwitches: [String] {
        (name.map { valueType == Bool.self ? [] : [$0] } ?? [])
            + mergedMembers.filter { TypeText.unwrapped($0.type) != Bool.self }.map(\.name)
    }
    /// The table, if only files and JSON can hold the value, and its members have no variables and arguments of their own.
    var wholeTable: String? { mergedMembers.isEmpty && shape(nil, false).holdsTables ? name : nil }
    /// Returns the members that the type decodes, given a table with a sample of them, and whether to invent others.
    let shape: @Sendable (_ sample: LocatedValue?, _ inventsMissing: Bool) -> TypeShape
    /// Returns the members that the type decodes, and adds errors for other members in the sources.
    let inspect: @Sendable (Container, inout Mistakes) -> [String]

    init<Value: Decodable>(_ key: PropertyKey<Value>) {
        (label, name) = (key.shownName, key.name)
        type = TypeText.name(of: Value.self, form: key.form)
        words = TypeText.words(of: Value.self, form: key.form)
        isRequired = key.isRequired
        place = key.place
        form = TypeText.form(key.form)
        formerNames = key.form?.formerNames ?? []
        identity = Identity(label: label, type: ObjectIdentifier(Value.self))
        valueType = TypeText.unwrapped(Value.self)
        isSecret = { key.isSecret }
        isDeclaredSecret = key.isDeclaredSecret
        mistake = { container in
            let answer = container.origins(of: key).answer()
            if key.isRequired, case .success(nil) = answer, !container.givesTestValue(of: key) {
                return container.missing(key.name, label: key.shownName)
            }
            return answer.mistake
        }
        refusal = { $0.origins(of: key).refusal(by: key) }
        explanation = { $0.origin(of: key) }
        defaultValue = { key.isRequired ? nil : Reflection.value(of: Container()[key]) }
        defaultText = { key.isRequired ? nil : TOMLText.text(of: Container()[key]) }
        hasSecretDefault = {
            let container = Container()
            if !key.isRequired { _ = container[key] }
            return container.isMadeFromSecret(key._key)
        }
        help = key.help
        mergedMembers = key.name.map { MergedNames.members(of: $0, as: Value.self, key.form) } ?? []
        if let name = key.name { FormerNames.note(name, formerNames, isSecret: key.isSecret) }
        shape = { TypeShape(of: Value.self, sample: $0, inventsMissing: $1) }
        inspect = { container, mistakes in
            guard let name = key.name else { return [] }
            var inspection = MemberInspection(mistakes: mistakes)
            // Moved, not copied.
            mistakes = Mistakes()
            inspection.inspect(name, as: Value.self, key.form, in: container)
            mistakes = inspection.mistakes
            return inspection.members
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
    /// The errors, with one for each member that the type doesn't have.
    var mistakes: Mistakes
    /// The dotted names of the members that the type has.
    var members: [String] = []
    /// The name of the key, and the value that's inspected.
    private var asked = ""
    private var root: LocatedValue?

    init(mistakes: Mistakes) { self.mistakes = mistakes }

    /// Inspects the value of every source, including those that another source hides.
    mutating func inspect<Value: Decodable>(
        _ name: String, as type: Value.Type, _ form: PropertyForm<Value>?, in container: Container
    ) {
        asked = name
        let merged = form?.mergesTables == true ? TypeShape(of: type, sample: nil) : nil
        var tables: [LocatedValue] = []
        for level in container.allSources.flatMap(\.levels) {
            let values = Array(level.values(named: name))
            if let merged, !merged.isList, !merged.members.isEmpty {
                inspect(values.map(\.written).filter { $0.node.kind == .table }, merged)
                if let table = level.mergedTable(named: name) { tables.append(table.located(name)) }
            } else {
                for value in values {
                    root = value
                    inspect(value, as: type)
                }
                tables += values.map(\.written)
            }
        }
        if tables.count > 1, let first = tables.first, first.node.kind == .table {
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
        var open = tables.map { ($0, $0, known.root, "") }
        while let (root, table, branch, prefix) = open.popLast() {
            self.root = root
            table.forEachChild { child in
                let segment = child.tree.store.string(child.node.key)
                switch branch.branches[segment] {
                case nil: note(child, &nearest, branch.segments)
                case let next? where !next.isName:
                    if child.node.kind == .table { open.append((root, child, next, prefix + segment + ".")) }
                default: if let type = types[prefix + segment] as? any Decodable.Type { inspect(child, as: type) }
                }
            }
        }
    }

    /// Finds members that get lost, because the table of a later source or of a child has others.
    private mutating func inspectHidden(_ tables: [LocatedValue], _ name: String, _ shape: TypeShape) {
        let known = KnownNames(shape.members.map(\.name)).root
        for table in tables.dropFirst() where table.node.kind == .table {
            var open = [(winner: tables[0], hidden: table, name: name, branch: known)]
            while let (winner, hidden, name, branch) = open.popLast() {
                for member in hidden.memberNames {
                    guard let lost = hidden.member(member) else { continue }
                    let (name, next) = (name + "." + member, branch.branches[member])
                    guard let kept = winner.member(member) else {
                        let shown = lost.isSecret ? asked + ".…" : SecretNames.printable(name)
                        mistakes.add(lost.tree.source, shown) {
                            let place = winner.origin.description
                            let origin = lost.keyOrigin
                            return PropertyError(
                                ErrorText.lostMember(hiddenAt: place), source: origin.source, line: origin.line,
                                column: origin.column, name: shown)
                        }
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
        let type = (type as? any OptionalType.Type)?.wrapped as? any Decodable.Type ?? type
        let value = type is any ListType.Type ? (try? value.array()) ?? value : value.written
        guard value.node.kind == .table || value.node.kind == .array else { return }
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
        for (member, known) in record.usage.unread(in: record.value) { note(member, &nearest, known) }
    }

    private static func record<Value: Decodable>(
        _ value: LocatedValue, as type: Value.Type
    ) -> (usage: MemberUsage, value: LocatedValue, isBroken: Bool) {
        let recording = LocatedValue(tree: PropertyTree(recording: value.tree), id: value.id)
        let isBroken = (try? recording.decode(type)) == nil
        return (recording.tree.usage!, recording, isBroken)
    }

    private mutating func note(_ member: LocatedValue, _ nearest: inout NearestName, _ known: [String]) {
        let name = member.name
        let shown = root?.printable(name, asked: asked) ?? name
        mistakes.add(member.tree.source, shown) {
            let origin = member.keyOrigin
            var error = PropertyError("", source: origin.source, line: origin.line, column: origin.column, name: shown)
            guard shown == name else {
                error.reason = ErrorText.unknownMember
                return error
            }
            let segment = member.tree.store.string(member.node.key)
            let prefix = name.dropLast(segment.count)
            let meant = nearest.suggestion(for: segment, in: known).map { String(prefix) + $0 }
            error.reason = ErrorText.unknownName(suggestion: meant)
            return error
        }
    }
}

/// Type names for people who write values: without generic wrappers, and with the values of an enumeration.
enum TypeText {
    /// Returns the type's name with what a form expects of a value.
    static func name<Value>(of type: Value.Type, form: PropertyForm<Value>?) -> String {
        name(of: type) + (form?.check.map { ", \($0.expected)" } ?? "")
    }

    /// Returns what people write for a value of the type in the form.
    static func words<Value>(of type: Value.Type, form: PropertyForm<Value>?) -> String {
        words(of: type, separator: form?.text.separator ?? ",") + (form?.check.map { ", \($0.expected)" } ?? "")
    }

    /// Returns what people write for a value of a type: no names of Swift, which users of a program don't know.
    static func words(of type: Any.Type, separator: Character = ",") -> String {
        let type = unwrapped(type)
        if type == Bool.self { return "true|false" }
        if let choices = LocatedValue.rawValues(of: type) { return choices.joined(separator: "|") }
        if let words = foundationWords(of: type) { return words }
        switch type {
        case is any BinaryInteger.Type, is any BinaryFloatingPoint.Type: return "number"
        case is Duration.Type: return "duration"
        case let list as any ListType.Type:
            let element = words(of: list.element)
            return element == "table" || list.element is any ListType.Type ? "list" : "\(element)\(separator)..."
        case let type as any TextDecodable.Type where type.textForm != "\(type)": return type.textForm
        case let type as any RawRepresentable.Type: return rawWords(of: type)
        case let type as any Decodable.Type:
            return type is any TableType.Type || TypeShape.hasMembers(type) ? "table" : "text"
        default: return "text"
        }
    }

    private static func rawWords<Value: RawRepresentable>(of type: Value.Type) -> String {
        words(of: Value.RawValue.self)
    }

    /// Returns what a form asks for.
    static func form<Value>(_ form: PropertyForm<Value>?) -> String {
        guard let form else { return "any value" }
        let separator = form.text.separator ?? ","
        let parts = [
            form.check?.expected, separator == "," ? nil : "words between \(Quoted.string(String(separator)))",
            form.text.acceptsAnyBoolean ? "any Boolean spelling" : nil, form.mergesTables ? "merged tables" : nil,
            form.formerNames.isEmpty ? nil : "formerly \(form.formerNames.joined(separator: ", "))",
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
