import Foundation
import Fugu
import FuguFoundation
import Support
import Testing

struct KeyValueStoreTests {
    enum Kind: CaseIterable { case inMemory, file, fileInMemory, userDefaults }

    private struct Theme: Codable, Equatable {
        var name: String
        var size: Double
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Calls `body` with a new store and, for what it leaves in the user's defaults, clears up after it.
    private func withStore(_ kind: Kind, _ body: (KeyValueStore) throws -> Void) throws {
        switch kind {
        case .inMemory: try body(.inMemory)
        case .file: try body(.file(folder.file("settings/store.json")))
        case .fileInMemory: try body(.file(folder.file("settings/store.json"), in: .inMemory))
        case .userDefaults:
            let suite = "org.example.FuguTests-\(UUID())"
            defer { UserDefaults.standard.removePersistentDomain(forName: suite) }
            try body(try #require(.userDefaults(suite: suite)))
        }
    }

    @Test("A stored value is read, as bytes and as a value, until it is replaced or removed", arguments: Kind.allCases)
    func roundTrip(kind: Kind) throws {
        try withStore(kind) { store in
            try expect(store.data(for: "a") == nil)
            try expect(store.value(Int.self, for: "a") == nil)
            let bytes = Data([0, 255, 10, 34])
            try store.setData(bytes, for: "a")
            try expect(store.data(for: "a"), equals: bytes)
            try store.set(Theme(name: "dark \"ü\"", size: 1.5), for: "b")
            try expect(store.value(for: "b"), equals: Theme(name: "dark \"ü\"", size: 1.5))
            try store.set([1, 2, 3], for: "a")
            try expect(store.value([Int].self, for: "a"), equals: [1, 2, 3])
            try store.set(true, for: "")
            try expect(store.value(Bool.self, for: ""), equals: true)
            try store.remove("")
            try store.remove("a")
            try store.remove("never there")
            try expect(store.value([Int].self, for: "a") == nil)
            try expect(store.value(for: "b"), equals: Theme(name: "dark \"ü\"", size: 1.5))
        }
    }

    @Test("The keys are listed in order", arguments: [Kind.inMemory, .file, .fileInMemory])
    func keys(kind: Kind) throws {
        try withStore(kind) { store in
            try expect(store.keys().isEmpty)
            for key in ["b", "c", "a"] { try store.set(1, for: key) }
            try store.remove("c")
            try expect(store.keys(), equals: ["a", "b"])
        }
    }

    @Test("A value of another type is an error that names the key, and stays", arguments: Kind.allCases)
    func wrongType(kind: Kind) throws {
        try withStore(kind) { store in
            try store.set("text", for: "theme")
            let error = #expect(throws: KeyValueStoreError.self) { try store.value(Theme.self, for: "theme") }
            expect(error?.cause is DecodingError)
            expect(error?.key, equals: "theme")
            expect(error.map { "\($0)" }?.hasPrefix("can't read \"theme\": "), equals: true)
            expect(error?.isCorruptFile, equals: false)
            try expect(store.value(String.self, for: "theme"), equals: "text")
        }
    }

    @Test("A number that its type can't represent isn't called invalid JSON", arguments: Kind.allCases)
    func unfitNumber(kind: Kind) throws {
        try withStore(kind) { store in
            try store.set(300, for: "size")
            let error = #expect(throws: KeyValueStoreError.self) { try store.value(UInt8.self, for: "size") }
            expect("\(error!)", equals: "can't read \"size\": a number is outside the range of its type in UInt8")
            try store.setData(Data("[1".utf8), for: "size")
            let broken = #expect(throws: KeyValueStoreError.self) { try store.value(UInt8.self, for: "size") }
            expect("\(broken!)", equals: "can't read \"size\": The given data was not valid JSON.")
        }
    }

    @Test("A value that cannot be written is an error, and the old one stays", arguments: Kind.allCases)
    func unencodable(kind: Kind) throws {
        try withStore(kind) { store in
            try store.set(1.0, for: "size")
            let error = #expect(throws: KeyValueStoreError.self) { try store.set(Double.nan, for: "size") }
            expect(error?.cause is EncodingError)
            expect(error.map { "\($0)" }?.hasPrefix("can't store \"size\": "), equals: true)
            try expect(store.value(Double.self, for: "size"), equals: 1)
        }
    }

    @Test("The user's defaults keep what other code put there: it is an error, not nothing")
    func foreignDefaults() throws {
        let suite = "org.example.FuguTests-\(UUID())"
        defer { UserDefaults.standard.removePersistentDomain(forName: suite) }
        let store = try #require(KeyValueStore.userDefaults(suite: suite))
        UserDefaults(suiteName: suite)?.set("text", forKey: "other")
        #expect(throws: KeyValueStoreError.self) { try store.data(for: "other") }
        try store.set(1, for: "own")
        try expect(store.keys().contains("own"))
        try expect(!store.keys().contains("other"))
        expect(UserDefaults(suiteName: suite)?.string(forKey: "other"), equals: "text")
    }

    @Test("A store of one's own is asked, and what it throws is the cause")
    func custom() throws {
        struct Offline: Error {}
        let container = Container()
        container.keyValueStore = KeyValueStore(
            read: { Data($0.utf8) }, write: { _, _ in throw Offline() }, keys: { ["b", "a"] })
        try expect(container.keyValueStore.data(for: "key"), equals: Data("key".utf8))
        try expect(container.keyValueStore.keys(), equals: ["a", "b"])
        let error = #expect(throws: KeyValueStoreError.self) { try container.keyValueStore.remove("key") }
        expect(error?.cause is Offline)
        expect(error.map { "\($0)" }, equals: "can't remove \"key\": Offline()")
    }
}

struct FileStoreTests {
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("store.json")
    }

