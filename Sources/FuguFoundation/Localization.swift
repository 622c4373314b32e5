public import Foundation
public import Fugu

// Foundation's types are no features themselves: `Locale.load(in:)` would appear in every program that imports this
// module. Each has a key of its own instead.

/// The key of ``Fugu/FeatureContainer/locale``.
public enum LocaleFeature: ExternalFeature {
    /// The user's locale, following changes of the settings.
    public static func load(in container: any FeatureContainer) -> Locale { .autoupdatingCurrent }

    /// `en_US_POSIX`, the same on every machine.
    public static var placeholder: Locale { Locale(identifier: "en_US_POSIX") }
}

/// The key of ``Fugu/FeatureContainer/timeZone``.
public enum TimeZoneFeature: ExternalFeature {
    /// The system's time zone, following changes of the settings.
    public static func load(in container: any FeatureContainer) -> TimeZone { .autoupdatingCurrent }

    /// Greenwich Mean Time.
    public static var placeholder: TimeZone { .gmt }
}

/// The key of ``Fugu/FeatureContainer/calendar``.
public enum CalendarFeature: Feature {
    /// The calendar of the container's locale, in the container's time zone.
    public static func load(in container: any FeatureContainer) -> Calendar {
        let locale = container.locale
        var calendar = locale.calendar
        calendar.locale = locale
        calendar.timeZone = container.timeZone
        return calendar
    }

    /// A new locale or time zone makes a new calendar.
    public static var reloadsWhenInputsChange: Bool { true }
}

extension FeatureContainer {
    /// The user's locale. A test sets a fixed one: `Locale(identifier: "en_US_POSIX")`.
    public var locale: Locale {
        get { self[LocaleFeature.self] }
        set { self[LocaleFeature.self] = newValue }
    }

    /// The system's time zone. A test sets a fixed one: `.gmt`.
    public var timeZone: TimeZone {
        get { self[TimeZoneFeature.self] }
        set { self[TimeZoneFeature.self] = newValue }
    }

    /// The user's calendar. Unless it is set it follows ``locale`` and ``timeZone``.
    public var calendar: Calendar {
        get { self[CalendarFeature.self] }
        set { self[CalendarFeature.self] = newValue }
    }
}
