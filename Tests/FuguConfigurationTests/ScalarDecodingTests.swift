import Fugu
import FuguConfiguration
import Support
import Testing

/// One member of each type that decoders know.
private struct Scalars: Decodable, Sendable, Equatable {
    var bool = true
    var string = "text"
    var double = 0.5
    var float: Float = 0.25
    var int = -1
    var int8: Int8 = -8
    var int16: Int16 = -16
    var int32: Int32 = -32
    var int64: Int64 = -64
    var int128: Int128 = -128
    var uint: UInt = 1
    var uint8: UInt8 = 8
    var uint16: UInt16 = 16
    var uint32: UInt32 = 32
    var uint64: UInt64 = 64
    var uint128: UInt128 = 128
}

/// The same in a list, one after the other.
private struct ListedScalars: Decodable, Sendable {
    var scalars = Scalars()
    var path: [String]

    init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        path = list.codingPath.map(\.stringValue)
        scalars.bool = try list.decode(Bool.self)
        scalars.string = try list.decode(String.self)
        scalars.double = try list.decode(Double.self)
        scalars.float = try list.decode(Float.self)
        scalars.int = try list.decode(Int.self)
        scalars.int8 = try list.decode(Int8.self)
        scalars.int16 = try list.decode(Int16.self)
        scalars.int32 = try list.decode(Int32.self)
        scalars.int64 = try list.decode(Int64.self)
        scalars.int128 = try list.decode(Int128.self)
        scalars.uint = try list.decode(UInt.self)
        scalars.uint8 = try list.decode(UInt8.self)
        scalars.uint16 = try list.decode(UInt16.self)
        scalars.uint32 = try list.decode(UInt32.self)
        scalars.uint64 = try list.decode(UInt64.self)
        scalars.uint128 = try list.decode(UInt128.self)
    }
}

/// Reads what is nested by hand, and a class's part through `super`.
private struct Nested: Decodable, Sendable {
    private enum Keys: CodingKey { case list, inner, parent }
    private enum Inner: CodingKey { case name }

    let names: [String]
    let inherited: Int
    let userInfoIsEmpty: Bool

    init(from decoder: any Decoder) throws {
        let table = try decoder.container(keyedBy: Keys.self)
        var list = try table.nestedUnkeyedContainer(forKey: .list)
        let first = try list.nestedContainer(keyedBy: Inner.self).decode(String.self, forKey: .name)
        let second = try list.superDecoder().container(keyedBy: Inner.self).decode(String.self, forKey: .name)
        let inner = try table.nestedContainer(keyedBy: Inner.self, forKey: .inner)
        names = [first, second, try inner.decode(String.self, forKey: .name)]
        inherited = try Int(from: table.superDecoder(forKey: .parent))
        userInfoIsEmpty = decoder.userInfo.isEmpty
    }
}

private enum Action: Decodable, Sendable { case start(delay: Int), stop }

@Suite struct ScalarDecodingTests {
    static let table: [Case<ScalarDecodingTests>] = [
        Case("A member of each type that decoders know is decoded, in a table and in a list (law 25)", everyType),
        Case("A list that ends early says where an element is missing (law 25)", shortList),
        Case("What a type decodes by hand is found, in tables and lists, and through super (law 25)", nested),
        Case("A table that is no case of an enumeration says so (law 25)", cases),
        Case("Bytes describe themselves by their number, and are read from their two spellings (law 26)", bytes),
    ]

    @Test(arguments: table) func behaves(as stated: Case<ScalarDecodingTests>) async throws {
        try await stated.run(self)
    }

    private static let members = """
        bool = true
        string = "text"
        double = 0.5
        float = 0.25
        int = -1
        int8 = -8
        int16 = -16
        int32 = -32
        int64 = -64
        int128 = -128
        uint = 1
        uint8 = 8
        uint16 = 16
        uint32 = 32
        uint64 = 64
        uint128 = 128
        """

    private func container(_ text: String) throws -> Container {
        let container = Container()
        try container.apply(TOMLSource(text: text, name: "x"))
        return container
    }

    func everyType() throws {
        let list = Self.members.split(separator: "\n").map { $0.split(separator: "= ")[1] }.joined(separator: ", ")
        let container = try container("list = [\(list)]\n[table]\n" + Self.members)
        try expect(container.property("table", as: Scalars.self), equals: Scalars())
        let listed = try container.property("list", as: ListedScalars.self)
        expect(listed?.scalars, equals: Scalars())
        expect(listed?.path, equals: ["list"])
    }

    func shortList() throws {
        let container = try container("list = [true, 'text']")
        let error = #expect(throws: PropertyError.self) { try container.property("list", as: ListedScalars.self) }
        expect(error?.description.hasPrefix("x:1:8: list[2]: missing; expected Double"), equals: true, "\(error!)")
    }

    func nested() throws {
        let text = "[a]\nlist = [{name = 'x'}, {name = 'y'}]\ninner.name = 'z'\nparent = 5"
        let value = try container(text).property("a", as: Nested.self)
        expect(value?.names, equals: ["x", "y", "z"])
        expect(value?.inherited, equals: 5)
        expect(value?.userInfoIsEmpty, equals: true)
    }

    func cases() throws {
        let key = PropertyKey<Action?>("scalars.action")
        let container = try container("scalars.action = {stp = {}}")
        let error = #expect(throws: PropertyError.self) { try container.require(key) }
        expect(error?.description, equals: "x:1:18: scalars.action: expected one case of Action, found stp")
        try expect(self.container("scalars.action = {stop = {}}").require(key) != nil)
    }

    func bytes() throws {
        let container = try container("a = 'aGk='\nc = 'a?c'")
        try expect(container.property("a", as: Base64.self), equals: Base64([104, 105]))
        expect("\(Base64([104, 105]))", equals: "<2 bytes>")
        #expect(throws: PropertyError.self) { try container.property("c", as: Base64.self) }
    }
}
