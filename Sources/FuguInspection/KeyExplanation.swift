public import Fugu

/// An explanation of what a container has for a key, in sentences. It prints as
///
/// ```text
/// Session was loaded in 1.2 ms.
/// It lives in container 7, because it read \.requestID, which is set there.
/// It was loaded from \.requestID (container 7) and Database.
/// Nothing was loaded from it.
/// ```
public struct KeyExplanation: Sendable, Hashable, CustomStringConvertible {
    /// The name of the key.
    public let name: String
    /// The sentences.
    ///
    /// Values of secret keys are left out, and long ones are cut. For a value that isn't a number, a Boolean value, or
    /// a string, the sentence names only the type.
    public let sentences: [String]

    /// The sentences, one on each line.
    public var description: String { sentences.joined(separator: "\n") }
}

extension Container {
    /// Explains what this container has for a type, without loading anything.
    ///
    /// For a property, the sentences name the origin of the value and what it hides. For a feature, they say why it
    /// lives in its container, which inputs and readers it has, whether it's stale and because of which change, and how
    /// its last load failed.
    ///
    /// - Parameter key: The type: a property, or a feature of any kind.
    /// - Returns: The explanation.
    /// - Complexity: O(*n* log *n*) for *n* containers, entries, and inputs of the family.
    public func explain<K: ContainerKey>(_ key: K.Type) -> KeyExplanation { explain(K._key) }

    /// Explains what this container has for a key, without loading anything.
    ///
    /// - Parameter key: A key path to the key: `\.timeout`.
    /// - Returns: The explanation.
    /// - Complexity: O(*n* log *n*) for *n* containers, entries, and inputs of the family.
    public func explain<K: ValueKey>(_ key: (ContainerKeys) -> K) -> KeyExplanation {
        explain(key(ContainerKeys())._key)
    }

    private func explain(_ definition: KeyDefinition) -> KeyExplanation {
        let key = Key(raw: definition.raw)
        let snapshot = GraphSnapshot(drawing: self)
        let (graph, ids) = ContainerGraph.draw(snapshot, includingValues: true)
        guard let entry = places(of: key, in: snapshot).first.flatMap({ ids[$0] }).flatMap({ graph[$0] }) else {
            let sentence = Messages.notThere(key.name, key.kind, isClosed: isClosed)
            return KeyExplanation(name: key.name, sentences: [sentence])
        }
        return KeyExplanation(name: entry.name, sentences: GraphExplainer(graph).sentences(on: entry))
    }
}

/// Describes the entries of a graph in sentences.
struct GraphExplainer {
    private let containers: [Int: ContainerGraph.Container]
    private let entries: [ContainerGraph.Entry.ID: ContainerGraph.Entry]
    private let readers: [ContainerGraph.Entry.ID: [ContainerGraph.Entry.ID]]

    init(_ graph: ContainerGraph) {
        containers = Dictionary(uniqueKeysWithValues: graph.containers.map { ($0.id, $0) })
        entries = Dictionary(uniqueKeysWithValues: graph.entries.map { ($0.id, $0) })
        readers = graph.readers
    }

    func sentences(on entry: ContainerGraph.Entry) -> [String] {
        var sentences = [beginning(entry)]
        // Nearest first.
        let hidden = sequence(first: entry) { $0.overrides.flatMap { entries[$0] } }.dropFirst()
        sentences += hidden.map { Messages.hidden($0.value, $0.state, in: place($0.container)) }
        if let reason = reason(entry) { sentences.append(reason) }
        let inputs = entry.inputs.map(name) + Messages.hiddenCount(entry.hiddenInputs)
        if entry.state == .loaded || entry.state == .testValue {
            sentences.append(Messages.inputs(inputs))
        } else if !inputs.isEmpty {
            sentences.append(Messages.readSoFar(inputs))
        }
        if entry.isStale { sentences.append(Messages.stale(entry.changedInputs.map(name))) }
        let readers = readers(of: entry.id) + Messages.hiddenCount(entry.hiddenReaders)
        sentences.append(entry.state == .loading ? Messages.neededBy(readers) : Messages.readers(readers))
        return sentences
    }

