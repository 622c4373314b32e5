import Fugu
import FuguInspection
import Support
import Testing

@Suite("Descriptions of containers") struct DescriptionLineTests {
    struct Service { let container: Container }
    struct Curious: Feature {
        let text: String
        static func load(in container: any FeatureContainer) -> Curious { Curious(text: "\(container)") }
    }

    @Test("A description is one line of a log, alone, in what holds the container, and with a name of several lines")
    func lines() {
        let root = Container()
        root.containerName = "shop\nin\r\nMilan"
        let child = root.child { $0.containerName = "a\u{2028}b" }
        expect("\(child)", equals: "Container(a b: 0 set, 0 loaded)")
        let key = FeatureKey(id: "a\nb") { _ in 1 }
        for container in [root, child, root.observable._container] {
            container[key] = 1
            let texts = [
                "\(container)", String(reflecting: container), "\(Optional(container) as Any)",
                "\(Service(container: container))",
                "\([container])", "\(container.observable)", container[Curious.self].text,
            ]
            for text in texts { expect(!text.contains(where: \.isNewline), text) }
        }
    }
}
