import Support
import Testing

@testable import FuguConfiguration

struct DottedNameTests {
    private func snapshot(_ json: String) throws -> PropertySnapshot { try JSONSource(text: json, name: "x").load() }

    private func value(_ name: String, _ json: String) throws -> PropertyValue? {
        try snapshot(json).value(named: name)?.propertyValue
    }

    @Test(
        "A literal dotted name equals a nested one (law 24)",
        arguments: [
            "{\"api\": {\"timeout\": 30, \"base\": {\"url\": \"u\"}}}",
            "{\"api.timeout\": 30, \"api.base.url\": \"u\"}",
            "{\"api.timeout\": 30, \"api\": {\"base.url\": \"u\"}}",
            "{\"api\": {\"base.url\": \"u\"}, \"api.timeout\": 30}",
            "{\"api.base\": {\"url\": \"u\"}, \"api\": {\"timeout\": 30}}",
        ])
    func equal(json: String) throws {
        struct API: Decodable, Equatable {
            struct Base: Decodable, Equatable { var url: String }
            var timeout: Int
            var base: Base?
        }
        try expect(value("api.timeout", json), equals: 30)
        try expect(value("api.base.url", json), equals: "u")
        try expect(value("api.base", json), equals: ["url": "u"])
        let api = try #require(try snapshot(json).value(named: "api"))
        try expect(api.decode(API.self).timeout, equals: 30)
        try expect(snapshot(json).value(named: "api.other") == nil)
        try expect(snapshot(json).value(named: "api.timeout.x") == nil)
        try expect(snapshot(json).value(named: "other") == nil)
    }

    @Test("Tables that dotted names made decode whole, with the places of their members")
    func decoded() throws {
        struct API: Decodable { struct Base: Decodable { var url: Int }; var timeout: Int; var base: Base }
        let api = try #require(
            try snapshot("{\n\"api.timeout\": 30,\n\"api\": {\"base.url\": \"u\"}}").value(named: "api"))
        let error = #expect(throws: PropertyError.self) { try api.decode(API.self) }
        expect(error?.description, equals: "x:3:21: api.base.url: expected Int, found string")
        let kind = #expect(throws: PropertyError.self) { try api.decode(Int.self) }
        expect(kind?.description, equals: "x:3:8: api: expected Int, found table")
        let made = try #require(try snapshot("{\n \"a.b.c\": 1}").value(named: "a.b"))
        let missing = #expect(throws: PropertyError.self) { try made.decode(API.self) }
        expect(missing?.description, equals: "x:2:2: a.b.timeout: missing; expected Int")
    }

    @Test(
        "A file in which both stand is refused (law 24)",
        arguments: [
            ("{\"api\": {\"timeout\": 1},\n \"api.timeout\": 2}", "x:2:2: "),
            ("{\"api.timeout\": 1,\n \"api\": {\"timeout\": 2}}", "x:2:10: "),
            ("{\"a.b\": {\"c\": 1},\n \"a\": {\"b.c\": 2}}", "x:2:8: "),
        ])
    func both(json: String, place: String) {
        let error = #expect(throws: PropertyError.self) { try JSONSource(text: json, name: "x").load() }
        expect(error?.description, equals: place + "the name appears twice, dotted and nested; the first is on line 1")
    }

    @Test("Values from Swift are refused alike, without a line")
    func values() {
        let source = DictionarySource(["a.b": 1, "a": ["b": 2]], name: "defaults")
        let error = #expect(throws: PropertyError.self) { try source.load() }
        expect(error?.description, equals: "defaults: a.b: the name appears twice, dotted and nested")
    }

    @Test("A dictionary whose keys have dots keeps them, and each answers by its full name")
    func dictionaries() throws {
        let json = "{\"hosts\": {\"example.com\": \"1\", \"Hello. You\": \"2\", \"Hello\": \"3\"}}"
        let hosts = try #require(try snapshot(json).value(named: "hosts"))
        try expect(hosts.decode([String: String].self), equals: ["example.com": "1", "Hello. You": "2", "Hello": "3"])
        try expect(value("hosts.example.com", json), equals: "1")
        try expect(value("hosts.Hello", json), equals: "3")
        try expect(value("hosts.Hello. You", json), equals: "2")
    }

    @Test("A dotted key of TOML is a table, a quoted one a literal name, and both answer alike")
    func toml() throws {
        let snapshot = try TOMLSource(text: "a.b = 1\n\"c.d\" = 2\n[e.\"f.g\"]\nh = 3", name: "x").load()
        expect(snapshot.value(named: "a")?.propertyValue, equals: ["b": 1])
        expect(snapshot.value(named: "c")?.propertyValue, equals: ["d": 2])
        expect(snapshot.value(named: "e.f.g.h")?.propertyValue, equals: 3)
        expect(snapshot.value(named: "e.f.g.h")?.origin.description, equals: "x:4:5")
    }

    @Test("A file whose top is no table is no configuration")
    func top() {
        let error = #expect(throws: PropertyError.self) { try JSONSource(text: "\n [1]", name: "x").load() }
        expect(error?.description, equals: "x:2:2: the top level of a configuration file must be an object")
    }

    @Test("A megabyte of dotted names is entered in time that grows as it does")
    func large() throws {
        let members = (0..<40_000).map { "\"a.b\($0 % 100).c\($0)\": \($0)" }
        let snapshot = try snapshot("{" + members.joined(separator: ",") + "}")
        expect(snapshot.value(named: "a.b42.c142")?.propertyValue, equals: 142)
        expect(snapshot.value(named: "a.b42")?.node.count, equals: 400)
    }

    @Test("An unknown name is reported at its place with the nearest known one, once for a whole table (law 25)")
    func unknown() throws {
        let text = """
            [api]
            timeuot = 1
            retries = 2
            limits.load = 3
            [apj]
            x = 1
            y = 2
            [other.thing]
            "a.b" = 1
            """
        let errors = try TOMLSource(text: text, name: "x").load()
            .unknownNames(known: ["api.timeout", "api.retries", "api.limits", "other.name"])
        expect(
            errors.map(\.description),
            equals: [
                "x:2:1: api.timeuot: unknown name; did you mean api.timeout?",
                "x:5:2: apj: unknown name; did you mean api?", "x:8:8: other.thing: unknown name\(undeclared)",
            ])
        try expect(snapshot("{\"a.b.c\": 1, \"d.e\": 2}").unknownNames(known: ["a.b", "d.e"]).isEmpty)
    }

    @Test("The nearest name is suggested, and none if none is near")
    func suggestions() {
        let known = ["api.timeout", "api.base_url", "log.level", "port"]
        expect(NearestName.suggestion(for: "api.tiemout", among: known), equals: "api.timeout")
        expect(NearestName.suggestion(for: "API.Timeout", among: known), equals: "api.timeout")
        expect(NearestName.suggestion(for: "api.baseurl", among: known), equals: "api.base_url")
        expect(NearestName.suggestion(for: "prot", among: known), equals: "port")
        expect(NearestName.suggestion(for: "database", among: known) == nil)
        expect(NearestName.suggestion(for: "", among: known) == nil)
        expect(NearestName.suggestion(for: "ab", among: ["ac", "bb"]), equals: "ac")
    }
}
