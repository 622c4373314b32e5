public import Foundation
public import Fugu

/// The variables of the process's environment as a value: `container.environment["HOME"]`.
///
/// ```swift
/// container.environment = ["HOME": "/home/ada"]
/// ```
public struct ProcessEnvironment: Hashable, Sendable, ExpressibleByDictionaryLiteral,
    CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    /// The values of all variables, by name.
    public var variables: [String: String]

    /// Creates an environment.
    ///
    /// - Parameter variables: The values of the variables, by name.
    public init(_ variables: [String: String]) {
        self.variables = variables
    }

    /// Creates an environment from a dictionary literal.
    ///
    /// If a name appears twice, the last value counts, as in a shell.
    ///
    /// - Parameter variables: The names and values.
    public init(dictionaryLiteral variables: (String, String)...) {
        self.variables = Dictionary(variables) { $1 }
    }

    /// The value of a variable, or `nil` if the variable isn't set.
    ///
    /// An empty value isn't `nil`.
    ///
    /// - Parameter name: The name of the variable.
    public subscript(name: String) -> String? {
        get { variables[name] }
        set { variables[name] = newValue }
    }

    /// The number of variables.
    ///
    /// Their values may be secrets and aren't shown.
    public var description: String { "ProcessEnvironment(\(variables.count) variables)" }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// A mirror that shows the names of the variables without their values.
    public var customMirror: Mirror { Mirror(self, children: ["names": variables.keys.sorted()]) }

    /// The variables of this process at this moment.
    public static var current: ProcessEnvironment {
        ProcessEnvironment(ProcessInfo.processInfo.environment)
    }
}

extension ContainerKeys {
    /// The variables of the process's environment, as they are at the first read.
    ///
    /// The placeholder is an environment without variables.
    public var environment: FeatureKey<ProcessEnvironment> { .init(placeholder: { [:] }) { _ in .current } }
}

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
