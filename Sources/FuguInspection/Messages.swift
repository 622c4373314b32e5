import Fugu

/// The sentences of explanations.
enum Messages {
    /// Returns the container's name in a sentence.
    static func place(_ container: ContainerGraph.Container?) -> String {
        guard let container else { return "a container that isn't shown" }
        return container.id == 0 ? "the root" : container.name
    }

    // MARK: The first sentence: the value and its origin

    static func valueSet(_ name: String, _ value: String?, in place: String) -> String {
        "\(name)\(value.map { " is \($0)," } ?? " was") set in \(place)."
    }
    static func valueSupplied(_ name: String, _ value: String?, in place: String) -> String {
        "\(name)\(value.map { " is \($0)," } ?? " was") supplied by the sources of \(place)."
    }
    static func valueDefault(_ name: String, _ value: String?) -> String {
        "\(name) \(value.map { "is \($0), its default" } ?? "has its default")."
    }
    static func hidden(_ value: String?, _ state: ContainerGraph.Entry.State, in place: String) -> String {
        let what = value.map { " \($0)," } ?? " what was"
        return switch state {
        case .supplied: "This hides\(what) supplied by the sources of \(place)."
        case .defaultValue: "This hides\(value.map { " \($0)," } ?? "") the default."
        case .loaded: "This hides the instance that was loaded in \(place)."
        case .testValue: "This hides the value for tests that was loaded in \(place)."
        default: "This hides\(what) set in \(place)."
        }
    }
    static func loaderSet(_ name: String, in place: String) -> String {
        "\(name) has a replacement loader in \(place), which hasn't run yet."
    }
    static func loaded(_ name: String, _ duration: Duration?, _ count: Int) -> String {
        let time = duration.map { " in \($0.shortText)" } ?? ""
        return "\(name) was loaded\(time)\(count > 1 ? ", for the \(ordinal(count)) time there" : "")."
    }
    static func testValue(_ name: String) -> String { "\(name) is its value for tests." }
    static func loading(_ name: String) -> String { "\(name) is being loaded." }
    static func notThere(_ name: String, _ kind: KeyKind, isClosed: Bool) -> String {
        if kind == .property {
            return "\(name) was neither set nor read here. A read returns the value of a source, or the default."
        }
        let next = isClosed ? "The container is closed, so it can't be loaded." : "The next read loads it."
        return "\(name) was neither set nor loaded here. \(next)"
    }

    private static func ordinal(_ number: Int) -> String {
        let isTeen = (11...13).contains(number % 100)
        switch number % 10 {
        case 1 where !isTeen: return "\(number)st"
        case 2 where !isTeen: return "\(number)nd"
        case 3 where !isTeen: return "\(number)rd"
        default: return "\(number)th"
        }
    }

    // MARK: Why an instance lives where it lives

    static func livesInRoot() -> String {
        "It lives in the root, because no child sets any of its inputs."
    }
    static func livesLocally(in place: String) -> String {
        "It lives in \(place), which read it, because it or one of its inputs is local."
    }
    static func lives(in place: String, since anchors: [String], isRead: Bool) -> String {
        guard let last = anchors.last else { return "It lives in \(place), because its loader is replaced there." }
        if anchors.count == 1, !isRead { return "It lives in \(place), because its home is where \(last) is set." }
        if anchors.count == 1 { return "It lives in \(place), because it read \(last), which is set there." }
        return
            "It lives in \(place), because it depends on \(anchors.joined(separator: " → ")), which is set there."
    }

    // MARK: Its inputs and its readers

    static func inputs(_ names: [String]) -> String {
        names.isEmpty ? "It read nothing while it loaded." : "It was loaded from \(GraphWords.list(names))."
    }
    static func readSoFar(_ names: [String]) -> String { "It has read \(GraphWords.list(names)) so far." }
    static func hiddenCount(_ count: Int) -> [String] {
        count == 0 ? [] : ["\(count) that \(count == 1 ? "isn't" : "aren't") shown"]
    }
    static func neededBy(_ names: [String]) -> String {
        names.isEmpty ? "No other load needed it." : "Needed by \(GraphWords.list(names))."
    }
    static func readers(_ names: [String]) -> String {
        names.isEmpty ? "Nothing was loaded from it." : "Loaded from it: \(GraphWords.list(names))."
    }
    static func stale(_ names: [String]) -> String {
        "It's stale: \(names.isEmpty ? "an input" : GraphWords.list(names)) changed after it was loaded."
    }

