#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(WASILibc)
import WASILibc
#elseif canImport(WinSDK)
import WinSDK
#endif

/// The time of day: seconds since 1970, as the system's clock shows them.
///
/// It jumps when someone sets the clock. To measure or to wait, use ``AnyClock``.
///
/// ```swift
/// let started = container.timestamp.now
/// container.timestamp = .constant(1_000_000)
/// ```
public struct Timestamp: Sendable {
    private let read: @Sendable () -> Double

    /// Creates a timestamp from a closure.
    ///
    /// - Parameter read: A closure that returns the seconds since 1970-01-01 00:00:00 UTC. It's called at every read, on the
    ///   reader's thread.
    public init(_ read: @escaping @Sendable () -> Double) {
        self.read = read
    }

    /// The seconds since 1970-01-01 00:00:00 UTC, without leap seconds.
    public var now: Double { read() }

    /// The system's clock.
    public static let system = Timestamp { systemTime() }

    /// Returns a timestamp that stands still.
    ///
    /// - Parameter seconds: The seconds since 1970.
    /// - Returns: The timestamp.
    public static func constant(_ seconds: Double) -> Timestamp {
        Timestamp { seconds }
    }

    /// Returns a timestamp that moves with a clock.
    ///
    /// With a `ManualClock` of FuguTesting, you move sleeping tasks and the time of day together.
    ///
    /// - Parameters:
    ///   - clock: The clock.
    ///   - start: The seconds since 1970 at this call.
    /// - Returns: The timestamp.
    public static func following(_ clock: some Clock<Duration>, from start: Double = 0) -> Timestamp {
        let clock = AnyClock(clock)
        let origin = clock.now
        return Timestamp { start + origin.duration(to: clock.now) / .seconds(1) }
    }
}

extension ContainerKeys {
    /// The time of day: that of the system's clock.
    ///
    /// The placeholder fails the test that reads it, and gives the start of 1970.
    public var timestamp: FeatureKey<Timestamp> {
        .init(
            placeholder: { Timestamp(unimplemented("timestamp.now", placeholder: 0)) }, preview: { _ in .constant(0) }
        ) { _ in .system }
    }
}

private func systemTime() -> Double {
    #if canImport(WinSDK)
    var time = FILETIME()
    GetSystemTimePreciseAsFileTime(&time)
    // The unit is 100 ns since 1601, which is 11,644,473,600 seconds before 1970.
    let ticks = UInt64(time.dwHighDateTime) << 32 | UInt64(time.dwLowDateTime)
    return Double(ticks) / 10_000_000 - 11_644_473_600
    #else
    var time = timespec()
    #if canImport(WASILibc)
    timespec_get(&time, TIME_UTC)  // On this platform, CLOCK_REALTIME is a macro that Swift can't import.
    #else
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    #endif
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
    #endif
}
