import Foundation
import Support
import Testing

@testable import Fugu

// The internals that tests need: which load a thread or task waits for, and whether closers are running. Only here.
extension Container {
    /// Returns when `count` tasks wait for loads of the feature that are under way in this family.
    func untilWaiting<F: AsyncFeature>(for feature: F.Type, _ count: Int) async {
        await untilWaiting(Key(raw: Key.asyncFeature(feature)), count)
    }

    /// Returns when `count` threads wait for loads of the feature that are under way in this family.
    func untilWaiting<F: ThrowingFeature>(for feature: F.Type, _ count: Int) async {
        await untilWaiting(Key(raw: Key.throwingFeature(feature)), count)
    }

    /// The number of instances that the operation of the container keeps open.
    var keptReads: Int {
        node.family.lock.withLock { token in node.storage[token].rare?.closing.reads.value.count ?? 0 }
    }

    private func untilWaiting(_ key: Key, _ count: Int) async {
        let family = node.family
        while true {
            let waiting = family.lock.withLock { token in
                let loads = family.record(token, of: key)?.loads.all.compactMap(\.load) ?? []
                return loads.reduce(0) { $0 + ($1.state[token].rare?.waiters.count ?? 0) }
            }
            if waiting >= count { return }
            await Task.yield()
        }
    }

    /// Returns when the container, which it doesn't keep, was released.
    var untilReleased: @Sendable () async -> Void {
        { [node] in while !node.family.lock.withLock({ node.isEnded($0) }) { await Task.yield() } }
    }

    /// The time that identifies the feature's instance, which no other instance has.
    func identity<F: AsyncFeature>(of feature: F.Type) -> UInt64 {
        let node = node
        return node.family.lock.withLock { token in node.time(token, of: Key(raw: Key.asyncFeature(feature))) }
    }

    /// How many loads are under way in this family.
    var loadsUnderWay: Int {
        let family = node.family
        return family.lock.withLock { token in family.loads(token).count }
    }

    /// Returns when no closer of an instance that left early is under way; what has not run by then was not begun.
    func untilClosersRan() async {
        let root = node.ancestor(at: 0)
        while root.family.lock.withLock({ token in
            root.subtree(token).contains { $0.storage[token].rare?.closing.runs.isEmpty == false }
        }) {
            await Task.yield()
        }
    }

    /// Returns the lifetime of an instance with some closers, made from another one.
    func lifetime(_ closers: [Closer], _ input: Lifetime?) -> Lifetime {
        let (node, key) = (node, Key(raw: Key.feature(Instance.self)))
        return node.family.lock.withLock { token in
            Lifetime(token, key, home: node, closers: closers, uses: input.map { [$0] } ?? [])
        }
    }
    private struct Instance: Feature { static func load(in container: any FeatureContainer) -> Int { 0 } }

    /// Returns when the container, or the one it belongs to, has begun to close.
    func untilClosing() async {
        while true {
            let node = node
            let isOpen = node.family.lock.withLock { token in !node.storage[token].isRefusing }
            if !isOpen { return }
            await Task.yield()
        }
    }

    /// Returns when so many calls of `close()` wait for another one.
    func untilClosersWait(_ count: Int) async {
        while true {
            let node = node
            let waiting = node.family.lock.withLock { token in
                node.storage[token].rare?.closing.idleWaiters.count ?? 0
            }
            if waiting >= count { return }
            await Task.yield()
        }
    }
}

/// Runs `body` on a separate thread, not one of the cooperative pool, which it may block.
func onThread<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
    await withCheckedContinuation { continuation in
        let thread = Thread { continuation.resume(returning: body()) }
        thread.start()
    }
}

/// Starts a task that runs on this thread until it suspends.
func startAtOnce<R: Sendable>(_ body: @escaping @Sendable () async -> R) -> Task<R, Never> {
    .start(atOnce: true) { await body() }
}

/// Gives the processor to others for a moment, on a thread that may be blocked.
func pause() { Thread.sleep(forTimeInterval: 0.001) }

extension FeatureContainer {
    var stage: Stage { self[StageProperty.self] }
}

/// Something with an identity.
final class Thing: Sendable, CustomStringConvertible {
    let name: String
    let parts: [Thing]
    private let onEnd: @Sendable () -> Void

    init(_ name: String = "thing", parts: [Thing] = [], onEnd: @escaping @Sendable () -> Void = {}) {
        self.name = name
        self.parts = parts
        self.onEnd = onEnd
    }

    deinit { onEnd() }

    var description: String { name }
}

/// A value that a child may set, so that features that read it become its own.
enum Tenant: Property {
    static var defaultValue: String { "root" }
}
