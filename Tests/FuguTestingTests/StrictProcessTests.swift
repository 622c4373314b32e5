import Fugu
@testable import FuguTesting
import StrictnessCases
import Support
import Testing

/// Law 29: what a process that links FuguTesting does, as far as one process can show it; the rest is in StrictPackage.
struct StrictProcessTests {
    @Test("Instances loaded before a container became strict can be dropped; set ones stay (law 29)")
    func dropping() {
        let container = Container.program()
        let child = container.child { $0[Number.self] = 2 }
        container[Number.self] = 1
        expect(container[Account.self].signup.mailer.name, equals: "live")
        expect(container[Doubled.self].value, equals: 2)
        container.makeStrict(Strictness { _ in })
        expect(container[Account.self].signup.mailer.name, equals: "live")
        container.dropLoadedFeatures()
        expect(container.ifLoaded(Account.self) == nil)
        expect(container.ifLoaded(Mailer.self) == nil)
        expect(container[Account.self].signup.mailer.name, equals: "placeholder")
        expect(container[Doubled.self].value, equals: 2)
        expect(child[Doubled.self].value, equals: 4)
    }

    @Test("What stops the process names the test, or those that are running where it isn't known (law 29)")
    func traps() async throws {
        let name = try #require(Test.current?.displayName)
        let inTest = "why\n(This happened in the test \(name).)"
        expect(Runner().naming("why"), equals: inTest)
        try await runCase(.container) {
            expect(Runner().naming("why"), equals: inTest)
            let detached = await Task.detached { Runner().naming("why") }.value
            // Of many names, it has the first ones.
            expect(detached.hasPrefix("why\n(Which test this belongs to isn't known. Of those with "), "\(detached)")
        }
    }

    @Test("Advice can be pasted in every case (law 29)")
    func advice() async throws {
        let line = "$0[Mailer.self] = …"
        expect(Messages.adviceForShared(line, .xctest).contains("Container.strict { \(line) } operation: { … }"))
        expect(Messages.adviceForShared(line, .xctest).contains("Container.live { … }"))
        expect(Messages.adviceForShared(line, .unknownTest).contains("@Test(.container { \(line) })"))
        expect(Messages.adviceForShared(line, .nobody).contains("Container.live { … }"))
        let test = try #require(Test.current)
        expect(Messages.adviceForShared(line, .test(test)).contains("@Test(.container { \(line) })"))
        let testCase = TestCase(of: test)
        expect(Messages.adviceForShared(line, .testCase(testCase)).hasSuffix(".container { \(line) }"))
        expect(Messages.adviceForTrait(line).hasSuffix(".container { \(line) }"))
        expect(
            Messages.adviceForRoot(nil).contains(
                ".child(), and give the test a container in the test's trait: .container. To"))
        expect(Messages.adviceByHand(line).hasSuffix("Container.strict { \(line) }"))
    }
}
