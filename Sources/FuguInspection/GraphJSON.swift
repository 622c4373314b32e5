import Fugu

extension ContainerGraph {
    /// The graph as JSON, in the form that `Codable` gives it, with an `explanation` for each entry.
    ///
    /// - Complexity: O(*n*) for *n* entries and inputs.
    public var json: String {
        let explainer = GraphExplainer(self)
        var text = JSONText()
        text.object { text in
            text.member("containers") { $0.array(containers) { $0.add($1) } }
            text.member("entries") { $0.array(entries) { $0.add($1, explainer.sentences(on: $1)) } }
        }
        return text.text + "\n"
    }
}

extension JSONText {
    fileprivate mutating func add(_ container: ContainerGraph.Container) {
        object { text in
            text.member("id") { $0.number("\(container.id)") }
            if let parent = container.parent { text.member("parent") { $0.number("\(parent)") } }
            text.member("depth") { $0.number("\(container.depth)") }
            text.member("name") { $0.string(container.name) }
            text.member("childCount") { $0.number("\(container.childCount)") }
            text.member("isClosed") { $0.number("\(container.isClosed)") }
        }
    }

    fileprivate mutating func add(_ entry: ContainerGraph.Entry, _ explanation: [String]) {
        object { text in
            text.member("id") { $0.string(entry.id) }
            text.member("name") { $0.string(entry.name) }
            text.member("kind") { $0.string(entry.kind.rawValue) }
            text.member("state") { $0.string(entry.state.rawValue) }
            text.member("container") { $0.number("\(entry.container)") }
            text.member("depth") { $0.number("\(entry.depth)") }
            text.member("isStale") { $0.number("\(entry.isStale)") }
            text.member("isExternal") { $0.number("\(entry.isExternal)") }
            text.member("isLocal") { $0.number("\(entry.isLocal)") }
            text.member("isSecret") { $0.number("\(entry.isSecret)") }
            text.member("loadCount") { $0.number("\(entry.loadCount)") }
            if let duration = entry.duration { text.member("duration") { $0.number("\(duration)") } }
            if let overridden = entry.overrides { text.member("overrides") { $0.string(overridden) } }
            text.member("inputs") { $0.array(entry.inputs) { $0.string($1) } }
            text.member("changedInputs") { $0.array(entry.changedInputs) { $0.string($1) } }
            if let value = entry.value { text.member("value") { $0.string(value) } }
            text.member("hiddenInputs") { $0.number("\(entry.hiddenInputs)") }
            text.member("hiddenReaders") { $0.number("\(entry.hiddenReaders)") }
            text.member("anchors") { $0.array(entry.anchors) { $0.string($1) } }
            text.member("explanation") { $0.array(explanation) { $0.string($1) } }
        }
    }
}

/// Writes JSON, with a line for each object of a list.
struct JSONText {
    private(set) var text = ""
    private var isFirst = true

    mutating func object(_ body: (inout JSONText) -> Void) {
        text += "{"
        isFirst = true
        body(&self)
        text += "}"
        isFirst = false
    }

    mutating func member(_ name: String, _ value: (inout JSONText) -> Void) {
        if !isFirst { text += ", " }
        text += "\"\(name)\": "
        value(&self)
        isFirst = false
    }

    mutating func array<Element>(_ elements: [Element], _ add: (inout JSONText, Element) -> Void) {
        let isLong = Element.self != String.self
        text += "["
        for (index, element) in elements.enumerated() {
            if index > 0 { text += isLong ? "," : ", " }
            if isLong { text += "\n  " }
            add(&self, element)
        }
        text += isLong && !elements.isEmpty ? "\n]" : "]"
    }

    /// Writes a number or a Boolean value.
    mutating func number(_ number: String) { text += number }

    mutating func string(_ string: String) {
        text += "\""
        defer { text += "\"" }
        // Nearly all strings need no escapes.
        if string.utf8.allSatisfy(Self.isPlain) {
            text += string
            return
        }
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            // Escaped so that the text can be part of a page: none of it can begin a tag or end a line.
            case "<", ">", "&", "\u{2028}", "\u{2029}", "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"): false
        default: 0x20..<0x7F ~= byte
        }
    }
}
