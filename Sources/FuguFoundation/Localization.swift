public import Foundation
public import Fugu

// Foundation's types aren't features themselves, because `Locale.load(in:)` would appear in every program that
// imports this module. Each has its own key instead.

/// The feature behind ``Fugu/FeatureContainer/locale``.
public enum LocaleFeature: Feature, External {
    /// Returns the user's locale, which follows the settings.
    ///
    /// - Parameter container: The handle of the load.
    /// - Returns: The locale.
    public static func load(in container: any FeatureContainer) -> Locale { .autoupdatingCurrent }

    /// The locale `en_US_POSIX`, which is the same on every machine.
    public static var placeholder: Locale { Locale(identifier: "en_US_POSIX") }
}

/// The feature behind ``Fugu/FeatureContainer/timeZone``.
public enum TimeZoneFeature: Feature, External {
    /// Returns the system's time zone, which follows the settings.
    ///
    /// - Parameter container: The handle of the load.
    /// - Returns: The time zone.
    public static func load(in container: any FeatureContainer) -> TimeZone { .autoupdatingCurrent }

    /// Greenwich Mean Time.
    public static var placeholder: TimeZone { .gmt }
}

/// The feature behind ``Fugu/FeatureContainer/calendar``.
public enum CalendarFeature: Feature {
    /// Returns the calendar of the container's locale, in the container's time zone.
    ///
    /// - Parameter container: The handle of the load.
    /// - Returns: The calendar.
    public static func load(in container: any FeatureContainer) -> Calendar {
        let locale = container.locale
        var calendar = locale.calendar
        calendar.locale = locale
        calendar.timeZone = container.timeZone
        return calendar
    }

    /// The value `true`: the calendar follows a new locale or time zone.
    public static var reloadsWhenInputsChange: Bool { true }
}

extension FeatureContainer {
    /// The user's locale.
    ///
    /// In a test, set a fixed one, such as `Locale(identifier: "en_US_POSIX")`.
    public var locale: Locale {
        get { self[LocaleFeature.self] }
        set { self[LocaleFeature.self] = newValue }
    }

    /// The system's time zone.
    ///
    /// In a test, set a fixed one, such as `.gmt`.
    public var timeZone: TimeZone {
        get { self[TimeZoneFeature.self] }
        set { self[TimeZoneFeature.self] = newValue }
    }

    /// The user's calendar.
    ///
    /// The default follows ``locale`` and ``timeZone``.
    public var calendar: Calendar {
        get { self[CalendarFeature.self] }
        set { self[CalendarFeature.self] = newValue }
        _modify { yield &self[CalendarFeature.self] }
    }
}
