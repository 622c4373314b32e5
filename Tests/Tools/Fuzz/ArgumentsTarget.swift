@testable import FuguConfiguration

/// Lines are arguments.
///
/// Each is also asked for by its own name, as everything that text can be parsed to.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzArguments(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    let arguments = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard let snapshot = try? ArgumentsSource(arguments).load() else { return 0 }
    for argument in arguments.prefix(8) {
        let name = argument.drop { $0 == "-" }.prefix { $0 != "=" }
        guard let value = snapshot.value(named: String(name)) else { continue }
        _ = try? value.decode(Int.self)
        _ = try? value.decode(Bool.self)
        _ = try? value.decode(Double.self)
        _ = try? value.decode([UInt8].self)
        _ = try? value.decode([String: Int].self)
        _ = try? value.decode(Duration.self)
        _ = try? value.decode(OffsetDateTime.self)
        // A flag without a value is a truth value and nothing else.
        precondition((try? value.decode(String.self)) != nil || (try? value.decode(Bool.self)) != nil)
    }
    for error in snapshot.unknownNames(known: ["api.timeout"]) { precondition(!error.description.isEmpty) }
    return 0
}
