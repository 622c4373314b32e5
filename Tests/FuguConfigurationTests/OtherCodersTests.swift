import Foundation
import Fugu
@testable import FuguConfiguration
import Support
import Testing

extension ContainerKeys {
    fileprivate var limit: PropertyKey<Int> { .init("others.limit", defaultValue: 1) }
    fileprivate var doubled: FeatureKey<Int> { .init { $0.limit * 2 } }
}

private struct Limited: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Int { container.limit }
}

@Suite("Values beside other coders and kinds") struct OtherCodersTests {
    static let table: [Case<OtherCodersTests>] = [
        Case("Dates and times pass through Foundation's coders as text", times),
        Case("Values of any form pass through Foundation's decoder", anyForm),
        Case("Numbers of every width are checked for their range", widths),
        Case("Cases are given by numbers of every width", cases),
        Case("The members of a type that asks for them by hand are known", byHand),
        Case("Looking for an instance asks the sources first, and loads nothing (laws 16 and 23)", looking),
    ]

    @Test(arguments: table) func behaves(as stated: Case<OtherCodersTests>) async throws { try await stated.run(self) }

    private struct Times: Codable, Equatable {
        var date = LocalDate(year: 1979, month: 5, day: 27)
        var time = LocalTime(hour: 7, minute: 32)
        var both: LocalDateTime
        var moment: OffsetDateTime

        init() {
            both = LocalDateTime(date: date, time: time)
            moment = OffsetDateTime(date: date, time: time)
        }
    }

    func times() throws {
        let data = try JSONEncoder().encode(Times())
        try expect(JSONDecoder().decode(Times.self, from: data), equals: Times())
        let wrong = Data(#"{"date": "yesterday", "time": "", "both": "", "moment": ""}"#.utf8)
        let error = #expect(throws: DecodingError.self) { try JSONDecoder().decode(Times.self, from: wrong) }
        expect("\(error!)".contains("expected LocalDate"))
    }

    func anyForm() throws {
        let value = try JSONDecoder().decode(PropertyValue.self, from: Data("[1, 2.5, true, \"a\"]".utf8))
        expect(value, equals: .array([.integer(1), .double(2.5), .bool(true), .string("a")]))
    }

    private struct Sized: Decodable, Equatable {
        let small: Int32
        let word: UInt32
        let wide: UInt64
    }

    func widths() throws {
        try expect(
            read("a", #"{"a": {"small": -1, "word": 2, "wide": 3}}"#), equals: Sized(small: -1, word: 2, wide: 3))
        #expect(throws: PropertyError.self) {
            try read("a", #"{"a": {"small": 3000000000, "word": 2, "wide": 3}}"#, as: Sized.self)
        }
    }

    private enum Small: Int32, Decodable { case one = 1 }
    private enum Word: UInt32, Decodable { case two = 2 }
    private enum Wide: UInt64, Decodable { case three = 3 }

    func cases() throws {
        try expect(read("a", #"{"a": 1}"#, as: Small.self), equals: .one)
        try expect(read("a", #"{"a": 2}"#, as: Word.self), equals: .two)
        try expect(read("a", #"{"a": 3}"#, as: Wide.self), equals: .three)
        #expect(throws: PropertyError.self) { try read("a", #"{"a": 3}"#, as: Small.self) }
    }

    /// Asks for its members by hand, in all the ways that there are.
    private struct ByHand: Decodable {
        enum Keys: String, CodingKey { case table, list, above, inner }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Keys.self)
            let table = try members.nestedContainer(keyedBy: Keys.self, forKey: .table)
            _ = try? table.decode(Int.self, forKey: .inner)
            var list = try members.nestedUnkeyedContainer(forKey: .list)
            expect(list.codingPath.count, equals: members.codingPath.count + 1)
            while !list.isAtEnd { _ = try list.decode(Int.self) }
            _ = try? members.superDecoder(forKey: .above)
            _ = try? members.superDecoder()
        }
    }

    func byHand() {
        let shape = TypeShape(of: ByHand.self, sample: nil)
        expect(shape.members.map(\.name).contains("table.inner"))
        expect(shape.members.map(\.name).contains("list"))
    }

    func looking() throws {
        let root = Container()
        expect(root.doubled, equals: 2)
        try expect(root[Limited.self], equals: 1)
        let child = root.child()
        expect(child.ifLoaded(\.doubled), equals: 2)
        expect(child.ifLoaded(Limited.self), equals: 1)
        try child.apply(DictionarySource(["others": ["limit": 5]], name: "child"))
        expect(child.ifLoaded(\.doubled) == nil)
        expect(child.ifLoaded(Limited.self) == nil)
        expect(child.doubled, equals: 10)
        expect(root.ifLoaded(\.doubled), equals: 2)
    }
}
