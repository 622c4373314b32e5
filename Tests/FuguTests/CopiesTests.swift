import Support
import Testing

@testable import Fugu

// `Tests/Tools/TwoCopies` has a process with two copies.
@Suite("Two copies of the module in one process") struct CopiesTests {
    static let cases: [Case<CopiesTests>] = [
        Case("A process with one copy reports nothing, and the runtime finds this copy by its name", one),
        Case("The message names both files, as far as they are known, and the cure", message),
        Case("A type's address leads to the file that it was loaded from", path),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<CopiesTests>) async throws { try await stated.run(self) }

    func one() throws {
        expect(Copies.report == nil)
        let name = try #require(_mangledTypeName(Container.self))
        expect(_typeByName(name) == Container.self)
    }

    func message() {
        let text = Messages.twoCopies("/app/Shop", "/tests/ShopTests")
        expect(text.hasPrefix("Fugu: this process has two copies of Fugu, in /app/Shop and in /tests/ShopTests. "))
        expect(text.contains("Container.shared"))
        expect(text.contains("a dynamic library that both of them use"))
        expect(Messages.twoCopies(nil, nil).contains("in one file and in another. "))
    }

    func path() throws {
        let address = UInt(bitPattern: ObjectIdentifier(Container.self))
        #if os(Linux) || canImport(Darwin)
        try expect(#require(PlatformImage.path(at: address)).contains("FuguPackageTests"))
        #endif
        expect(PlatformImage.path(at: 0) == nil)
    }
}
