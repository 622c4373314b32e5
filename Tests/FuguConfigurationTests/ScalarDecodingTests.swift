import Fugu
import FuguConfiguration
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

    @Test("A member of each type that decoders know is decoded, in a table and in a list (law 25)")
    func everyType() throws {
        let list = Self.members.split(separator: "\n").map { $0.split(separator: "= ")[1] }.joined(separator: ", ")
        let container = try container("list = [\(list)]\n[table]\n" + Self.members)
        #expect(try container.property("table", as: Scalars.self) == Scalars())
        let listed = try container.property("list", as: ListedScalars.self)
        #expect(listed?.scalars == Scalars() && listed?.path == ["list"])
    }

    @Test("A list that ends early says where an element is missing (law 25)")
    func shortList() throws {
        let container = try container("list = [true, 'text']")
        let error = #expect(throws: PropertyError.self) { try container.property("list", as: ListedScalars.self) }
        #expect(error?.description.hasPrefix("x:1:8: list[2]: missing; expected Double") == true, "\(error!)")
    }

    @Test("What a type decodes by hand is found, in tables and lists, and through super (law 25)")
    func nested() throws {
        let text = "[a]\nlist = [{name = 'x'}, {name = 'y'}]\ninner.name = 'z'\nparent = 5"
        let value = try container(text).property("a", as: Nested.self)
        #expect(value?.names == ["x", "y", "z"] && value?.inherited == 5 && value?.userInfoIsEmpty == true)
    }

    @Test("A table that is no case of an enumeration says so (law 25)")
    func cases() throws {
        let key = PropertyKey<Action?>("scalars.action")
        let container = try container("scalars.action = {stp = {}}")
        let error = #expect(throws: PropertyError.self) { try container.require(key) }
        #expect(error?.description == "x:1:18: scalars.action: expected one case of Action, found stp")
        #expect(try self.container("scalars.action = {stop = {}}").require(key) != nil)
    }

    @Test("Bytes describe themselves by their number, and are read from their two spellings (law 26)")
    func bytes() throws {
        let container = try container("a = 'aGk='\nb = '0x6869'\nc = 'abc'")
        #expect(try container.property("a", as: Base64.self) == Base64([104, 105]))
        #expect(try container.property("b", as: Hexadecimal.self) == Hexadecimal([104, 105]))
        #expect("\(Base64([104, 105])) \(Hexadecimal([104]))" == "<2 bytes> <1 bytes>")
        #expect(throws: PropertyError.self) { try container.property("c", as: Hexadecimal.self) }
    }
}
