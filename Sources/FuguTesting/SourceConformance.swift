import Fugu
public import FuguConfiguration
public import Testing

/// Expects a source to fulfill the contract that containers rely on, for tests of your own sources.
///
///     try expectConformance(of: MySource(…), holding: ["api.timeout": 30], lacking: ["api.nothing"])
///
/// The source must have a name, give the same values with their origins at every load, and have no other values. It
/// must hide earlier sources where it has a value and only there, and know each name that a key asks for. Its stamp
/// must stay as long as its values do. Use it with Swift Testing.
///
/// - Parameters:
///   - source: A source that doesn't change during the test.
///   - values: Some of its names with their values; text for sources that hold only text.
///   - absent: Names that it doesn't have.
///   - sourceLocation: The place at which failures are shown.
/// - Throws: What the source throws when it's loaded.
public func expectConformance(
    of source: some PropertySource, holding values: [String: PropertyValue], lacking absent: [String],
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    check(!source.name.isEmpty, "The source must have a name.", sourceLocation)
    let stamp = source.modificationStamp()
    let container = Container()
    // A reload must give the same values.
    for isReload in [false, true] {
        if isReload { try container.reload() } else { try container.apply(source) }
        for (name, value) in values {
            let found = try container.property(name, as: PropertyValue.self)
            check(
                found == value, "The source must give \(value) for \(name), not \(found.map { "\($0)" } ?? "nothing").",
                sourceLocation)
            check(
                container.explanation(of: name).contains("("), "The source must give \(name) with its origin.",
                sourceLocation)
        }
        for name in absent + ["", ".", "..", "a..b", "\u{0}", "name that nobody has"] {
            let found = try container.property(name, as: PropertyValue.self)
            check(found == nil, "The source must not have \(name).", sourceLocation)
        }
    }
    check(
        source.modificationStamp() == stamp, "The modification stamp must not change while the values stay the same.",
        sourceLocation)
    try expectHiding(source, values, sourceLocation)
    try expectKnown(source, Array(values.keys), sourceLocation)
}

extension Container {
    fileprivate func explanation(of name: String) -> String {
        "\(explain { _ in PropertyKey<PropertyValue?>(name) })"
    }
}

/// Expects that the source hides earlier sources where it has a value, and only there.
private func expectHiding(
    _ source: some PropertySource, _ values: [String: PropertyValue], _ sourceLocation: SourceLocation
) throws {
    let names = Array(values.keys) + ["name that nobody has"]
    let base = Dictionary(uniqueKeysWithValues: names.map { ($0, PropertyValue.string("earlier")) })
    let container = Container()
    try container.apply(DictionarySource(base, name: "earlier"))
    try container.apply(source)
    for name in names {
        let found = try container.property(name, as: PropertyValue.self)
        check(
            found == values[name] ?? "earlier",
            "The source must hide earlier sources where it has a value, and only there: \(name).",
            sourceLocation)
    }
}

/// Expects that the source doesn't report a known name as unknown.
private func expectKnown(_ source: some PropertySource, _ names: [String], _ sourceLocation: SourceLocation) throws {
    let container = Container()
    try container.apply(source)
    let keys = names.map { PropertyKey<PropertyValue?>($0) }
    do {
        try container.validate(keys)
    } catch let errors as PropertyErrors {
        for error in errors.errors {
            check(
                !names.contains(error.name ?? ""), "The source must not report a known name as unknown: \(error)",
                sourceLocation)
        }
    }
}

private func check(_ isFulfilled: Bool, _ demand: String, _ place: SourceLocation) {
    if !isFulfilled { Failure.record(demand, at: place) }
}
