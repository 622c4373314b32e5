import Foundation
import Fugu
import FuguConfiguration
import FuguFoundationSources
import FuguTesting
import Support
import Testing

extension ContainerKeys {
    fileprivate var since: PropertyKey<Date?> { .init("since") }
    fileprivate var logo: PropertyKey<Data?> { .init("logo") }
    fileprivate var flag: PropertyKey<Bool> { .init("flag", defaultValue: false) }
    fileprivate var count: PropertyKey<Int> { .init("count", defaultValue: 0) }
    fileprivate var ratio: PropertyKey<Double> { .init("ratio", defaultValue: 0.0) }
    fileprivate var port: PropertyKey<Int> { .init("servers.port", defaultValue: 80) }
    fileprivate var names: PropertyKey<[String]> { .init("servers.names", defaultValue: [String]()) }
}

struct PropertyListSourceTests {
    private let container = Container()
    private let content: [String: Any] = [
        "since": Date(timeIntervalSince1970: 1_000_000_000), "logo": Data([1, 2, 255]), "flag": true, "count": 1,
        "ratio": 1.5, "servers": ["port": 8080, "names": ["a", "b"]] as [String: Any],
    ]

    private func data(
        _ content: Any, _ format: PropertyListSerialization.PropertyListFormat = .xml
    ) throws -> Data {
        try PropertyListSerialization.data(fromPropertyList: content, format: format, options: 0)
    }

    @Test("A property list conforms in memory and in a file, which is read when it is applied and again on reload")
    func conformance() throws {
        // A property list conforms to what containers rely on, in memory, in a file and missing.
        do {
            let data = try data(["server": ["port": 80], "name": "x"])
            let values: [String: PropertyValue] = ["server.port": 80, "name": "x", "server": ["port": 80]]
            try expectConformance(
                of: PropertyListSource(data: data, name: "list"), holding: values, lacking: ["server.host", "port"])
            let folder = try TemporaryFolder()
            let url = folder.file("list.plist")
            try expectConformance(
                of: PropertyListSource(path: url.path, isOptional: true), holding: [:], lacking: ["name"])
            try data.write(to: url)
            try expectConformance(of: PropertyListSource(path: url.path), holding: values, lacking: ["server.host"])
        }
        // A file is read when it is applied and again on reload; a missing one is an error unless it is optional.
        do {
            let container = Container()
            let folder = try TemporaryFolder()
            let path = folder.file("a.plist").path
            let error = #expect(throws: PropertyError.self) { try container.apply(PropertyListSource(path: path)) }
            expect(error?.description, equals: "\(path): can't be read: the file doesn't exist")
            try container.apply(PropertyListSource(path: path, isOptional: true))
            expect(container.count, equals: 0)
            try data(["count": 5]).write(to: folder.file("a.plist"))
            try container.reload()
            expect(container.count, equals: 5)
            expect(PropertyListSource(path: path).modificationStamp() != nil)
        }
    }