    // MARK: Events

    static func event(_ event: ContainerEvent) -> String {
        let key = event.key ?? "the container"
        let place = containerName(event.container)
        let time = event.duration.map { " after \($0.shortText)" } ?? ""
        let home = event.home.map { "; it lives in \(containerName($0))" } ?? ""
        let error = event.error.map { ": \($0)" } ?? ""
        let way = event.path.count > 1 ? " (\(Fugu.Messages.way(event.path)))" : ""
        return switch event.kind {
        case .loadBegan: "\(key) started loading in \(place)\(way)"
        case .loaded: "\(key) loaded in \(place)\(time)\(home)\(way)"
        case .reloaded: "\(key) loaded again in \(place)\(time)\(home)\(way)"
        case .overtaken: "\(key) was set or loaded by someone else in \(place) while it loaded\(time)\(way)"
        case .notKept: "\(key) loaded in \(place)\(time) and isn't kept\(way)"
        case .failed: "\(key) failed to load in \(place)\(time)\(way)\(error)"
        case .waited: "\(key) was waited for in \(place)\(time)\(way)"
        case .dropped: "\(key) was dropped in \(place)"
        case .set: "\(key) was set in \(place)"
        case .overridden: "\(key) was overridden in \(place)"
        case .replaced: "the loader of \(key) was replaced in \(place)"
        case .supplied: "\(key) was supplied to \(place) by sources"
        case .reset: "\(key) was reset in \(place)"
        case .closed where event.key == nil: "\(place) was closed\(time)\(error)"
        case .closed: "\(key) was closed in \(place)\(time)\(error)"
        default: "\(event.kind): \(key) in \(place)"
        }
    }

    /// Returns the name of a container in events.
    static func containerName(_ number: Int) -> String { number == 0 ? "the root" : "container \(number)" }
}

// Titles and lines of checks.
extension Messages {
    static let livesInTheRoot = "lives in the root"
    static let livesWhereRead = "lives in each container that reads it"
    static let dependsOnUnloaded = "depends on features that weren't loaded"
    static let hasNoHome = "external, without a declared home"
    static let hasNoPlaceholder = "external, without a placeholder, so features that need it weren't loaded"
    static let isForTests = "external, loaded from its value for tests"
    static let isMissing = "missing"
    static let needsItself = "needs itself"
    static let hasFailed = "failed to load"

    static func livesWhere(_ overridden: [String]) -> String {
        "lives where \(overridden.joined(separator: " or ")) is set"
    }

    /// Returns the name of a feature, and those that weren't loaded because of it.
    static func unloaded(_ name: String, _ others: [String]) -> String {
        others.isEmpty ? name : "\(name): \(others.joined(separator: ", "))"
    }

    /// Returns the name of a feature and the path that explains why it's listed.
    static func checked(_ name: String?, _ path: [String]) -> String {
        let way = path.joined(separator: " → ")
        return name.map { path.isEmpty ? $0 : "\($0): \(way)" } ?? way
    }
}

// Texts of checks.
extension Messages {
    static func cannotOverride(_ member: String) -> String {
        "Fugu: check(overriding:) can't override \(member), which belongs to the main actor.\nFix: name "
            + "what a request sets: properties, or plain features."
    }
}

// Texts for debuggers.
extension Messages {
    /// `description`: That of the container, which ends with a parenthesis.
    static func containerInDetail(
        _ description: String, parent: String?, _ lists: [(title: String, names: [String])]
    ) -> String {
        var parts = ["\(description.dropLast())"]
        if let parent { parts.append("parent: \(parent)") }
        for (title, names) in lists where !names.isEmpty { parts.append("\(title): \(GraphWords.list(names))") }
        return GraphWords.line(parts.joined(separator: "; ") + ")")
    }
}
