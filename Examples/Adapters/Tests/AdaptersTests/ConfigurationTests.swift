import Configuration
import ConfigurationAdapter
import ConfigurationTesting
import Fugu
import FuguConfiguration
import Testing

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init("api.timeout", defaultValue: 30) }
    var hosts: PropertyKey<[String]> { .init("api.hosts", defaultValue: []) }
    var token: PropertyKey<String?> { .init("api.token", isSecret: true) }
}

@Suite(.timeLimit(.minutes(10))) struct ConfigurationTests {
    private let container = Container()

    @Test("A container gets its values from a reader, whatever their type there")
    func source() throws {
        let provider = InMemoryProvider(values: [
            "api.timeout": 5, "api.hosts": ConfigValue(.stringArray(["a", "b"]), isSecret: false),
        ])
        try container.apply(ConfigReaderSource(ConfigReader(provider: provider)))
        #expect(container.timeout == 5)
        #expect(container.hosts == ["a", "b"])
        #expect(container.token == nil)
    }

    @Test("A change that the reader announces counts, and observers are called")
    func change() async throws {
        let provider = MutableInMemoryProvider(initialValues: ["api.timeout": 5])
        try container.apply(ConfigReaderSource(ConfigReader(provider: provider)))
        var timeouts = container.values(of: \.timeout).makeAsyncIterator()
        #expect(await timeouts.next() == 5)
        provider.setValue(6, forKey: "api.timeout")
        #expect(await timeouts.next() == 6)
    }

    @Test("A library that reads by swift-configuration gets the values of the container, now and later")
    func provider() async throws {
        container.declare(\.timeout, \.token)
        let source = MutableSource(["api.timeout": 5, "api.token": "hunter2"], name: "test")
        try container.apply(source)
        let provider = ContainerProvider(container)
        let reader = ConfigReader(provider: provider)
        #expect(reader.int(forKey: "api.timeout") == 5)
        #expect(reader.scoped(to: "api").int(forKey: "timeout") == 5)
        #expect(reader.int(forKey: "api.retries", default: 3) == 3)
        #expect(try provider.value(forKey: "api.token", type: .string).value?.isSecret == true)
        #expect(try provider.value(forKey: "api.timeout", type: .int).value?.isSecret == false)
        let before = reader.snapshot()
        let seen = try await reader.watchInt(forKey: "api.timeout") { updates in
            var seen: [Int?] = []
            for try await value in updates where seen.last != value {
                seen.append(value)
                source["api.timeout"] = 6
                if value == 6 { break }
            }
            return seen
        }
        #expect(seen == [5, 6])
        #expect(before.int(forKey: "api.timeout") == 5)
    }

    @Test("A library that takes a reader gets the same settings from swift-configuration and from a container")
    func readers() throws {
        let provider = InMemoryProvider(values: [
            "api.timeout": 5, "api.hosts": ConfigValue(.stringArray(["a", "b"]), isSecret: false), "api.level": "x",
        ])
        let reader = ConfigReader(provider: provider)
        let values: [String: PropertyValue] = ["api": ["timeout": 5, "hosts": ["a", "b"], "level": "x"]]
        try container.apply(DictionarySource(values, name: "test"))
        let readers: [any PropertyReader] = [reader.scoped(to: "api"), container.section("api")]
        for settings in readers {
            #expect(try settings.property("timeout") == 5)
            #expect(try settings.property("hosts") == ["a", "b"])
            #expect(try settings.property("retries", as: Int.self) == nil)
            #expect(throws: (any Error).self) { try settings.property("level", as: Int.self) }
        }
    }

    @Test("The container passes the tests that swift-configuration has for providers")
    func conformance() async throws {
        let (magic, magic2) = (PropertyValue.data(Array("magic".utf8)), PropertyValue.data(Array("magic2".utf8)))
        try container.apply(
            DictionarySource(
                [
                    "string": "Hello", "other.string": "Other Hello", "int": 42, "other.int": 24,
                    "double": 3.14, "other.double": 2.72, "bool": true, "other.bool": false,
                    "bytes": magic, "other.bytes": magic2,
                    "stringy.array": ["Hello", "World"], "other.stringy.array": ["Hello", "Swift"],
                    "inty.array": [42, 24], "other.inty.array": [16, 32],
                    "doubly.array": [3.14, 2.72], "other.doubly.array": [0.9, 1.8],
                    "booly.array": [true, false], "other.booly.array": [false, true, true],
                    "byteChunky.array": .array([magic, magic2]),
                    "other.byteChunky.array": .array([magic, magic2, magic]),
                ], name: "test"))
        try await ProviderCompatTest(provider: ContainerProvider(container)).runTest()
    }
}