    @Test(
        "XML and binary lists give the same values, dates and data among them",
        arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func formats(format: PropertyListSerialization.PropertyListFormat) throws {
        try container.apply(PropertyListSource(data: data(content, format), name: "list"))
        expect(container.since, equals: Date(timeIntervalSince1970: 1_000_000_000))
        expect(container.logo, equals: Data([1, 2, 255]))
        expect(container.flag)
        expect(container.count, equals: 1)
        expect(container.ratio, equals: 1.5)
        expect(container.port, equals: 8080)
        expect(container.names, equals: ["a", "b"])
    }

    @Test("A truth value is no number and a number no truth value")
    func exact() throws {
        let log = Locked<[String]>([])
        container.handleReports { report in log.withLock { $0.append(report) } }
        try container.apply(PropertyListSource(data: data(["flag": 1, "count": true]), name: "list"))
        expect(!container.flag)
        expect(container.count, equals: 0)
        expect(
            log.withLock { $0 },
            equals: [
                "list: flag: expected Bool (true or false), found integer 1",
                "list: count: expected Int, found bool true",
            ])
    }

    @Test(
        "A file that is neither an XML nor a binary list is refused with its line and without its content",
        arguments: [
            ("<plist>\n<dict>\n<key>a</key><integer>secret</integer></dict></plist>", ":3"),
            ("<plist>\n<dict><key>a</key><secret/></dict></plist>", ":2"), ("{ secret = 1; }", ""), ("secret", ""),
            ("", ""),
        ])
    func malformed(text: String, line: String) {
        let source = PropertyListSource(data: Data(text.utf8), name: "list")
        let error = #expect(throws: PropertyError.self) { try source.load() }
        expect(error?.description.hasPrefix("list"), equals: true)
        expect(error?.description.contains("secret"), equals: false)
        expect(error?.reason, equals: "not an XML or binary property list")
        if !line.isEmpty { expect(error?.description, equals: "list\(line): not an XML or binary property list") }
    }

    @Test("A list that is no dictionary, holds what has no form, or is too deep is refused")
    func refused() throws {
        // A list that is no dictionary, or holds what has no form, is refused with the name.
        do {
            let array = try data([1, 2])
            let top = #expect(throws: PropertyError.self) { try PropertyListSource(data: array, name: "list").load() }
            expect(top?.description, equals: "list: the top level of a property list must be a dictionary")
            let large = Data(
                "<plist version=\"1.0\"><dict>\n<key>a</key><integer>18446744073709551616</integer></dict></plist>".utf8
            )
            let integer = #expect(throws: PropertyError.self) {
                try PropertyListSource(data: large, name: "list").load()
            }
            expect(
                integer?.description,
                equals:
                    "list:2: an integer of a property list must be in the range -9223372036854775808...18446744073709551615"
            )
            let dotted = try data(["a": ["b": 1], "a.b": 2] as [String: Any])
            let twice = #expect(throws: PropertyError.self) {
                try PropertyListSource(data: dotted, name: "list").load()
            }
            expect(twice?.name, equals: "a.b")
        }
        // A list of 100,000 nested arrays is an error, not a crash.
        do {
            let text =
                "<plist><dict><key>a</key>" + String(repeating: "<array>", count: 100_000)
                + String(repeating: "</array>", count: 100_000) + "</dict></plist>"
            #expect(throws: PropertyError.self) { try PropertyListSource(data: Data(text.utf8), name: "list").load() }
        }
    }

    @Test("Files of a bundle, and the values of Info.plist, are found, and missing ones named")
    func bundles() throws {
        // Files of a bundle are found, and missing ones named with their path.
        do {
            let folder = try TemporaryFolder()
            try data(["count": 1]).write(to: folder.file("list.plist"))
            try Data("{\"ratio\": 2.5}".utf8).write(to: folder.file("config.json"))
            try Data("flag = true".utf8).write(to: folder.file("config.toml"))
            let bundle = try #require(Bundle(path: folder.url.path))
            try container.apply(PropertyListSource(resource: "list", in: bundle))
            try container.apply(JSONSource(resource: "config", in: bundle))
            try container.apply(TOMLSource(resource: "config", in: bundle))
            expect(container.count, equals: 1)
            expect(container.ratio, equals: 2.5)
            expect(container.flag)
            let error = #expect(throws: PropertyError.self) {
                try container.apply(JSONSource(resource: "none", in: bundle))
            }
            expect(error?.source?.hasSuffix("/none.json"), equals: true)
            try container.apply(JSONSource(resource: "none", in: bundle, isOptional: true))
        }
        // The values of Info.plist can be read, and a bundle may have none.
        do {
            let container = Container()
            let folder = try TemporaryFolder()
            let bundle = try #require(Bundle(path: folder.url.path))
            try container.apply(PropertyListSource(infoOf: bundle))
            try container.apply(PropertyListSource(infoOf: .main))
            try expect(container.property("CFBundleNothing", as: String.self) == nil)
        }
    }
}
