import Fugu
import FuguTesting
import Support
import Testing

@testable import KeyLibrary

/// Law 1: keys of another module.
struct KeyInTwoModulesTests {
    let container = Container()
}

extension KeyInTwoModulesTests {
    @Test("Keys of a module work in its own tests and in another module, as members and as key paths (law 1)")
    func internalKeys() {
        // Internal keys of a module work in its own tests, as members and as key paths.
        do {
            expect(container.internalLimit, equals: 3)
            container.internalLimit = 4
            expect(container.internalLimit, equals: 4)
            expect(container.internalWords, equals: "limit 4")
            expect(limitsInside(container), equals: [30, 4, 30, 4])
            container.reset(\.internalLimit)
            expect(limitsInside(container), equals: [30, 3, 30, 3])
        }
        // Public keys of a module work in another, as members and as key paths.
        do {
            let container = Container().unreported
            container.publicLimit = 31
            container.publicText = "text"
            expect(container.publicText, equals: "text")
            expect(container.publicSum, equals: 34)
            expect(limitsInside(container), equals: [31, 3, 31, 3])
            container.modify(\.publicLimit) { $0 += 1 }
            container.update { $0.publicNamed = 81 }
            expect(container.publicLimit, equals: 32)
            expect(container.publicNamed, equals: 81)
            expect(container.ifLoaded(\.publicSum), equals: 34)
        }
    }

    @Test("They are observed, injected and warmed up across modules (laws 1, 9)")
    func otherUses() async throws {
        let (recorded, heard) = (Log<Int>(), Log<Int>())
        container.observe(\.publicLimit) { recorded.add($0) }
        container.observe(\.internalLimit) { heard.add($0) }
        container.publicLimit = 1
        container.internalLimit = 2
        expect(recorded.all == [1] && heard.all == [2])
        try await container.warmUp { $0.load(\.publicSum) }
        expect(container.ifLoaded(\.publicSum), equals: 3)
        struct Reader {
            @Injected(\.publicLimit) var limit
            @Injected(\.internalWords) var words
        }
        Container.with(container) {
            expect(Reader().limit, equals: 1)
            expect(Reader().words, equals: "limit 2")
        }
        var values = container.values(of: \.internalLimit).makeAsyncIterator()
        await expect(values.next(), equals: 2)
    }

    @Test("Key paths to them can be stored and formed at run time (law 1)")
    func storedPaths() {
        let paths: [KeyPath<ContainerKeys, PropertyKey<Int>>] = [\.publicLimit, \.internalLimit, \.publicNamed]
        for (number, path) in paths.enumerated() { container[dynamicMember: path] = number }
        expect(paths.map { container[dynamicMember: $0] }, equals: [0, 1, 2])
        expect(limitsInside(container), equals: [0, 1, 0, 1])
    }
}
