import Foundation
import Fugu
import FuguConfiguration
import Testing
import YamlAdapter

@Suite struct YamlTests {
    private let container = Container()
    private let path = FileManager.default.temporaryDirectory.appending(path: "Test-\(UUID()).yaml").path

    private func apply(_ text: String) throws {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try container.apply(YamlSource(path: path))
    }

    @Test("Values come with their types, and what is in quotes is a text")
    func values() throws {
        try apply("api:\n  timeout: 5\n  hosts: [a, b]\n  token: \"007\"\n")
        #expect(container.timeout == 5)
        #expect(container.hosts == ["a", "b"])
        #expect(container.token == "007")
        try apply("api:\n  timeout: \"5\"\n")
        #expect(throws: (any Error).self) { try container.require(\.timeout) }
    }

    @Test("Null is no value, nor is what has no name that a key could have")
    func noValues() throws {
        try apply("{api: {timeout: null, hosts: [a, ~], more: {[x]: 1, [y]: 2}}}")
        #expect(container.timeout == 30)
        #expect(container.hosts == ["a"])
    }

    @Test("A wrong value is reported with its line and column")
    func wrong() throws {
        try apply("api:\n  timeout: soon\n  hosts: [a, 1]\n")
        let error = #expect(throws: PropertyErrors.self) { try container.validate(\.timeout, \.hosts) }
        #expect(error?.errors.map(\.line) == [2, 3] && error?.errors.map(\.column) == [12, 14])
    }

    @Test("A mistake is reported with its line and column")
    func mistake() {
        let error = #expect(throws: PropertyError.self) { try apply("api:\n  timeout: [5\n") }
        #expect(error?.source == path)
        #expect(error?.line == 3)
    }

    @Test("A file whose top is no mapping is refused", arguments: ["", "- a", "a"])
    func top(text: String) {
        let error = #expect(throws: PropertyError.self) { try apply(text) }
        #expect(error?.reason == "expected a mapping at the top")
    }
}
