package import Fugu

/// An instance that says what it was loaded from, and keeps its handle, which answers from where it lives.
package final class Thing: Sendable {
    package let text: String
    fileprivate let handle: (any FeatureContainer)?

    package init(_ text: Any, _ handle: (any FeatureContainer)? = nil) {
        self.text = "\(text)"
        self.handle = handle
    }
}

/// A family as a drawing: who holds what, and, after the arrow, what each gets: the container in which it lives, and its text.
///
///     root                    → root: live
///       test    address=test  → test: test
///         below               → test: test
///       loud    verbose=true  → root: live
///
/// A row is a container, below its parent. Showing another drawing sets and resets what differs. An arrow may say `kept:` or `new:` to
/// compare the instance with that of the drawing before, and `! A → B` is the path of an error. A row with `copying:a,b` is a copy.
package final class Drawing {
    /// What a name in a drawing stands for.
    package struct Held: Sendable {
        let set: @Sendable (Container, String) -> Void
        let reset: @Sendable (Container) -> Void

        package init(
            set: @escaping @Sendable (Container, String) -> Void, reset: @escaping @Sendable (Container) -> Void
        ) {
            (self.set, self.reset) = (set, reset)
        }

        package static func property<K: Property>(_ key: K.Type) -> Held where K.Value: LosslessStringConvertible {
            Held(set: { $0[K.self] = K.Value($1)! }, reset: { $0.reset(K.self) })
        }
        /// An instance with the text of the drawing.
        package static func instance(_ key: FeatureKey<Thing>) -> Held {
            Held(set: { $0[key] = Thing($1) }, reset: { $0.reset { _ in key } })
        }
        /// A loader that puts the text of the drawing before that of `thing`.
        package static func loader(
            _ key: FeatureKey<Thing>, _ thing: @escaping @Sendable (any FeatureContainer) -> Any
        ) -> Held {
            Held(
                set: { container, text in container.replace({ _ in key }) { Thing("\(text) \(thing($0))", $0) } },
                reset: { $0.reset { _ in key } })
        }
    }

    /// In which order the containers are asked.
    package enum Order { case eachFirst, asDrawn, together }

    private enum Name: Property { static var defaultValue: String { "?" } }

    private struct Row {
        let name: String
        let depth: Int
        var copied: [String] = []
        var held: [String: String] = [:]
        /// After the arrow.
        let expected: String?

        init(_ line: Substring) {
            let sides = line.split(separator: "→", maxSplits: 1)
            let words = sides[0].split(separator: " ")
            depth = line.prefix { $0 == " " }.count / 2
            name = String(words[0])
            for word in words.dropFirst() {
                if word.hasPrefix("copying:") {
                    copied = word.dropFirst(8).split(separator: ",").map(String.init)
                } else {
                    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                    held[String(parts[0])] = String(parts[1])
                }
            }
            expected = sides.count < 2 ? nil : sides[1].split(separator: " ").joined(separator: " ")
        }
    }

    private let keys: [String: Held]
    private let ask: @Sendable (Container) throws -> Thing
    private let showsHome: Bool
    private var rows: [Row] = []
    private var containers: [String: Container] = [:]
    private var things: [String: Thing] = [:]

    /// Makes the family of a drawing and checks it, with each container as the first that asks, in a family for each.
    @discardableResult
    package init(
        _ text: String, _ keys: [String: Held], order: Order = .eachFirst, file: StaticString = #filePath,
        line: Int = #line, _ ask: @escaping @Sendable (Container) throws -> Thing
    ) {
        (self.keys, self.ask, showsHome) = (keys, ask, true)
        show(text, order: order, file: file, line: line)
    }

    /// The same for what has no home: after the arrow is its text alone.
    @discardableResult
    package init(
        _ text: String, _ keys: [String: Held], reading read: @escaping @Sendable (Container) -> Any,
        file: StaticString = #filePath, line: Int = #line
    ) {
        (self.keys, ask, showsHome) = (keys, { Thing(read($0)) }, false)
        show(text, order: .asDrawn, file: file, line: line)
    }

    package subscript(name: String) -> Container { containers[name]! }

    /// Changes the family into another drawing, and checks that.
    package func show(
        _ text: String, order: Order = .asDrawn, file: StaticString = #filePath, line: Int = #line
    ) {
        let drawn = text.split(separator: "\n").map(Row.init)
        if order == .eachFirst {
            for first in drawn.indices.dropFirst() {
                (rows, containers, things) = ([], [:], [:])
                build(drawn)
                _ = try? ask(containers[drawn[first].name]!)
                check(", if \(drawn[first].name) asks first", file, line)
            }
            (rows, containers, things) = ([], [:], [:])
        }
        build(drawn)
        check(nil, together: order == .together, file, line)
    }

    private func build(_ drawn: [Row]) {
        var path: [Container] = []
        let before = Dictionary(uniqueKeysWithValues: rows.map { ($0.name, $0.held) })
        for row in drawn {
            path.removeLast(path.count - row.depth)
            func configure(_ container: Container) {
                for (name, value) in row.held where before[row.name]?[name] != value {
                    keys[name]!.set(container, value)
                }
                for name in (before[row.name] ?? [:]).keys where row.held[name] == nil { keys[name]!.reset(container) }
            }
            let container: Container
            if let known = containers[row.name] {
                container = known
                configure(container)
            } else if let parent = path.last {
                container = parent.child { configure($0) }
            } else {
                switch row.copied.count {
                case 0: container = Container().unreported
                case 1: container = Container(copying: containers[row.copied[0]]!).unreported
                default:
                    container =
                        Container(copying: containers[row.copied[0]]!, containers[row.copied[1]]!).unreported
                }
                configure(container)
            }
            container[Name.self] = row.name
            containers[row.name] = container
            path.append(container)
        }
        for row in rows where !drawn.contains(where: { $0.name == row.name }) { containers[row.name] = nil }
        rows = drawn
    }

    private func check(_ comment: String?, together: Bool = false, _ file: StaticString, _ line: Int) {
        let asked = rows.filter { $0.expected != nil }
        let (containers, ask) = (asked.map { self.containers[$0.name]! }, ask)
        var results: [Result<Thing, any Error>] = []
        if together {
            let log = Log<(Int, Result<Thing, any Error>)>()
            onThreads(asked.count) { index in log.add((index, Result { try ask(containers[index]) })) }
            results = log.all.sorted { $0.0 < $1.0 }.map(\.1)
        } else {
            results = containers.map { container in Result { try ask(container) } }
        }
        var living: [String: [Thing]] = [:]
        let found = zip(asked, results).map { row, result in
            "\(row.name) → \(description(of: result, row, &living))"
        }
        let drawn = asked.map { "\($0.name) → \($0.expected!)" }
        expect(
            found == drawn,
            "drawn:\n\(drawn.joined(separator: "\n"))\nfound\(comment ?? ""):\n\(found.joined(separator: "\n"))",
            file: file,
            line: line)
    }

    private func description(
        of result: Result<Thing, any Error>, _ row: Row, _ living: inout [String: [Thing]]
    ) -> String {
        switch result {
        case .failure(let error): return "! " + ((error as? LoadError)?.path ?? ["\(error)"]).joined(separator: " → ")
        case .success(let thing):
            let former = things[row.name]
            things[row.name] = thing
            guard showsHome else { return thing.text }
            // What was set has no handle, and lives where the first that gets it is.
            let home =
                thing.handle?[Name.self] ?? living.first { $0.value.contains { $0 === thing } }?.key ?? row.name
            if !living[home, default: []].contains(where: { $0 === thing }) { living[home, default: []].append(thing) }
            let number = living[home]!.firstIndex { $0 === thing }!
            let words = row.expected!.prefix { $0 != ":" }.split(separator: " ")
            let compares = words.contains("kept") || words.contains("new")
            let age = !compares ? "" : former === thing ? " kept" : " new"
            return "\(home)\(number == 0 ? "" : "#\(number + 1)")\(age): \(thing.text)"
        }
    }
}
