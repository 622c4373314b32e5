// compiler: error: type 'Mail' does not conform to the 'Sendable' protocol
// Cure: write `public struct Mail: Feature, Sendable`; the compiler infers Sendable only for types that are not public.

import Fugu

/// Sends letters.
public struct Mail: Feature {
    /// Where they go.
    public var address = ""
    /// Creates one.
    public static func load(in container: any FeatureContainer) -> Mail { Mail() }
}