    @Test("Another store of the same file reads what was written, and threads that write together lose nothing")
    func persistence() async throws {
        // Another store of the same file reads what was written.
        do {
            try KeyValueStore.file(url).set(42, for: "answer")
            try expect(KeyValueStore.file(url).value(Int.self, for: "answer"), equals: 42)
            try expect(
                String(decoding: FileAccess.system.load(url), as: UTF8.self), equals: "{\n  \"answer\" : \"NDI=\"\n}")
        }
        // Threads that write different keys together lose none.
        do {
            let store = KeyValueStore.file(url)
            try await withThrowingTaskGroup { group in
                for writer in 0..<8 {
                    group.addTask {
                        for key in 0..<5 { try store.set(key, for: "\(writer).\(key)") }
                    }
                }
                try await group.waitForAll()
            }
            try expect(store.keys().count { $0 != "answer" }, equals: 40)
        }
    }

    @Test(
        "A damaged file is reported by every operation, and kept byte for byte",
        arguments: ["", "{\"a\": \"NDI=\"", "[]", "{\"a\": 1}", "{\"a\": \"no base64!\"}", "\u{0}\u{1}"])
    func damaged(content: String) throws {
        try FileAccess.system.save(Data(content.utf8), to: url)
        let store = KeyValueStore.file(url)
        let operations: [() throws -> Void] = [
            { _ = try store.data(for: "a") }, { _ = try store.value(Int.self, for: "a") },
            { try store.set(1, for: "a") },
            { try store.setData(Data(), for: "a") }, { try store.remove("a") }, { _ = try store.keys() },
        ]
        for operation in operations {
            let error = #expect(throws: KeyValueStoreError.self) { try operation() }
            expect(error?.isCorruptFile, equals: true)
            expect(error.map { "\($0)" }?.contains("\(url.path) is damaged and was left unchanged: "), equals: true)
        }
        try expect(FileAccess.system.load(url), equals: Data(content.utf8))
        try expect(folder.names(), equals: ["store.json"])
    }

    @Test("A file that cannot be written or read is reported with its path, and the old values stay")
    func unwritable() throws {
        let files = FileAccess.inMemory
        try KeyValueStore.file(url, in: files).set(1, for: "a")
        let store = KeyValueStore.file(url, in: files.failing(.save))
        let error = #expect(throws: KeyValueStoreError.self) { try store.set(2, for: "a") }
        expect(error.map { "\($0)" }, equals: "can't store \"a\": can't save \(url.path): Permission denied")
        expect(error?.cause is FileAccessError)
        try expect(store.value(Int.self, for: "a"), equals: 1)
        try store.set(1, for: "a")  // Nothing changes, so nothing is written.
        let unreadable = KeyValueStore.file(url, in: files.failing(.load))
        #expect(throws: KeyValueStoreError.self) { try unreadable.data(for: "a") }
        #expect(throws: KeyValueStoreError.self) { try unreadable.set(3, for: "b") }
        try expect(KeyValueStore.file(url, in: files).keys(), equals: ["a"])
    }

    #if !os(Windows)
    @Test("A crash in the middle of a write leaves a store that can be read")
    func crash() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = url.path as String] in
            let store = KeyValueStore.file(URL(filePath: path))
            Thread.detachNewThread {
                for round in 0... {
                    try? store.setData(Data(repeating: UInt8(round % 256), count: 300_000), for: "big")
                }
            }
            while (try? store.data(for: "big"))?.first ?? 0 < 3 {}
            kill(getpid(), SIGKILL)
        }
        let data = try #require(try KeyValueStore.file(url).data(for: "big"))
        expect(data.count, equals: 300_000)
        expect(Set(data).count, equals: 1)
    }
    #endif
}
