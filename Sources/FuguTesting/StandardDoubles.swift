public import Foundation
public import Fugu
import FuguFoundation

/// The feature behind ``Fugu/FeatureContainer/manualClock``.
public enum ManualClockFeature: Feature {
    /// Returns a new clock, one for each family of containers.
    ///
    /// - Parameter container: The handle of the load.
    /// - Returns: The clock.
    public static func load(in container: any FeatureContainer) -> ManualClock { ManualClock() }
}

extension FeatureContainer {
    /// The clock that ``useStandardDoubles(startingAt:seed:files:)`` puts in place of the system's clock.
    ///
    /// It moves only when you advance it.
    public var manualClock: ManualClock {
        get { self[ManualClockFeature.self] }
        set { self[ManualClockFeature.self] = newValue }
    }

    /// Sets all external features that come with Fugu to doubles that always behave the same.
    ///
    ///     @Suite(.container { $0.useStandardDoubles() })
    ///
    /// `clock`, `timestamp`, and `date` follow ``manualClock``, which stands still until you advance it. `randomness`
    /// is seeded, `uuid` counts up from zero, `fileAccess` and `keyValueStore` keep in memory, `environment` is empty,
    /// `locale` is `en_US_POSIX`, `timeZone` is GMT, and `calendar` follows those two. Set others after this
    /// call.
    ///
    /// - Parameters:
    ///   - start: The seconds since 1970 that `timestamp` shows at the clock's zero.
    ///   - seed: The seed of `randomness`.
    ///   - files: The files in `fileAccess`, by absolute path.
    public func useStandardDoubles(startingAt start: Double = 0, seed: UInt64 = 0, files: [String: Data] = [:]) {
        replace(ErasedClock.self) { ErasedClock($0.manualClock) }
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
