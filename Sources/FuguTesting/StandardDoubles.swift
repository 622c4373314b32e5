public import Foundation
public import Fugu
import FuguFoundation

/// The key of ``Fugu/FeatureContainer/manualClock``.
public enum ManualClockFeature: Feature {
    /// A clock of its own for each family of containers.
    public static func load(in container: any FeatureContainer) -> ManualClock { ManualClock() }
}

extension FeatureContainer {
    /// The clock that ``useStandardDoubles(startingAt:seed:files:)`` puts in the place of the system's: it moves when it
    /// is told to.
    public var manualClock: ManualClock {
        get { self[ManualClockFeature.self] }
        set { self[ManualClockFeature.self] = newValue }
    }

    /// Swaps all features that come with Fugu and reach outside the process for doubles that behave the same each time.
    ///
    ///     @Suite(.container { $0.useStandardDoubles() })
    ///
    /// `clock`, `timestamp` and `date` follow ``manualClock``, which stands still until it is advanced. `randomness` is
    /// seeded, `uuid` counts up from zero, `fileAccess` and `keyValueStore` keep in memory, `environment` is empty,
    /// `locale` is `en_US_POSIX`, `timeZone` is GMT, and `calendar` follows those two. Set after it what is to differ.
    ///
    /// - Parameters:
    ///   - start: The seconds since 1970 that `timestamp` shows at the clock's zero.
    ///   - seed: What `randomness` begins with.
    ///   - files: What `fileAccess` holds at first, by absolute path.
    public func useStandardDoubles(startingAt start: Double = 0, seed: UInt64 = 0, files: [String: Data] = [:]) {
        replace(AnyClock.self) { AnyClock($0.manualClock) }
        replace(Timestamp.self) { container in
            let clock = container.manualClock
            return Timestamp { start + clock.now.offset / .seconds(1) }
        }
        self[Randomness.self] = .linearCongruential(withSeed: seed)
        self[UUIDGenerator.self] = .incrementing
        self[FileAccess.self] = .inMemory(files)
        self[KeyValueStore.self] = .inMemory
        self[ProcessEnvironment.self] = [:]
        self[LocaleFeature.self] = Locale(identifier: "en_US_POSIX")
        self[TimeZoneFeature.self] = .gmt
    }
}
