import CHeap
import Fugu
import FuguConfiguration
import FuguScopes
import Synchronization

/// Work that is repeated and leaves nothing behind.
struct Routine: Sendable {
    let name: String
    /// The fraction of the repetitions to run, because those that need a task each take longer.
    let share: Int
    /// Runs the repetitions with these indices.
    let body: @Sendable (Range<Int>) async throws -> Void

    init(_ name: String, share: Int = 1, _ body: @escaping @Sendable (Range<Int>) async throws -> Void) {
        self.name = name
        self.share = share
        self.body = body
    }
}

/// The memory in use after a quarter, half, and all of a routine.
struct Level: Sendable {
    let name: String
    let count: Int
    /// The additional bytes since the first tenth, which includes what is created only once.
    private(set) var bytes: [Int] = []
    let seconds: Double

    /// The difference that queues may cause from one moment to another.
    ///
    /// An object for each of 200,000 repetitions would take at least 6 MB.
    private static let leeway = 2 << 20

    /// Runs a routine `count` times.
    init(of routine: Routine, count whole: Int) async throws {
        name = routine.name
        count = whole / routine.share
        try await routine.body(0..<count / 10)
        let before = heap_bytes_in_use()
        var done = 0
        var time = 0.0
        for end in [count / 4, count / 2, count] {
            let range = done..<end
            let start = ContinuousClock.now
            try await routine.body(range)
            time += (ContinuousClock.now - start) / .seconds(1)
            bytes.append(Int(heap_bytes_in_use()) - Int(before))
            done = end
        }
        seconds = time
    }

    var isFlat: Bool { bytes[2] - bytes[0] <= Self.leeway }
}

enum Flat {
    static var routines: [Routine] { families + loads + changes + early + others }

    private static var families: [Routine] {
        let root = Container()
        return [
            Routine("children with a value and a feature") { range in
                for index in range {
                    let child = root.child()
                    child[Watched.self] = index
                    _ = child[Single.self]
                }
            },
            Routine("observers of children") { range in
                for index in range {
                    let child = root.child()
                    child.observe(Watched.self) { _ in }
                    child[Watched.self] = index
                }
            },
            Routine("tokens, cancelled") { range in
                for _ in range { root.observe(Watched.self) { _ in }.cancel() }
            },
        ]
    }

    private static var loads: [Routine] {
        let root = Container()
        return [
            Routine("resets and loads") { range in
                for _ in range {
                    root.reset(Single.self)
                    _ = root[Single.self]
                }
            },
            Routine("resets of two that take over from each other") { range in
                for _ in range {
                    root.reset(Heir.self)
                    _ = root[Heir.self]
                    root.reset(Rival.self)
                    _ = root[Rival.self]
                }
            },
            Routine("failures") { range in
                for _ in range { _ = try? root[Failing.self] }
            },
            Routine("failures in children that override the input") { range in
                for index in range {
                    let child = root.child()
                    child[Watched.self] = index
                    _ = try? child[Failing.self]
                }
            },
            Routine("async resets and loads", share: 5) { range in
                for _ in range {
                    root.reset(Remote.self)
                    _ = try await root[Remote.self]
                }
            },
        ]
    }

    private static var changes: [Routine] {
        let root = Container()
        root.observe(Watched.self) { _ in }
        return [
            Routine("sets of an observed property") { range in
                for index in range { root[Watched.self] = index }
            },
            Routine("updates") { range in
                for index in range { root.update { $0[Watched.self] = index } }
            },
            Routine("reloads") { range in
                for index in range {
                    root[Watched.self] = index
                    _ = root[Reloading.self]
                }
            },
            Routine("reloads in children") { range in
                for index in range {
                    let child = root.child()
                    child[Watched.self] = index
                    _ = child[Reloading.self]
                }
            },
        ]
    }

    private static var early: [Routine] {
        let root = Container()
        return [
            Routine("closers of early leavers", share: 5) { range in
                // They leave faster than their closers run one after the other. The list of those that wait is released a
                // moment after the last closer, so it's kept short, and what's left afterward counts.
                let before = Closing.closed.load(ordering: .relaxed)
                for (number, _) in range.enumerated() {
                    _ = root[Closing.self]
                    root.reset(Closing.self)
                    guard (number + 1).isMultiple(of: 1_000) || number + 1 == range.count else { continue }
                    while Closing.closed.load(ordering: .relaxed) < before + number + 1 { await Task.yield() }
                }
                // Tasks whose closers have run end in a few more turns each, and each yield lets all that are ready take one.
                for _ in 0..<100 { await Task.yield() }
            },
            Routine("closed children with a closer", share: 5) { range in
                for _ in range {
                    let child = root.child()
                    child.onClose {}
                    try await child.close()
                }
            },
        ]
    }

    private static var others: [Routine] {
        let root = Container()
        root[Watched.self] = 1
        root.configureScopes("/a/*") { $0[Watched.self] = 2 }
        let (source, flag) = (
            MutableSource(["flag": true], name: "flags"), PropertyKey<Bool>("flag", defaultValue: false)
        )
        return [
            Routine("copies", share: 2) { range in
                for _ in range { _ = Container(copying: root)[Watched.self] }
            },
            Routine("scopes with a rule", share: 5) { range in
                for index in range { _ = root.scope("/a/\(index)")[Watched.self] }
            },
            Routine("children with one mutable source") { range in
                for _ in range {
                    let child = root.child()
                    try child.apply(source)
                    _ = child[flag]
                }
            },
            Routine("scopes without one", share: 2) { range in
                for index in range { _ = root.scope("/b/\(index)")[Watched.self] }
            },
            Routine("roots") { range in
                for index in range {
                    let container = Container()
                    container[Watched.self] = index
                    _ = container[Single.self]
                }
            },
        ]
    }
}

// MARK: - Features

private final class Single: Feature, Sendable {
    static func load(in container: any FeatureContainer) -> Single {
        _ = container[Watched.self]
        return Single()
    }
}

/// Loaded from the former instance of its rival, which was loaded from its own.
private struct Heir: Feature {
    let number: Int

    static func load(in container: any FeatureContainer) -> Heir {
        Heir(number: (container as? Container)?.ifLoaded(Rival.self)?.number ?? 0)
    }
}

private struct Rival: Feature {
    let number: Int

    static func load(in container: any FeatureContainer) -> Rival { Rival(number: container[Heir.self].number + 1) }
}

private enum Failing: ThrowingFeature {
    struct Failure: Error {}

    static func load(in container: any FeatureContainer) throws -> Int {
        _ = container[Watched.self]
        throw Failure()
    }
}

private enum Remote: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Int { container[Watched.self] }
}

private final class Reloading: Feature, Sendable {
    static var reloadsWhenInputsChange: Bool { true }

    static func load(in container: any FeatureContainer) -> Reloading {
        _ = container[Watched.self]
        return Reloading()
    }
}

private final class Closing: Feature, Sendable {
    /// How many closers have run.
    static let closed = Atomic(0)

    static func load(in container: any FeatureContainer) -> Closing {
        container.onClose { closed.add(1, ordering: .relaxed) }
        return Closing()
    }
}
