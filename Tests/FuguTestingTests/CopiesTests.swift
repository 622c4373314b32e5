import Fugu
import Support
import Testing

@testable import FuguTesting

// `Tests/Tools/TwoCopies` has a process with two copies.
/// Two copies of the module in one process.
struct CopiesTests {}

extension CopiesTests {
    @Test("A process with one copy reports nothing, and the runtime finds this copy by its name")
    func one() throws {
        expect(Copies.report == nil)
        let name = try #require(_mangledTypeName(Container.self))
        expect(_typeByName(name) == Container.self)
    }

    @Test("The message names both files, as far as types lead to them, and the cure")
    func message() throws {
        // The message names both files, as far as they are known, and the cure.
        do {
            let text = Messages.twoCopies("/app/Shop", "/tests/ShopTests")
            expect(text.hasPrefix("Fugu: this process has two copies of Fugu, in /app/Shop and in /tests/ShopTests. "))
            expect(text.contains("Container.shared"))
            expect(text.contains("a dynamic library that both of them use"))
            expect(Messages.twoCopies(nil, nil).contains("in one file and in another. "))
        }
        // A type leads to the file that it was loaded from.
        do {
            #if os(Linux) || canImport(Darwin)
            try expect(#require(Copies.path(of: Container.self)).contains("FuguPackageTests"))
            #endif
        }
    }
}
