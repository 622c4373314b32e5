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

    @Test("Dates and times pass through Foundation's coders as text")
    func times() throws {
        let data = try JSONEncoder().encode(Times())
        #expect(try JSONDecoder().decode(Times.self, from: data) == Times())
        let wrong = Data(#"{"date": "yesterday", "time": "", "both": "", "moment": ""}"#.utf8)
        let error = #expect(throws: DecodingError.self) { try JSONDecoder().decode(Times.self, from: wrong) }
        #expect("\(error!)".contains("not a LocalDate in the format of RFC 3339"))
    }

    @Test("Values of any form pass through Foundation's decoder")
    func anyForm() throws {
        let value = try JSONDecoder().decode(PropertyValue.self, from: Data("[1, 2.5, true, \"a\"]".utf8))
        #expect(value == .array([.integer(1), .double(2.5), .bool(true), .string("a")]))
    }

    private struct Sized: Decodable, Equatable {
        let small: Int32
        let word: UInt32
        let wide: UInt64
    }

    @Test("Numbers of every width are checked for their range")
    func widths() throws {
        #expect(try read("a", #"{"a": {"small": -1, "word": 2, "wide": 3}}"#) == Sized(small: -1, word: 2, wide: 3))
        #expect(throws: PropertyError.self) {
            try read("a", #"{"a": {"small": 3000000000, "word": 2, "wide": 3}}"#, as: Sized.self)
        }
    }

    private enum Small: Int32, Decodable { case one = 1 }
    private enum Word: UInt32, Decodable { case two = 2 }
    private enum Wide: UInt64, Decodable { case three = 3 }

    @Test("Cases are given by numbers of every width")
    func cases() throws {
        #expect(try read("a", #"{"a": 1}"#, as: Small.self) == .one)
        #expect(try read("a", #"{"a": 2}"#, as: Word.self) == .two)
        #expect(try read("a", #"{"a": 3}"#, as: Wide.self) == .three)
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
            #expect(list.codingPath.count == members.codingPath.count + 1)
            while !list.isAtEnd { _ = try list.decode(Int.self) }
            _ = try? members.superDecoder(forKey: .above)
            _ = try? members.superDecoder()
        }
    }

    @Test("The members of a type that asks for them by hand are known")
    func byHand() {
        let shape = TypeShape(of: ByHand.self, sample: nil)
        #expect(shape.members.map(\.name).contains("table.inner"))
        #expect(shape.members.map(\.name).contains("list"))
    }

    @Test("Looking for an instance asks the sources first, and loads nothing (laws 16 and 23)")
    func looking() throws {
        let root = Container()
        #expect(root.doubled == 2)
        #expect(try root[Limited.self] == 1)
        let child = root.child()
        #expect(child.ifLoaded(\.doubled) == 2 && child.ifLoaded(Limited.self) == 1)
        try child.apply(DictionarySource(["others": ["limit": 5]], name: "child"))
        #expect(child.ifLoaded(\.doubled) == nil && child.ifLoaded(Limited.self) == nil)
        #expect(child.doubled == 10 && root.ifLoaded(\.doubled) == 2)
    }
}
