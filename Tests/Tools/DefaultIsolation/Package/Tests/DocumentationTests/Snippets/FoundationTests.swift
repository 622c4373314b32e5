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

    @Test("FuguFoundationSources: a bundle is a source")
    func bundles() throws { try applySources(to: Container(), from: .main) }
}
