// One target each, chosen by a condition of the same name: `fuzz` compiles this file for each of them.
@testable import FuguConfiguration

#if Decoder || Arguments
import FoundationEssentials
#endif

#if JSON
private typealias Source = JSONSource

private func parse(_ bytes: [UInt8]) throws(PropertyError) -> PropertyValue {
    try PropertyValue(json: bytes, name: "fuzz")
}
#elseif TOML
private typealias Source = TOMLSource

private func parse(_ bytes: [UInt8]) throws(PropertyError) -> PropertyValue {
    try PropertyValue(toml: bytes, name: "fuzz")
}
#endif

#if JSON || TOML
/// A document that parses must print, and parse to the same again; one that doesn't must name the place.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDocument(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    do throws(PropertyError) {
        let (value, again) = (try parse(bytes), try parse(bytes))
        precondition(value.description == again.description)
        let snapshot = try Source(bytes: bytes, name: "fuzz").load()
        for error in snapshot.unknownNames(known: ["a", "a.b"]) { precondition(!error.description.isEmpty) }
    } catch {
        precondition(error.source == "fuzz" && (error.line ?? 1) > 0 && (error.column ?? 1) > 0)
        precondition(!error.description.isEmpty)
    }
    return 0
}
#endif

#if Decoder
/// Types of every kind of container and scalar that configuration is decoded to.
private struct Everything: Decodable {
    enum Mode: String, Decodable, CaseIterable { case slow, fast }

    var a: Int?
    var b: [UInt8]?
    var c: [String: Double]?
    var d: Mode?
    var e: [[Bool?]]?
    var f: Duration?
    var g: DateComponents?
    var h: PropertyValue?
    var next: [Everything]?
}

/// The first byte chooses the format and the type; the rest is the document.
///
/// Errors must have a place that exists.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDecoder(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 0 else { return 0 }
    let bytes = Array(UnsafeBufferPointer(start: start + 1, count: count - 1))
    let choice = start[0]
    guard
        let snapshot = choice & 1 == 0
            ? try? JSONSource(bytes: bytes, name: "fuzz").load() : try? TOMLSource(bytes: bytes, name: "fuzz").load(),
        let value = snapshot.value(named: "x") ?? snapshot.value(named: "a.b")
    else { return 0 }
    do throws(PropertyError) {
        switch choice >> 1 & 15 {
        case 0: _ = try value.decode(Everything.self)
        case 1: _ = try value.decode([Everything].self, quotesValues: false)
        case 2: _ = try value.decode([String: Everything].self)
        case 3: _ = try value.decode([Int: [Int8]].self)
        case 4: _ = try value.decode([UInt64?].self)
        case 5: _ = try value.decode([Duration].self)
        case 6: _ = try value.decode([DateComponents].self)
        case 7: _ = try value.decode([DateComponents?].self)
        default: _ = try foundationValues(value, choice)
        }
    } catch {
        precondition(error.source == "fuzz" && (error.line ?? 0) > 0 && (error.column ?? 0) > 0 && error.name != nil)
        precondition(!error.description.isEmpty && !error.masked.description.isEmpty)
    }
    return 0
}

private func foundationValues(_ value: LocatedValue, _ choice: UInt8) throws(PropertyError) {
    switch choice >> 1 & 15 {
    case 8: _ = try value.decode([URL].self)
    case 9: _ = try value.decode([Decimal].self)
    case 10: _ = try value.decode([Date].self)
    case 11: _ = try value.decode([Data].self)
    case 12: _ = try value.decode([UUID].self)
    case 13: _ = try value.decode([Float].self)
    default: _ = try value.decode([Set<Int>].self)
    }
}
#endif

#if Arguments
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
        _ = try? value.decode(Date.self)
        _ = try? value.decode(DateComponents.self)
        // A flag without a value is a truth value and nothing else.
        precondition((try? value.decode(String.self)) != nil || (try? value.decode(Bool.self)) != nil)
    }
    for error in snapshot.unknownNames(known: ["api.timeout"]) { precondition(!error.description.isEmpty) }
    return 0
}
#endif
