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
import ucrt
#endif

/// Determines whether the process runs for an Xcode preview.
@usableFromInline enum PreviewRun {
    @usableFromInline static let isOn =
        unsafe getenv("XCODE_RUNNING_FOR_PREVIEWS").map { unsafe String(cString: $0) } == "1"

    /// Returns what is declared for the preview of a feature that can't throw, if anything is.
    @usableFromInline static func make(_ definition: KeyDefinition) -> Payload? {
        do { return try definition.makePreview() } catch { fatalError("\(error)") }
    }
}
