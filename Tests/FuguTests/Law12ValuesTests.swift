@testable import Fugu
import Support
import Testing

@Suite("Law 12: values(of:)") struct Law12ValuesTests {
    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Label: Feature {
        static func load(in container: any FeatureContainer) -> String { "number \(container[Number.self])" }
    }
    struct Parsed: ThrowingFeature {
        struct Broken: Error {}
        static func load(in container: any FeatureContainer) throws -> Int {
            guard container[Number.self] >= 0 else { throw Broken() }
            return container[Number.self]
        }
    }
    struct Fetched: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Int { container[Number.self] + 100 }
    }

    @Test("The present value comes first, then later ones (law 12)")
    func presentFirst() async {
        let container = Container()
        container[Number.self] = 1
        var heard: [Int] = []
        for await number in container.values(of: Number.self) {
            heard.append(number)
            if number == 4 { break }
            container[Number.self] = number + 1
        }
        #expect(heard == [1, 2, 3, 4])
    }

    @Test("A feature that isn't loaded yet is loaded, once, and comes first (law 12)")
    func loads() async {
        let container = Container()
        let key = PropertyKey(defaultValue: 5)
        let feature = FeatureKey { _ in 6 }
        var properties = container.values(of: \.[key]).makeAsyncIterator()
        var features = container.values(of: \.[feature]).makeAsyncIterator()
        var labels = container.values(of: Label.self).makeAsyncIterator()
        #expect(await properties.next(isolation: nil) == 5)
        #expect(await features.next(isolation: nil) == 6)
        #expect(await labels.next(isolation: nil) == "number 0")
        container[key] = 50
        container[feature] = 60
        container.reset(Label.self)
        container[Label.self] = "set"
        #expect(await properties.next(isolation: nil) == 50)
        #expect(await features.next(isolation: nil) == 60)
        #expect(await labels.next(isolation: nil) == "set")
    }

    @Test("A slow reader skips to the newest (law 12)")
    func slowReader() async {
        let container = Container()
        var numbers = container.values(of: Number.self).makeAsyncIterator()
        for number in 1...100 { container[Number.self] = number }
        #expect(await numbers.next(isolation: nil) == 100)
        container[Number.self] = 101
        #expect(await numbers.next(isolation: nil) == 101)
    }

    @Test("The sequence ends when its task is cancelled (law 12)")
    func cancellation() async {
        let container = Container()
        let first = Gate()
        let task = Task {
            var heard: [Int] = []
            for await number in container.values(of: Number.self) {
                heard.append(number)
                first.open()
            }
            return heard
        }
        await first.opened()
        task.cancel()
        #expect(await task.value == [0])
    }

    @Test("The sequence ends when its container is released, and does not keep it (law 12)")
    func containerGone() async {
        var container: Container? = Container()
        weak let weakContainer = container
        let numbers = container!.values(of: Number.self)
        let labels = container!.values(of: Label.self)
        let ofChild = container!.child().values(of: Number.self)
        var own = numbers.makeAsyncIterator()
        #expect(await own.next(isolation: nil) == 0)
        let waiting = Task {
            var heard: [String] = []
            for await label in labels { heard.append(label) }
            return heard
        }
        container = nil
        #expect(weakContainer == nil)
        #expect(await own.next(isolation: nil) == nil)
        #expect(await waiting.value == ["number 0"])
        var heard: [Int] = []
        for await number in ofChild { heard.append(number) }
        #expect(heard == [0])
    }

    @Test("The sequence ends when its container closes (law 12)")
    func closing() async throws {
        let container = Container()
        var numbers = container.values(of: Number.self).makeAsyncIterator()
        #expect(await numbers.next(isolation: nil) == 0)
        try await container.close()
        #expect(await numbers.next(isolation: nil) == nil)
    }

    @Test("A throwing feature yields its successes (law 12)")
    func throwing() async throws {
        let container = Container()
        container[Number.self] = -1
        var values = container.values(of: Parsed.self).makeAsyncIterator()
        #expect(throws: Parsed.Broken.self) { try container[Parsed.self] }
        container[Number.self] = 3
        #expect(try container[Parsed.self] == 3)
        #expect(await values.next(isolation: nil) == 3)
        container.set(Parsed.self, to: 4)
        #expect(await values.next(isolation: nil) == 4)
    }

    @Test("An async feature is loaded and yields its successes (law 12)")
    func async() async throws {
        let container = Container()
        var values = container.values(of: Fetched.self).makeAsyncIterator()
        #expect(await values.next(isolation: nil) == 100)
        container.set(Fetched.self, to: 1)
        #expect(await values.next(isolation: nil) == 1)
    }

    @Test("Every reader ends with the value that stays, whatever it skipped (law 12)")
    func readers() async {
        let container = Container()
        let last = 2_000
        let heard = await withTaskGroup(of: [Int].self) { group in
            for _ in 0..<3 {
                group.addTask {
                    var heard: [Int] = []
                    for await number in container.values(of: Number.self) {
                        heard.append(number)
                        if number == last { break }
                    }
                    return heard
                }
            }
            startThread { for number in 1...last { container[Number.self] = number } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for numbers in heard {
            #expect(numbers.last == last && numbers == numbers.sorted() && Set(numbers).count == numbers.count)
        }
    }
}