    /// Returns the names of the instances that were loaded from an entry.
    func readers(of id: ContainerGraph.Entry.ID) -> [String] { (readers[id] ?? []).map(name) }

    private func beginning(_ entry: ContainerGraph.Entry) -> String {
        let place = place(entry.container)
        let value = entry.isSecret ? "secret" : entry.value
        return switch entry.state {
        case .set: Messages.valueSet(entry.name, value, in: place)
        case .supplied: Messages.valueSupplied(entry.name, value, in: place)
        case .defaultValue: Messages.valueDefault(entry.name, value)
        case .replaced: Messages.loaderSet(entry.name, in: place)
        case .loaded: Messages.loaded(entry.name, entry.duration.map { .seconds($0) }, entry.loadCount)
        case .testValue: Messages.testValue(entry.name)
        case .loading: Messages.loading(entry.name)
        }
    }

    private func reason(_ entry: ContainerGraph.Entry) -> String? {
        guard entry.state == .loaded || entry.state == .testValue else { return nil }
        if entry.container == 0 { return Messages.livesInRoot() }
        if entry.isLocal { return Messages.livesLocally(in: place(entry.container)) }
        let isRead = entry.hiddenInputs > 0 || entry.inputs.contains { entries[$0]?.name == entry.anchors.first }
        return Messages.lives(in: place(entry.container), since: entry.anchors, isRead: isRead)
    }

    private func place(_ container: Int) -> String { Messages.place(containers[container]) }

    private func name(_ id: ContainerGraph.Entry.ID) -> String {
        guard let entry = entries[id] else { return id }
        return entry.container == 0 ? entry.name : "\(entry.name) (\(place(entry.container)))"
    }
}

extension ContainerGraph {
    /// Returns sentences that explain an entry: its origin, why it lives in its container, its inputs, its readers, and
    /// whether it's stale.
    ///
    /// They contain no values.
    ///
    /// - Parameter id: The identifier of an entry.
    /// - Returns: The sentences. There are none if the graph has no such entry.
    /// - Complexity: O(*n*) for *n* entries and inputs.
    public func explanation(of id: Entry.ID) -> [String] {
        self[id].map { GraphExplainer(self).sentences(on: $0) } ?? []
    }
}

/// Describes values for explanations; for a value that could contain a secret, it gives only the type.
struct ValueSketch: ValueTeller {
    private static let longest = 80

    func text<Value>(of value: Value) -> String {
        switch value {
        // The user's part of a URL often holds a password.
        case let text as String where text.contains("://") && text.contains("@"): return "a URL with a user"
        case let text as String: return quoted(text)
        case let number as any BinaryInteger: return "\(number)"
        case let number as any BinaryFloatingPoint: return "\(number)"
        case let isTrue as Bool: return "\(isTrue)"
        case let duration as Duration: return "\(duration)"
        default: break
        }
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional { return mirror.children.first.map { text(of: $0.value) } ?? "nil" }
        if mirror.displayStyle == .enum, mirror.children.isEmpty { return ".\(value)" }
        return "a value of type \(type(of: value))"
    }

    private func quoted(_ text: String) -> String {
        let isLong = text.unicodeScalars.count > Self.longest
        let shown = String(String.UnicodeScalarView(text.unicodeScalars.prefix(Self.longest)))
        return "\""
            + shown.escaped { $0 == "\"" ? "\\\"" : $0.isPrintable ? nil : "\\u{\(String($0.value, radix: 16))}" }
            + (isLong ? "…\"" : "\"")
    }
}

extension Unicode.Scalar {
    /// Whether the character is visible and isn't a control character.
    fileprivate var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
