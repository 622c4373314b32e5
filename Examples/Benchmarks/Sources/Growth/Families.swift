import Fugu
import Synchronization

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
                for key in properties.prefix(n) { container.observe({ _ in key }) { _ in } }
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
                for key in properties.prefix(n) { container.observe({ _ in key }) { _ in } }
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

/// Thousands of tasks that wait for loads.
enum Waiting {
    static var courses: [Course] {
        [
            Course("cancel n tasks that wait for one load") { n in
                let container = Container()
                let arrived = Meeting(expecting: n)
                let tasks = (0..<n).map { _ in
                    Task {
                        arrived.arrive()
                        _ = try? await container[Endless.self]
                    }
                }
                await arrived.all()
                return await seconds {
                    for task in tasks { task.cancel() }
                    for task in tasks { await task.value }
                }
            },
            Course("cancel n readers one by one, each of whose loads goes on") { n in
                let container = Container()
                let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
                let end = Meeting(expecting: 1)
                container.replace(Endless.self) { _ in
                    beginning.yield()
                    await end.all()
                    return 1
                }
                let time = await seconds {
                    for _ in 0..<n {
                        let task = Task { _ = try? await container[Endless.self] }
                        for await _ in begun { break }
                        task.cancel()
                        await task.value
                    }
                }
                end.arrive()
                try await container.close()
                return time
            },
            Course("n children load one local async feature at once") { n in
                let container = Container()
                container.meeting = Meeting(expecting: n)
                let children = (0..<n).map { _ in container.child() }
                return try await seconds {
                    try await withThrowingTaskGroup { group in
                        for child in children { group.addTask { _ = try await child[LocalGuest.self] } }
                        try await group.waitForAll()
                    }
                }
            },
        ]
    }
}

/// Releases all participants when the expected number has arrived.
final class Meeting: Sendable {
    private struct State {
        var missing: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(expecting count: Int) {
        state = Mutex(State(missing: count))
    }

    /// Arrives without waiting.
    func arrive() {
        let done = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.missing -= 1
            guard state.missing <= 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in done { one.resume() }
    }

    /// Waits until all have arrived.
    func all() async {
        await withCheckedContinuation { continuation in
            let isComplete = state.withLock { state in
                if state.missing > 0 { state.waiting.append(continuation) }
                return state.missing <= 0
            }
            if isComplete { continuation.resume() }
        }
    }
}

extension ContainerKeys {
    fileprivate var meeting: PropertyKey<Meeting?> { .init() }
}

/// Finishes only when it's canceled.
private enum Endless: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Int {
        try await Task.sleep(for: .seconds(86_400))
        return 1
    }
}

/// Every container loads its own, and all loads must begin before one ends.
private enum LocalGuest: AsyncFeature {
    static var home: Home { .local }

    static func load(in container: any FeatureContainer) async throws -> Int {
        let meeting = container.meeting
        meeting?.arrive()
        await meeting?.all()
        return 1
    }
}
