public import Foundation
public import Fugu
import FuguFoundation

extension ContainerKeys {
    /// The clock that ``Fugu/FeatureContainer/useStandardDoubles(startingAt:seed:files:)`` puts in place of the system's clock, one
    /// for each family of containers.
    ///
    /// It moves only when you advance it.
    public var manualClock: FeatureKey<ManualClock> {
        .init { _ in
            let clock = ManualClock()
            // The doubles are to follow it, even if a test reads none of them.
            _ = clock.now
            return clock
        }
    }
}

extension FeatureContainer {
    /// Sets all external features that come with Fugu to doubles that always behave the same.
    ///
    ///     @Suite(.container { $0.useStandardDoubles() })
    ///
    /// `clock` and `date` follow `manualClock`, which stands still until you advance it. `randomness` is
    /// seeded, `uuid` counts up from zero, `fileAccess` and `keyValueStore` keep in memory, `environment` is empty,
    /// `locale` is `en_US_POSIX`, `timeZone` is GMT, and `calendar` follows those two. Set others after this
    /// call.
    ///
    /// - Parameters:
    ///   - start: The date at the clock's zero.
    ///   - seed: The seed of `randomness`.
    ///   - files: The files in `fileAccess`, by absolute path.
    public func useStandardDoubles(
        startingAt start: Date = Date(timeIntervalSince1970: 0), seed: UInt64 = 0, files: [String: Data] = [:]
    ) {
        replace(\.clock) { AnyClock($0.manualClock) }
        replace(\.date) { container in
            let clock = container.manualClock
            return DateGenerator { start + clock.now.offset / .seconds(1) }
        }
        self.randomness = .linearCongruential(withSeed: seed)
        self.uuid = .incrementing
        self.fileAccess = .inMemory(files)
        self.keyValueStore = .inMemory
        self.environment = [:]
        self.locale = Locale(identifier: "en_US_POSIX")
        self.timeZone = .gmt
    }
}
