import CHeap
import Foundation
import Fugu

/// Chains of features, each loaded from the one before, from the bottom up and on a small stack.
enum Chains {
    private static let sizes = [12_500, 25_000, 50_000, 100_000]
    private static let kept = chain(reloads: false)
    private static let reloading = chain(reloads: true)

    static var courses: [Course] { loads + looks + changes }

    private static var loads: [Course] {
        [
            course("chain: loaded bottom up") { n in
                let container = Container()
                return seconds { load(kept, n, in: container) }
            },
            course("chain: released") { n in release(kept, n) },
            course("reloading chain: loaded bottom up") { n in
                let container = Container()
                return seconds { load(reloading, n, in: container) }
            },
            course("reloading chain: released") { n in release(reloading, n) },
        ]
    }

    private static var looks: [Course] {
        [
            course("chain: looked at by a child that overrides the bottom") { n in
                let child = overridingChild(n)
                return seconds { precondition(child.ifLoaded(kept[n - 1]) == nil) }
            },
            course("chain: graph of a child that overrides the bottom") { n in
                let child = overridingChild(n)
                return seconds { precondition(child.graph.entries.count > n) }
            },
            course("chain: loaded anew by a child that overrides the bottom") { n in
                let child = overridingChild(n)
                return seconds { load(kept, n, in: child) }
            },
        ]
    }

    private static var changes: [Course] {
        [
            course("chain: bottom set") { n in
                let container = loaded(kept, n)
                return seconds { container[Bottom.self] = 2 }
            },
            course("chain: first feature reset") { n in
                let container = loaded(kept, n)
                return seconds { container.reset(kept[0]) }
            },
            course("reloading chain: bottom set") { n in
                let container = loaded(reloading, n)
                return seconds { container[Bottom.self] = 2 }
            },
            course("reloading chain: bottom set, loaded anew") { n in
                let container = loaded(reloading, n)
                return seconds {
                    container[Bottom.self] = 2
                    load(reloading, n, in: container)
                }
            },
        ]
    }

    /// Returns the bytes that a reloading chain of 4,000 takes, and the seconds to load and drop it.
    static func short() async -> (bytes: Int, seconds: Double) {
        await onSmallStack {
            // Load once before measuring, because the process registers a key at its first use.
            _ = loaded(reloading, 4_000)
            let before = heap_bytes_in_use()
            let container = Container()
            let time = seconds { load(reloading, 4_000, in: container) }
            let bytes = Int(heap_bytes_in_use()) - Int(before)
            return (bytes, time + seconds { container[Bottom.self] = 2 })
        }
    }
}

extension Chains {
    private static func chain(reloads: Bool) -> [FeatureKey<Int>] {
        var keys: [FeatureKey<Int>] = []
        for index in 0..<100_000 {
            let before = keys.last
            keys.append(
                FeatureKey(reloadsWhenInputsChange: reloads, id: [index, reloads ? 1 : 0]) { container in
                    guard let before else { return container[Bottom.self] }
                    return container[before] + 1
                })
        }
        return keys
    }

    private static func load(_ keys: [FeatureKey<Int>], _ n: Int, in container: Container) {
        for key in keys.prefix(n) { _ = container[key] }
    }

    private static func loaded(_ keys: [FeatureKey<Int>], _ n: Int) -> Container {
        let container = Container()
        load(keys, n, in: container)
        return container
    }

    private static func overridingChild(_ n: Int) -> Container {
        let child = loaded(kept, n).child()
        child[Bottom.self] = 100
        return child
    }

    private static func release(_ keys: [FeatureKey<Int>], _ n: Int) -> Double {
        var container: Container? = loaded(keys, n)
        return seconds {
            precondition(container != nil)
            container = nil
        }
    }

    private static func course(_ name: String, _ seconds: @escaping @Sendable (Int) -> Double) -> Course {
        Course(name, sizes: sizes) { n in await onSmallStack { seconds(n) } }
    }
}

/// Runs `body` on a thread with a stack of 512 KB.
private func onSmallStack<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
    await withCheckedContinuation { continuation in
        let thread = Thread { continuation.resume(returning: body()) }
        thread.stackSize = 512 << 10
        thread.start()
    }
}

private enum Bottom: Property {
    static let defaultValue = 1
}
