import Fugu
import FuguConfiguration
import Support
import Testing

@Suite("The update of a mutable source: what its closure may do (law 3)", .timeLimit(.minutes(5)))
struct SourceUpdateTests {}

extension SourceUpdateTests {
    private static var key: PropertyKey<Int> { .init("law04.update", defaultValue: 0) }

    @Test("A container that applied the source may be released inside (laws 3 and 7)")
    func release() async {
        await #expect(processExitsWith: .success) {
            ThisProcess.mustEndSoon()
            let source = MutableSource(["law04.update": 1], name: "source")
            let container = Locked<Container?>(Container())
            try container.withLock { $0! }.apply(source)
            precondition(container.withLock { $0! }[Self.key] == 1)
            source.update { values in
                let last = container.withLock { $0.take() }
                precondition(last != nil)
                _ = consume last
                values["law04.update"] = 2
            }
            precondition(source["law04.update"] == 2)
        }
    }

    @Test("Reads, a reload, and a new registration inside see the former values (laws 3 and 6)")
    func reads() async {
        await #expect(processExitsWith: .success) {
            ThisProcess.mustEndSoon()
            let source = MutableSource(["law04.update": 1], name: "source")
            let (container, other) = (Container(), Container())
            try container.apply(source)
            precondition(container[Self.key] == 1)
            source.update { values in
                values["law04.update"] = 2
                precondition(source["law04.update"] == 1)
                do {
                    try container.reload()
                    try other.apply(source)
                } catch { preconditionFailure("\(error)") }
                precondition(container[Self.key] == 1 && other[Self.key] == 1)
                source.observeChanges {}?()
                // Another thread reads meanwhile, too.
                precondition(onAnotherThread { source["law04.update"] } == 1)
            }
            precondition(container[Self.key] == 2 && other[Self.key] == 2)
        }
    }

    @Test("An update of the same source inside stops the program with a message (law 6)")
    func nested() async {
        let inSubscript = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            let source = MutableSource(name: "flags")
            source.update { _ in source["a"] = 1 }
        }
        expectMessage(of: inSubscript, "the source flags", "closure receives")
        let inUpdate = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            let source = MutableSource(name: "flags")
            source.update { _ in source.update { $0["a"] = 1 } }
        }
        expectMessage(of: inUpdate, "the source flags", "closure receives")
    }

    @Test("Another source may be changed inside, and what it tells may change this one afterward (laws 3 and 9)")
    func others() {
        let (source, other) = (MutableSource(name: "source"), MutableSource(name: "other"))
        source.update { values in
            other["a"] = 1
            values["a"] = other["a"]
        }
        expect(source["a"] == 1)
        let changes = Counter()
        let end = source.observeChanges { if changes.add() == 1 { source["b"] = 2 } }
        source["a"] = 3
        expect(source["b"] == 2)
        end?()
    }

    @Test("Updates on many threads wait for each other, so that none is lost (law 6)")
    func exclusive() {
        let source = MutableSource(["n": 0], name: "source")
        onThreads(4) { _ in
            for _ in 0..<500 {
                source.update { values in
                    if case .integer(let number)? = values["n"] { values["n"] = .integer(number + 1) }
                }
            }
        }
        expect(source["n"] == 2_000)
    }
}

// The optimizer of Swift 6.3.1 crashes on this target where these tests are in it.
#if DEBUG || UNOPTIMIZED
// Law 3: no lock that others can meet is held while user code runs, the deinit of what a source releases included.
@Suite("What a mutable source releases may use it (law 3)", .timeLimit(.minutes(5))) struct SourceReleaseTests {}

extension SourceReleaseTests {
    @Test("An observer of a source that ends may read, write and observe the source as it goes (law 3)")
    func observer() async {
        await #expect(processExitsWith: .success) {
            ThisProcess.mustEndSoon()
            let source = MutableSource(["a": 1], name: "source")
            let ended = Counter()
            let end = source.observeChanges {
                [
                    held = Witness {
                        precondition(source["a"] == 1)
                        source["b"] = 2
                        source.observeChanges {}?()
                        ended.add()
                    }
                ] in withExtendedLifetime(held) {}
            }
            end?()
            precondition(ended.value == 1)
        }
    }

    @Test("A container that goes may be notified of changes of its source on another thread (laws 3 and 7)")
    func container() async throws {
        try await finishing {
            let source = MutableSource(["law04.number": 1], name: "source")
            let key = PropertyKey("law04.number", defaultValue: 0)
            let ended = Counter()
            let changing = startThread {
                var number: Int128 = 0
                while ended.value == 0 {
                    number += 1
                    source["law04.number"] = .integer(number)
                }
            }
            for _ in 0..<300 {
                let container = Container()
                do { try container.apply(source) } catch { Issue.record(error) }
                container.observe({ _ in key }) { _ in _ = source["law04.number"] }
                _ = container[key]
            }
            ended.add()
            changing.wait()
        }
    }
}
#endif
