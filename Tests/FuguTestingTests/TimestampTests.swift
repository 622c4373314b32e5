import Fugu
import FuguTesting
import Support
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

struct TimestampTests {
    #if canImport(Darwin) || canImport(Glibc) || canImport(Musl) || canImport(Android)
    @Test("The system's timestamp counts seconds since 1970")
    func system() {
        let before = Double(time(nil))
        let now = Container.program().timestamp.now
        let after = Double(time(nil)) + 1
        // The coarse clock behind time() may lag by a tick.
        expect((before - 0.1...after + 0.1).contains(now))
    }
    #endif

    @Test("A constant timestamp is set by its name or its type")
    func sets() {
        let container = Container()
        container.timestamp = .constant(12.5)
        expect(container.timestamp.now, equals: 12.5)
        expect(container.timestamp.now, equals: 12.5)
        container.timestamp = .constant(-1)
        expect(container.timestamp.now, equals: -1)
    }

    @Test("A timestamp that follows a manual clock moves when the clock moves, from its own start")
    func follows() {
        let clock = ManualClock()
        clock.move(by: .seconds(100))
        let timestamp = Timestamp.following(clock, from: 1_000)
        expect(timestamp.now, equals: 1_000)
        clock.move(by: .milliseconds(1_500))
        expect(timestamp.now, equals: 1_001.5)
    }

    @Test("A timestamp of one's own is read at every read")
    func custom() {
        let reads = Locked(0.0)
        let timestamp = Timestamp {
            reads.withLock { reads in
                reads += 1
                return reads
            }
        }
        expect([timestamp.now, timestamp.now, timestamp.now], equals: [1, 2, 3])
    }

    @Test("The placeholder stands at the start of 1970")
    func placeholder() {
        let container = Container()
        container.makeStrict(Strictness { _ in })
        expect(container.timestamp.now, equals: 0)
    }

    @Test("@Injected reads the standard features by key path")
    func injected() {
        struct Reader {
            @Injected(\.timestamp) var timestamp
            @Injected(\.clock) var clock
            @Injected(\.randomness) var randomness
        }
        let read = Container.with {
            $0.timestamp = .constant(7)
            $0.clock = AnyClock(ManualClock())
            $0.randomness = .constant(9)
        } operation: {
            let reader = Reader()
            return (reader.timestamp.now, reader.clock.now.offset, reader.randomness.next())
        }
        expect(read == (7, .zero, 9))
    }
}
