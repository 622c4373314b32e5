import Fugu

/// Thousands of properties to set and observe.
let properties = (0..<80_000).map { PropertyKey(defaultValue: 0, id: $0) }

enum Watched: Property {
    static let defaultValue = 0
}

enum Families {
    static var courses: [Course] { observers + children + updates }

    private static var observers: [Course] {
        [
            Course("cancel observers of one key, oldest first") { n in
                let container = Container()
                let tokens = (0..<n).map { _ in container.observe(Watched.self) { _ in } }
                return seconds { for token in tokens { token.cancel() } }
            },
            Course("cancel observers of one key, newest first") { n in
                let container = Container()
                let tokens = (0..<n).map { _ in container.observe(Watched.self) { _ in } }
                return seconds { for token in tokens.reversed() { token.cancel() } }
            },
            Course("an observer sets its own key n times") { n in
                let container = Container()
                container.observe(Watched.self) { value in
                    if value == -1 { for index in 1...n { container[Watched.self] = index } }
                }
                return seconds { container[Watched.self] = -1 }
            },
            Course("drop 1,000 observing children beside n observed keys") { n in
                let container = Container()
                for key in properties.prefix(n) { container.observe(key) { _ in } }
                var children = (0..<1_000).map { _ in observingChild(of: container) }
                return seconds { children.removeAll() }
            },
        ]
    }

    private static var children: [Course] {
        [
            Course("release n observing children") { n in
                let container = Container()
                var children = (0..<n).map { _ in observingChild(of: container) }
                return seconds { children.removeAll() }
            },
            Course("close the root of n observing children") { n in
                let container = Container()
                let children = (0..<n).map { _ in observingChild(of: container) }
                let time = try await seconds { try await container.close() }
                withExtendedLifetime(children) {}
                return time
            },
            Course("n observing children set their own value") { n in
                let container = Container()
                let children = (0..<n).map { _ in observingChild(of: container) }
                return seconds { for child in children { child[Watched.self] = 1 } }
            },
        ]
    }

    private static var updates: [Course] {
        [
            Course("one update of n keys") { n in
                let container = Container()
                return seconds {
                    container.update { container in for key in properties.prefix(n) { container[key] = 1 } }
                }
            },
            Course("one update of n observed keys") { n in
                let container = Container()
                for key in properties.prefix(n) { container.observe(key) { _ in } }
                return seconds {
                    container.update { container in for key in properties.prefix(n) { container[key] = 1 } }
                }
            },
            Course("n updates within one, a key each") { n in
                let container = Container()
                return seconds {
                    container.update { _ in
                        for key in properties.prefix(n) { container.update { $0[key] = 1 } }
                    }
                }
            },
        ]
    }

    private static func observingChild(of container: Container) -> Container {
        let child = container.child()
        child.observe(Watched.self) { _ in }
        return child
    }
}
