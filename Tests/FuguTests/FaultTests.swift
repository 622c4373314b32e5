import Foundation
import Fugu
import FuguInspection
import Support
import Testing

/// User code at the worst moment.
struct FaultTests {}

extension FaultTests {
    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Sum: Feature {
        static func load(in container: any FeatureContainer) -> Int { container[Number.self] + 100 }
    }

    @Test("A load that traps ends the process with its own words, though other threads wait for it (law 3)")
    func trappingLoad() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            let container = Container()
            let began = Gate()
            container.replace(Sum.self) { _ in
                began.wait()
                fatalError("the disk is full")
            }
            for _ in 0..<3 { startThread { _ = container[Sum.self] } }
            began.open()
            _ = container[Sum.self]
        }
        expectMessage(of: result, "the disk is full")
    }

    @Test("A load that sets its own key through a captured container gets what it has set (law 4)")
    func loadSetsItself() {
        let container = Container()
        let key = FeatureKey(id: UniqueID()) { [weak container] _ in
            container?[Number.self] = 1
            return 5
        }
        let own = FeatureKey(id: UniqueID()) { _ in 5 }
        container.replace({ _ in own }) { [weak container] _ in
            container?[own] = 7
            return 6
        }
        expect(container[key], equals: 5)
        expect(container[Number.self], equals: 1)
        expect(container[own], equals: 7)
        expect(container.ifLoaded { _ in own }, equals: 7)
    }

    @Test("Threads that a load starts read through its handle, during the load and after it (laws 5 and 11)")
    func loadStartsThreads() {
        let container = Container().unreported
        let child = container.child()
        child[Number.self] = 2
        let (ended, late) = (Gate(), Log<Int>())
        let threads = Log<Gate>()
        let key = FeatureKey(id: UniqueID()) { handle in
            threads.add(
                startThread {
                    ended.wait()
                    late.add(handle[Number.self])
                })
            let early = Log<Int>()
            onThreads(4) { _ in early.add(handle[Number.self] + handle[Sum.self]) }
            return early.all.reduce(0, +)
        }
        expect(child[key], equals: 4 * (2 + 102))
        child[Number.self] = 3
        ended.open()
        for thread in threads.all { thread.wait() }
        expect(late.all, equals: [3])
        // It read the child's number, and so lives there.
        expect(container.ifLoaded { _ in key } == nil)
    }

    @Test("An observer may close its container and wait for that (laws 9 and 18)")
    func observerCloses() async {
        let container = Container()
        let heard = Log<Int>()
        let closed = Counter()
        container.onClose { closed.add() }
        container.observe(Number.self) { [weak container] number in
            heard.add(number)
            guard number == 1, let container else { return }
            let over = Gate()
            Task.detached {
                try? await container.close()
                over.open()
            }
            over.wait()
            // Closed containers go on telling.
            container[Number.self] = 2
        }
        container.observe(Number.self) { heard.add($0 * 10) }
        // The closing needs a thread of the pool, which this test must not block.
        await startThread { container[Number.self] = 1 }.opened()
        expect(heard.all, equals: [1, 10, 2, 20])
        expect(closed.value, equals: 1)
        #expect(throws: LoadError.self) { try container[Refused.self] }
    }

    struct Refused: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { 0 }
    }

    @Test("An observer may drop the last reference to its container, whose round then ends in peace (laws 7 and 9)")
    func observerDrops() {
        let ended = Counter()
        let box = Locked<Container?>(Container())
        weak let gone = box.withLock { $0 }
        let heard = Log<String>()
        let witness = PropertyKey<Witness?>(defaultValue: nil, id: UniqueID())
        box.withLock { $0 }?[witness] = Witness { ended.add() }
        for name in ["first", "second"] {
            box.withLock { $0 }?.observe(Number.self) { number in
                heard.add("\(name) \(number)")
                let dropped = box.withLock { container in
                    defer { container = nil }
                    return container
                }
                dropped?[Number.self] = 2
            }
        }
        onAnotherThread { box.withLock { $0 }?[Number.self] = 1 }
        expect(heard.all, equals: ["first 1", "second 1", "first 2", "second 2"])
        expect(gone == nil)
        expect(ended.value, equals: 1)
    }

    @Test("A deinit that sets the key that its instance leaves, and others, does so once for each (law 7)")
    func deinitWrites() {
        let container = Container()
        let slot = PropertyKey<Witness?>(defaultValue: nil, id: UniqueID())
        let heard = Log<Int>()
        container.observe(Number.self) { heard.add($0) }
        container[slot] = Self.writer(3, container, slot)
        // Each is overwritten at once by the deinit of the one before.
        for _ in 0..<4 { container[slot] = Witness() }
        expect(container[slot] == nil)
        expect(container[Number.self], equals: 4)
        expect(heard.all, equals: [0, 1, 2, 3, 4])
        container[slot] = Self.writer(0, container, slot)
        container.update { $0[slot] = nil }
        container[slot] = Self.writer(0, container, slot)
        container.reset { _ in slot }
        expect(container[Number.self], equals: 6)
    }

    private static func writer(_ left: Int, _ container: Container, _ slot: PropertyKey<Witness?>) -> Witness {
        Witness { [weak container] in
            guard let container else { return }
            container[Number.self] += 1
            container[slot] = left > 0 ? writer(left - 1, container, slot) : nil
        }
    }

    /// Writes when it is compared, as often as it may.
    struct Writing: Equatable, Sendable {
        let number: Int
        let write: @Sendable () -> Void
        static func == (left: Self, right: Self) -> Bool {
            left.write()
            right.write()
            return left.number == right.number
        }
    }

    @Test("An == that sets its own key while that is being set changes it first; the outer set stays (law 9)")
    func equalityWrites() {
        let container = Container()
        let key = PropertyKey(defaultValue: Writing(number: 0) {}, id: UniqueID())
        let heard = Log<Int>()
        container[key] = Writing(number: 0) {}
        container.observe({ _ in key }) { heard.add($0.number) }
        let left = Counter()
        left.add(3)
        container[key] = Writing(number: 1) { [weak container] in
            guard left.value > 0 else { return }
            left.add(-1)
            container?[key] = Writing(number: 10 + left.value) {}
        }
        expect(container[key].number, equals: 1)
        expect(heard.all.last, equals: 1)
        expect(Set(heard.all).isSubset(of: [0, 1, 10, 11, 12]))
        expect(left.value < 3)
        container.update { handle in
            handle[key] = Writing(number: 2) { [weak container] in container?[Number.self] = 5 }
        }
        expect(container[key].number, equals: 2)
        expect(container[Number.self], equals: 5)
    }

    @Test("A stack of 512 KB has room for every operation, in a load that stands on forty others (laws 5 and 20)")
    func smallStack() {
        let done = Counter()
        startThread(stackSize: 512 << 10) {
            let container = Container().unreported
            let child = container.child()
            let heard = Counter()
            child.observe(Number.self) { _ in heard.add() }
            var keys: [FeatureKey<Int>] = []
            for level in 0..<40 {
                let below = keys.last
                keys.append(
                    FeatureKey(reloadsWhenInputsChange: level.isMultiple(of: 2), id: UniqueID()) { handle in
                        if let below { return handle[below] + 1 }
                        let grandchild = child.child()
                        grandchild.update { $0[Number.self] = 3 }
                        grandchild.modify(Number.self) { $0 += 1 }
                        child[Number.self] = 9
                        return handle[Number.self] + grandchild[Sum.self]
                    })
            }
            precondition(child[keys[39]] == 39 + 104 || child[keys[39]] == 39 + 113)
            container[Number.self] = 1
            child.reset(Number.self)
            _ = child[keys[39]]
            _ = child.graph
            _ = Container(copying: child)[keys[39]]
            precondition(heard.value >= 2)
            done.add()
        }.wait()
        expect(done.value, equals: 1)
    }
}
