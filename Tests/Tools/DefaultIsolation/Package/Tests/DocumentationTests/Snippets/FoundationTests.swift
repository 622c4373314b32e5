import Foundation
import Fugu
import FuguConfiguration
import FuguFoundation
import FuguFoundationSources
import Testing

func applySources(to container: Container, from bundle: Bundle) throws {
    try container.apply(PropertyListSource(infoOf: bundle))
    try container.apply(JSONSource(resource: "settings", in: bundle, isOptional: true))
}

func keepNote(in container: Container, at url: URL) throws {
    let (files, settings) = (container.fileAccess, container.keyValueStore)
    // load(_:), append(_:to:), delete(_:), exists(_:), list(_:), and for tests, failing(_:with:)
    try files.save(Data("tea".utf8), to: url)
    // value(_:for:), data(for:), setData(_:for:), remove(_:), and keys()
    try settings.set("dark", for: "theme")
}

extension Snippets {
    @Test("FuguFoundation: the members of a container are set")
    func foundation() async throws {
        try await run {
            let container = Container()
            container.date = .constant(Date(timeIntervalSince1970: 60))
            container.uuid = .incrementing
            container.fileAccess = .inMemory
            print(container.date.now.timeIntervalSince1970)  // 60.0
            print(container.uuid())  // 00000000-0000-0000-0000-000000000000
        }
    }

    @Test("FuguFoundation: a note and a setting are kept")
    func notes() throws {
        let container = Container()
        (container.fileAccess, container.keyValueStore) = (.inMemory, .inMemory)
        let url = URL(filePath: "/note")
        try keepNote(in: container, at: url)
        #expect(try container.fileAccess.load(url) == Data("tea".utf8))
        #expect(try container.keyValueStore.value(String.self, for: "theme") == "dark")
    }

    @Test("FuguFoundationSources: a bundle is a source")
    func bundles() throws { try applySources(to: Container(), from: .main) }
}
