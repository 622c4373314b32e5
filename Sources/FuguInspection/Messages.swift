import Fugu

/// What explanations say.
enum Messages {
    /// What it is called in a sentence.
    static func place(_ container: ContainerGraph.Container?) -> String {
        guard let container else { return "a container that is not shown" }
        return container.id == 0 ? "the root" : container.name
    }

    // MARK: The first sentence: what it is and where it comes from

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
        default: "This hides\(what) set in \(place)."
        }
    }
    static func loaderSet(_ name: String, in place: String) -> String {
        "\(name) was given another loader in \(place), which has not run yet."
    }
    static func loaded(_ name: String, _ duration: Duration?, _ count: Int) -> String {
        let time = duration.map { " in \($0.shortText)" } ?? ""
        return "\(name) was loaded\(time)\(count > 1 ? ", for the \(ordinal(count)) time there" : "")."
    }
    static func loading(_ name: String) -> String { "\(name) is being loaded." }
    static func failed(_ name: String, in place: String, _ error: String?) -> String {
        "\(name) is not there: its last load for \(place) failed\(error.map { ": \($0)" } ?? "")."
    }
    static func failedOnce(_ error: String) -> String { "A load has failed: \(error)." }
    static func notThere(_ name: String, _ kind: ContainerGraph.Entry.Kind, isClosed: Bool) -> String {
        if kind == .property {
            return "\(name) was neither set nor read here. A read gives what a source has, or the default."
        }
        let next = isClosed ? "The container is closed, so it is not loaded any more." : "The next read loads it."
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

    // MARK: Why it lives where it lives

    static func livesInRoot() -> String {
        "It lives in the root, since nothing that it was made from is set in a child."
    }
    static func livesLocally(in place: String) -> String {
        "It lives in \(place), which asked, since it or something that it was made from is local."
    }
    static func lives(in place: String, since anchors: [String]) -> String {
        guard let last = anchors.last else { return "It lives in \(place), since another loader is set there." }
        if anchors.count == 1 { return "It lives in \(place), since it read \(last), which is set there." }
        return
            "It lives in \(place), since it was made by way of \(anchors.joined(separator: " → ")), which is set there."
    }

    // MARK: What it was made from, and what from it

    static func inputs(_ names: [String]) -> String {
        names.isEmpty ? "It read nothing while it loaded." : "It was made from \(GraphWords.list(names))."
    }
    static func readSoFar(_ names: [String], isOver: Bool) -> String {
        isOver ? "It had needed \(GraphWords.list(names))." : "It needs \(GraphWords.list(names)) so far."
    }
    static func hiddenCount(_ count: Int) -> [String] {
        count == 0 ? [] : ["\(count) that \(count == 1 ? "is" : "are") not shown"]
    }
    static func neededBy(_ names: [String]) -> String {
        names.isEmpty ? "No other load needed it." : "Needed by \(GraphWords.list(names))."
    }
    static func readers(_ names: [String]) -> String {
        names.isEmpty ? "Nothing was made from it." : "Made from it: \(GraphWords.list(names))."
    }
    static func stale(_ names: [String]) -> String {
        "It is stale, since \(GraphWords.list(names)) \(names.count == 1 ? "has" : "have") changed after it was loaded."
    }
}
