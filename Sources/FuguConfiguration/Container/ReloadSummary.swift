import Fugu

/// What a reload has changed, and which loaded features don't follow it.
///
/// Get one from ``Fugu/Container/reload(checksUnread:)``. It contains names, and no values.
public struct ReloadSummary: Sendable, CustomStringConvertible {
    /// The dotted names of which the sources have another value than before, sorted.
    ///
    /// Names count that were read, are observed, or were declared. A value that code or a rule has set covers that of the sources,
    /// so reads may give what they gave before.
    public let changedNames: [String]

    /// The features that were loaded in the container or a descendant from an old value and don't reload, sorted.
    ///
    /// Each has the dotted names of the settings of which it keeps an old value. Features that depend on one of these aren't listed.
    /// Neither is a feature that reads a value later, whenever it needs it.
    public let keptFeatures: [(feature: String, names: [String])]

    /// Creates the summary of a reload that changes nothing.
    init() { (changedNames, keptFeatures) = ([], []) }

    /// `keys`: The keys that were read or are observed and of which the sources have another value.
    init(of keys: [(key: Key, name: String)], in container: Container, _ new: SourceStack, over old: SourceStack) {
        let declared = container.declaredKeys.compactMap(\.name).filter { !new.holdsTheSame($0, as: old) }
        changedNames = Set(keys.map(\.name) + declared).sorted()
        let names = Dictionary(keys.map { ($0.key, $0.name) }) { first, _ in first }
        var kept: [String: Set<String>] = [:]
        for (feature, input) in container.keptInstances(madeFrom: keys.map(\.key)) {
            if let name = names[input] { kept[feature.name, default: []].insert(name) }
        }
        keptFeatures = kept.sorted { $0.key < $1.key }.map { ($0.key, $0.value.sorted()) }
    }

    /// The names that changed, and the features that keep old values, in one line.
    public var description: String {
        changedNames.isEmpty ? ErrorText.nothingChanged : ErrorText.changed(changedNames, kept: keptFeatures)
    }
}
