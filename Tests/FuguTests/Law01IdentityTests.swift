import Fugu
import FuguInspection
import Support
import Testing

extension ContainerKeys {
    fileprivate var plain: PropertyKey<Int> { .init(defaultValue: 1) }
    fileprivate var helped: PropertyKey<Int> { limit(2) }
    fileprivate var otherHelped: PropertyKey<Int> { limit(3) }
    fileprivate var secret: PropertyKey<String> { .init(defaultValue: "hush", isSecret: true) }
    fileprivate var named: PropertyKey<Int> { .init("identity.named", defaultValue: 4) }
    fileprivate var doubled: FeatureKey<Int> { .init { $0.plain * 2 } }
    fileprivate var circular: FeatureKey<Int> { .init { $0[\.circularToo] } }
    fileprivate var circularToo: FeatureKey<Int> { .init { $0[\.circular] } }
    fileprivate func slot(_ number: Int) -> PropertyKey<Int> { .init(defaultValue: number, id: number) }
    fileprivate func named(_ name: String) -> PropertyKey<Int> { .init(name, defaultValue: 0) }
    fileprivate func feature(_ name: String) -> FeatureKey<String> { .init(id: name) { _ in name } }
}

/// Passes the place on.
private func limit(
    _ value: Int, member: StaticString = #function, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
) -> PropertyKey<Int> {
    PropertyKey(defaultValue: value, member: member, fileID: fileID, line: line, column: column)
}

// Functions that don't.
private func careless(_ value: Int) -> PropertyKey<Int> { .init(defaultValue: 1) }
private func careless(optional value: Int) -> PropertyKey<Int?> { .init() }
private func tenant(_ id: String) -> FeatureKey<String> { .init { _ in id } }
extension ContainerKeys {
    fileprivate subscript(number: Int) -> FeatureKey<Int> { .init { _ in number } }
}

private class Base: Property {
    class var defaultValue: String { "base" }
}
private final class Sub: Base {
    override class var defaultValue: String { "sub" }
}
private class BaseFeature: Feature, @unchecked Sendable {
    class func load(in container: any FeatureContainer) -> BaseFeature { BaseFeature() }
}
private final class SubFeature: BaseFeature, @unchecked Sendable {}

@Suite("Law 1: what makes keys the same") struct Law01IdentityTests {
    static let cases: [Case<Law01IdentityTests>] = [
        Case("A computed member is the same key at each use, on every thread (law 1)", members),
        Case("Keys of a loop are distinguished by their ids, of any type (law 1)", ids),
        Case("Names tell the keys of one place apart, whichever is asked first (law 1)", names),
        Case("A helper that passes the place on makes a key for each caller (law 1)", helpers),
        Case("A class metatype is filed under the type that the source names (law 1)", classMetatypes),
        Case("Messages, graphs and descriptions call a key by its member (law 1)", memberNames),
        Case("A function without parameters may make a key, and so may a closure in it (law 1)", madeInTest),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law01IdentityTests>) async throws {
        try await stated.run(self)
    }

    let container = Container()

    func members() async {
        expect(ContainerKeys().plain, equals: ContainerKeys().plain)
        expect(ContainerKeys().plain != ContainerKeys().helped)
        let keys = Log<PropertyKey<Int>>()
        await onThreads(4) { _ in
            for number in 0..<200 { keys.add(ContainerKeys().slot(number % 50 + 1_000)) }
        }
        expect(Set(keys.all).count, equals: 50)
    }

    func ids() {
        let keys = (0..<300).map { ContainerKeys().slot($0) }
        expect(Set(keys).count, equals: 300)
        for (number, key) in keys.enumerated() where number % 2 == 0 { container[key] = -number }
        for number in 0..<300 {
            expect(container[ContainerKeys().slot(number)], equals: (number % 2 == 0 ? -number : number))
        }
        expect(container[ContainerKeys().feature("a")], equals: "a")
        expect(container[ContainerKeys().feature("b")], equals: "b")
        func mixed(_ id: some Hashable & Sendable) -> PropertyKey<Int> { PropertyKey(defaultValue: 0, id: id) }
        expect(Set([mixed(1), mixed(UInt8(1)), mixed("1"), mixed(1), mixed([1])]).count, equals: 4)
    }

    func names() {
        let keys = ["identity.a", "identity.b", "identity.a"].map { ContainerKeys().named($0) }
        expect(keys[0] == keys[2] && keys[0] != keys[1])
        expect(keys.map(\.name), equals: ["identity.a", "identity.b", "identity.a"])
    }

    func helpers() {
        expect(container.helped, equals: 2)
        expect(container.otherHelped, equals: 3)
        container.helped = 5
        expect(container[\.helped], equals: 5)
        expect(container.otherHelped, equals: 3)
    }

    func classMetatypes() {
        let type: Base.Type = Sub.self
        expect(container[type], equals: "base")
        container[type] = "set"
        expect(container[Base.self], equals: "set")
        expect(container[Sub.self as Base.Type], equals: "set")
        container.reset(type)
        expect(container[Base.self], equals: "base")
        let feature: BaseFeature.Type = SubFeature.self
        let made = container[feature]
        expect(container[BaseFeature.self], is: made)
        expect(container.ifLoaded(feature), is: made)
        container.reset(feature)
        expect(container.ifLoaded(BaseFeature.self) == nil)
        container.replace(feature) { _ in made }
        expect(container[BaseFeature.self], is: made)
    }

    func memberNames() {
        container.plain = 2
        container.secret = "s"
        container.named = 3
        container[ContainerKeys().slot(7)] = 8
        _ = container.doubled
        let names = container.graph.entries.map(\.name)
        expect(names.dropFirst(), equals: [#"\.doubled"#, #"\.named"#, #"\.plain"#, #"\.secret"#])
        expect(names.first?.hasPrefix("PropertyKey<Int> (FuguTests/Law01IdentityTests.swift:"), equals: true)
        expect(names.first?.hasSuffix("[7]"), equals: true)
        expect(container.graph.description.contains(#"\.doubled ← \.plain"#))
        expect(container.graph.dot.contains(#"label="\\.plain (set)""#))
    }

    @Test("So does the message of a cycle (laws 1 and 6)")
    func cycle() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = Container().circular
        }
        expectMessage(of: result, #"\.circular → \.circularToo → \.circular"#)
    }

    @Test(
        "A function with parameters that makes keys without an id stops the program, whatever they're made from (law 1)"
    )
    func madeInFunction() async {
        let property = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = careless(1)
        }
        expectMessage(
            of: property, "Fugu: careless(_:) makes a key without an id at FuguTests/Law01IdentityTests.swift:",
            "PropertyKey<Int>(…, id: …)")
        let optional = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = careless(optional: 1)
        }
        expectMessage(of: optional, "Fugu: careless(optional:) makes a key without an id")
        let feature = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = tenant("a")
        }
        expectMessage(of: feature, "Fugu: tenant(_:) makes a key without an id", "FeatureKey<String>(…, id: …)")
        let byNumber = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = ContainerKeys()[1]
        }
        expectMessage(of: byNumber, "Fugu: subscript(_:) makes a key without an id")
    }

    func madeInTest() {
        let key = PropertyKey(defaultValue: 4)
        let keys = (0..<2).map { number in FeatureKey(id: number) { _ in number } }
        expect(container[key] == 4 && keys.map { container[$0] } == [0, 1])
    }
}
