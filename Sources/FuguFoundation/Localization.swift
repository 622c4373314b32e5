public import Foundation
public import Fugu

extension ContainerKeys {
    /// The user's locale, which follows the settings.
    ///
    /// In a test, set a fixed one, such as `Locale(identifier: "en_US_POSIX")`. That one is also the placeholder, since it's the
    /// same on every machine.
    public var locale: FeatureKey<Locale> {
        .init(placeholder: { Locale(identifier: "en_US_POSIX") }) { _ in .autoupdatingCurrent }
    }

    /// The system's time zone, which follows the settings.
    ///
    /// In a test, set a fixed one, such as `.gmt`, which is also the placeholder.
    public var timeZone: FeatureKey<TimeZone> { .init(placeholder: { .gmt }) { _ in .autoupdatingCurrent } }

    /// The user's calendar: that of the container's ``locale``, in its ``timeZone``, also when these are set later.
    public var calendar: FeatureKey<Calendar> {
        .init(reloadsWhenInputsChange: true) { container in
            let locale = container.locale
            var calendar = locale.calendar
            calendar.locale = locale
            calendar.timeZone = container.timeZone
            return calendar
        }
    }
}
