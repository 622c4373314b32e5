import Fugu
import FuguConfiguration
import Support

extension Container {
    /// What is reported in the container's family from now on.
    func reports() -> Log<String> {
        let log = Log<String>()
        handleReports { log.add($0) }
        return log
    }
}

/// A source whose content the test changes; it counts its loads.
final class ChangingSource: PropertySource {
    private struct State {
        var content: Result<[String: PropertyValue], PropertyError>
        var loads = 0
        var changes: Int64 = 0
    }
    let name: String
    private let state: Locked<State>
    private let onLoad: @Sendable () -> Void

    init(
        _ values: [String: PropertyValue], name: String = "changing", onLoad: @escaping @Sendable () -> Void = {}
    ) {
        self.name = name
        self.onLoad = onLoad
        state = Locked(State(content: .success(values)))
    }

    var loads: Int { state.withLock { $0.loads } }

    func change(to values: [String: PropertyValue]) { set(.success(values)) }
    func fail(_ reason: String) { set(.failure(PropertyError(reason, source: name))) }

    private func set(_ content: Result<[String: PropertyValue], PropertyError>) {
        state.withLock { state in
            state.content = content
            state.changes += 1
        }
    }

    func load() throws(PropertyError) -> PropertySnapshot {
        onLoad()
        let content = state.withLock { state in
            state.loads += 1
            return state.content
        }
        return try PropertySnapshot(content.get(), source: name)
    }

    func modificationStamp() -> PropertySourceStamp? { PropertySourceStamp(state.withLock { $0.changes }) }
}

/// A source whose every load gives the next number under several names.
final class CountingSource: PropertySource {
    let name = "counting"
    private let names: [String]
    private let number = Locked(0)

    init(_ names: [String]) { self.names = names }

    func load() throws(PropertyError) -> PropertySnapshot {
        let next = number.withLock { number in
            number += 1
            return Int128(number)
        }
        let values = names.map { ($0, PropertyValue.integer(next)) }
        return try PropertySnapshot(Dictionary(uniqueKeysWithValues: values), source: name)
    }
}

/// A type with a name that another file has, too.
private struct Twin: Feature {
    static func load(in _: any FeatureContainer) -> Twin { Twin() }
}

func loadTwin(in container: Container) { _ = container[Twin.self] }

extension String {
    /// The same words on one line.
    var words: String { split { $0 == " " || $0 == "\n" }.joined(separator: " ") }
}
