public import Fugu
import Foundation

/// The variables of the process's environment, as a value: `container.environment["HOME"]`.
///
/// ```swift
/// container.environment = ["HOME": "/home/ada"]
/// ```
public struct ProcessEnvironment: ExternalFeature, Hashable, Sendable, ExpressibleByDictionaryLiteral,
    CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    /// All variables by name.
    public var variables: [String: String]

    /// An environment with these variables.
    public init(_ variables: [String: String]) {
        self.variables = variables
    }

    /// An environment with these variables; of a name given twice the last value counts, as in a shell.
    public init(dictionaryLiteral variables: (String, String)...) {
        self.variables = Dictionary(variables) { $1 }
    }

    /// The variable's value, or `nil` where it is not set. An empty value is not `nil`.
    public subscript(name: String) -> String? {
        get { variables[name] }
        set { variables[name] = newValue }
    }

    /// How many variables there are; their values may be secrets and are not told.
    public var description: String { "ProcessEnvironment(\(variables.count) variables)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror that shows the names of the variables without their values.
    public var customMirror: Mirror { Mirror(self, children: ["names": variables.keys.sorted()]) }

    /// The variables of this process as they are now; later changes do not show.
    public static var current: ProcessEnvironment {
        ProcessEnvironment(ProcessInfo.processInfo.environment)
    }

    /// The variables of this process at the first read.
    public static func load(in container: any FeatureContainer) -> ProcessEnvironment { .current }

    /// No variables at all.
    public static var placeholder: ProcessEnvironment { [:] }
}

extension FeatureContainer {
    /// The variables of the process's environment.
    public var environment: ProcessEnvironment {
        get { self[ProcessEnvironment.self] }
        set { self[ProcessEnvironment.self] = newValue }
    }
}
