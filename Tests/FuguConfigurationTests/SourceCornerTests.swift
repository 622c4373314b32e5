import Foundation
import Fugu
import FuguConfiguration
import Support
import Synchronization
import Testing

/// A key of a library of its own.
private struct ForeignKey: ConfigurationKey {}

private struct Flags: AsyncPropertySource {
    var name: String { "flags" }
    func fetch() async throws -> PropertySnapshot { try PropertySnapshot(["corner.flag": 1], source: name) }
}

/// Fetches a value once, and then nothing.
private struct Vanishing: AsyncPropertySource {
    let fetches = Counter()
    var name: String { "vanishing" }
    func fetch() async throws -> PropertySnapshot {
        if fetches.add() > 1 { return .missing(source: name) }
        return try PropertySnapshot(["corner.vanishing": 1], source: name)
    }
}

@Suite struct SourceCornerTests {
    static let cases: [Case<SourceCornerTests>] = [
        Case("A fetched source that has vanished leaves the last good values (law 25)", fetchedAndVanished),
        Case(
            "A file of a folder with a misspelt name is reported, and a value that is missing names its file (law 25)",
            foldersTell),
        Case("A pattern for secrets may have several parts (law 26)", patterns),
        Case(
            "A snapshot reads values of one moment, and reads again if the sources change meanwhile (law 25)", snapshots
        ),
        Case("A .env file is read from its path, and says so (law 24)", environmentFiles),
        Case("Fetched values are named by their source (law 25)", fetched),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<SourceCornerTests>) async throws { try await stated.run(self) }

    func fetchedAndVanished() async throws {
        let container = Container()
        try await container.apply(Vanishing())
        let key = PropertyKey<Int>("corner.vanishing", defaultValue: 0)
        expect(container[key], equals: 1)
        await #expect(throws: PropertyError.self) { try await container.refresh() }
        expect(container[key], equals: 1)
    }

    private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    private func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name)"))
        return "\(folder)/\(name)"
    }

    func foldersTell() throws {
        let path = try write("x", to: "corner-pasword")
        let container = Container()
        try container.apply(FolderSource(path: folder))
        let key = PropertyKey<String?>("corner.password")
        expect(thrown { try container.validate([key]) }, equals: "\(path): unknown name; did you mean corner-password?")
        expect(thrown { _ = try container.require(key) }.contains("set \(folder)/corner-password"))
        expect("\(FolderSource(path: folder).name)", equals: folder)
    }

    func patterns() throws {
        let container = Container()
        let source = DictionarySource(
            ["corner.api.token.value": "hunter2", "corner.api.other.value": "seen"], name: "values")
        try container.apply(source.markingSecrets("corner.*token*value"))
        let text = ["corner.api.token.value", "corner.api.other.value"]
            .map { "\(container.explain(PropertyKey<String?>($0)))" }.joined()
        expect(!text.contains("hunter2"))
        expect(text.contains("seen"))
        expect("\(source.markingSecrets("*"))", equals: "\(source)")
    }

    func snapshots() throws {
        let container = Container()
        let source = MutableSource(["corner.a": 1, "corner.b": 1], name: "flags")
        try container.apply(source)
        let (a, b) = (PropertyKey<Int>("corner.a", defaultValue: 0), PropertyKey<Int>("corner.b", defaultValue: 0))
        let rounds = Mutex(0)
        let values = container.snapshot { container in
            let first = container[a]
            let round = rounds.withLock { rounds in
                rounds += 1
                return rounds
            }
            if round == 1 { source.update { $0 = ["corner.a": 2, "corner.b": 2] } }
            return [first, container[b]]
        }
        expect(values, equals: [2, 2])
        expect(source["corner.a"], equals: 2)
    }

    func environmentFiles() throws {
        let path = try write("CORNER_PORT=5\n", to: ".env")
        let container = Container()
        try container.apply(DotEnvSource(path: path))
        try expect(container.property("corner.port", as: Int.self), equals: 5)
        expect(DotEnvSource(path: path).name, equals: path)
        #expect(throws: PropertyError.self) { try container.apply(DotEnvSource(path: folder + "/none")) }
        try container.apply(DotEnvSource(path: folder + "/none", isOptional: true))
    }

    func fetched() async throws {
        let container = Container()
        try await container.apply(Flags())
        expect("\(container.explain(PropertyKey<Int?>("corner.flag")))", equals: "corner.flag = 1 (flags)")
    }

    @Test("A key that isn't a PropertyKey stops the program with a message (law 25)")
    func foreignKeys() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Container().declare([ForeignKey()])
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        expect(text.contains("Fugu: ForeignKey conforms to ConfigurationKey, which only PropertyKey can."), text)
    }
}
