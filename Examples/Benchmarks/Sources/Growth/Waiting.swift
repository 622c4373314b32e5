import Fugu
import Synchronization

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
