@testable import FuguConfiguration

/// A document that parses must print, and parse to the same again; one that doesn't must name the place.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSON(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    do throws(PropertyError) {
        let value = try PropertyValue(json: bytes, name: "fuzz")
        let again = try PropertyValue(json: bytes, name: "fuzz")
        precondition(value.description == again.description)
        let snapshot = try JSONSource(bytes: bytes, name: "fuzz").load()
        for error in snapshot.unknownNames(known: ["a", "a.b"]) { precondition(!error.description.isEmpty) }
    } catch {
        precondition(error.source == "fuzz" && (error.line ?? 1) > 0 && (error.column ?? 1) > 0)
        precondition(!error.description.isEmpty)
    }
    return 0
}
