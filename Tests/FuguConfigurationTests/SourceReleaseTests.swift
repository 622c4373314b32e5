// The optimizer of Swift 6.3.1 crashes on this target where these tests are in it.
#if DEBUG || UNOPTIMIZED
import Fugu
import FuguConfiguration
import Support
import Testing

// Law 4: no lock that others can meet is held while user code runs, the deinit of what a source releases included.
@Suite("What a mutable source releases may use it (law 4)", .timeLimit(.minutes(5))) struct SourceReleaseTests {}

extension SourceReleaseTests {
    @Test("An observer of a source that ends may read, write and observe the source as it goes (law 4)")
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

    @Test("A container that goes may be notified of changes of its source on another thread (laws 4 and 8)")
    func container() async throws {
        try await finishing {
            let source = MutableSource(["law04.number": 1], name: "source")
            let key = PropertyKey("law04.number", defaultValue: 0)
            let ended = Counter()
            let changing = startThread {
                var number: Int64 = 0
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
