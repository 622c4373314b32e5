import Fugu

/// A key as configuration sees it, whatever it is made of.
struct DeclaredKey: Sendable {
    /// What it is called: its name, or else what messages call it.
    let label: String
    /// The dotted path under which sources are asked, if there is one.
    let name: String?
    let type: String
    let isSecret: @Sendable () -> Bool
    let mistake: @Sendable (Container) -> PropertyError?
    let explanation: @Sendable (Container) -> Explanation
    /// What a read gives while nothing else does, in the form that configuration has for it; nil if it has none.
    let defaultValue: @Sendable () -> PropertyValue?
    /// What the key says of itself.
    let help: String?
    /// The members that its type asks for, given a table of them as a sample.
    let shape: @Sendable (LocatedValue?) -> TypeShape
    /// What the sources hold beside the members that its type asks for, and the names of these.
    let inspection: @Sendable (Container) -> MemberInspection

    init<Value: Decodable>(_ key: PropertyKey<Value>) {
        (label, name, type) = (key.name ?? key.label, key.name, TypeText.name(of: Value.self))
        isSecret = { key.isSecret }
        mistake = { key.mistake(in: $0) }
        explanation = { $0.origin(of: key) }
        defaultValue = { Reflection.value(of: Container()[key]) }
        help = key.help
        shape = { TypeShape(of: Value.self, sample: $0) }
        inspection = { container in
            key.name.map { MemberInspection($0, as: Value.self, in: container) } ?? MemberInspection()
        }
    }

    init<P: NamedProperty & SendableMetatype>(_ property: P.Type) {
        (label, name, type) = (P.name, P.name, TypeText.name(of: P.Value.self))
        // Asking for it makes the name known, and known as a secret.
        let naming = P._naming
        isSecret = { P.isSecret || naming?.isSecret == true }
        mistake = { answer($0.origins(of: P.self)).mistake }
        explanation = { $0.origin(of: P.self) }
        defaultValue = { Reflection.value(of: P.defaultValue) }
        help = P.help
        shape = { TypeShape(of: P.Value.self, sample: $0) }
        inspection = { MemberInspection(P.name, as: P.Value.self, in: $0) }
    }

    /// Every key that this library knows can be declared; another conformance of the protocol is only checked.
    init(any key: any ConfigurationKey) {
        if let key = key as? any DeclarableKey {
            self = key.declared
            return
        }
        (label, name, type) = (key.name ?? "\(key)", key.name, "")
        isSecret = { false }
        mistake = { key.mistake(in: $0) }
        let label = label
        explanation = { _ in
            Explanation(name: label, winner: .init(value: "?", origin: .defaultValue), hidden: [], mistake: nil)
        }
        defaultValue = { nil }
        help = nil
        shape = { _ in TypeShape() }
        inspection = { _ in MemberInspection() }
    }

    /// A property that belongs to an actor cannot be asked from elsewhere, and so cannot be declared.
    static func ofType(_ property: any NamedProperty.Type) -> DeclaredKey? {
        func open<P: NamedProperty & SendableMetatype>(_ property: P.Type) -> DeclaredKey { DeclaredKey(property) }
        return cast(property, to: AnyProperty.self).map { open($0) }
    }
}

private typealias AnyProperty = any (NamedProperty & SendableMetatype).Type

/// The compiler refuses to cast to a type with a marker protocol unless the type is a parameter.
private func cast<T>(_ value: Any, to _: T.Type) -> T? { value as? T }

private protocol DeclarableKey {
    var declared: DeclaredKey { get }
}

extension PropertyKey: DeclarableKey where Value: Decodable {
    fileprivate var declared: DeclaredKey { DeclaredKey(self) }
}

/// What is found when a value is decoded with a record of what its type asks for.
struct MemberInspection {
    /// An error for each member that the type does not know.
    var errors: [PropertyError] = []
    /// The dotted names of the members that it does.
    var members: [String] = []

    init() {}

    /// Looks at what every source has under the name, also where another source hides it.
    init<Value: Decodable>(_ name: String, as _: Value.Type, in container: Container) {
        for case let stack as SourceStack in container.allSources {
            for value in stack.values(named: name) where value.node.kind == .table || value.node.kind == .array {
                inspect(value, as: Value.self)
            }
        }
        let empty = LocatedValue(tree: PropertyTree(store: NodeStore(emptyTable: name), source: ""), id: 0)
        let shape = Self.record(empty, as: Value.self)
        members += shape.usage.names(in: shape.value)
    }

    private mutating func inspect<Value: Decodable>(_ value: LocatedValue, as type: Value.Type) {
        let record = Self.record(value, as: type)
        members += record.usage.names(in: record.value)
        // What came behind a mistake was not asked for any more.
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
        error.reason = ErrorText.unknownName(suggestion: meant)
        return error
    }
}

/// Names of types for whoever writes a value: without wrapping that says nothing to them, and of an enumeration the values.
enum TypeText {
    static func name(of type: Any.Type) -> String {
        if let optional = type as? any OptionalType.Type { return name(of: optional.wrapped) }
        if let choices = LocatedValue.rawValues(of: type) { return choices.joined(separator: "|") }
        if type == Bool.self { return "true|false" }
        return "\(type)"
    }
}

private protocol OptionalType {
    static var wrapped: Any.Type { get }
}

extension Optional: OptionalType {
    fileprivate static var wrapped: Any.Type { Wrapped.self }
}
