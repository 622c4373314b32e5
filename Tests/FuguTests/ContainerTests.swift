import Support
import Testing

@testable import Fugu

@Suite("A container at first sight") struct ContainerTests {}

extension ContainerTests {
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
        expect(Container { $0[Name.self] = "Eve" }[Greeting.self].text, equals: "Hello, Eve")
    }
}

// `Tests/Tools/TwoCopies` has a process with two copies.
@Suite("Two copies of the module in one process") struct CopiesTests {}

extension CopiesTests {
    @Test("A process with one copy reports nothing, and the runtime finds this copy by its name")
    func one() throws {
        expect(Copies.report == nil)
        let name = try #require(_mangledTypeName(Container.self))
        expect(_typeByName(name) == Container.self)
    }

    @Test("The message names both files, as far as they are known, and the cure")
    func message() {
        let text = Messages.twoCopies("/app/Shop", "/tests/ShopTests")
        expect(text.hasPrefix("Fugu: this process has two copies of Fugu, in /app/Shop and in /tests/ShopTests. "))
        expect(text.contains("Container.shared"))
        expect(text.contains("a dynamic library that both of them use"))
        expect(Messages.twoCopies(nil, nil).contains("in one file and in another. "))
    }

    @Test("A type's address leads to the file that it was loaded from")
    func path() throws {
        let address = UInt(bitPattern: ObjectIdentifier(Container.self))
        #if os(Linux) || canImport(Darwin)
        try expect(#require(PlatformImage.path(at: address)).contains("FuguPackageTests"))
        #endif
        expect(PlatformImage.path(at: 0) == nil)
    }
}
