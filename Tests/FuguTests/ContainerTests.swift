import Fugu
import Support
import Testing

@Suite("A container at first sight") struct ContainerTests {
    struct Name: Property { static var defaultValue: String { "world" } }
    struct Greeting: Feature {
        let text: String
        static func load(in container: any FeatureContainer) -> Greeting {
            Greeting(text: "Hello, \(container[Name.self])")
        }
    }

    @Test("reads defaults, sets, and loads features from what is set")
    func basics() {
        let container = Container()
        expect(container[Name.self], equals: "world")
        container[Name.self] = "Ada"
        expect(container[Greeting.self].text, equals: "Hello, Ada")
    }
}
