import Support
import Testing

@testable import Fugu

/// Law 9: values(of:).
struct SequenceTests {}

extension SequenceTests {
    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Label: Feature {
        static func load(in container: any FeatureContainer) -> String { "number \(container[Number.self])" }
    }

    @Test("The present value comes first, then later ones, of which a slow reader gets the newest (law 9)")
    func presentFirst() async {
        // The present value comes first, then later ones.
        do {
            let container = Container()
            container[Number.self] = 1
            var heard: [Int] = []
            for await number in container.values(of: Number.self) {
                heard.append(number)
                if number == 4 { break }
                container[Number.self] = number + 1
            }
            expect(heard, equals: [1, 2, 3, 4])
        }
        // A slow reader skips to the newest.
        do {
            let container = Container()
            var numbers = container.values(of: Number.self).makeAsyncIterator()
            for number in 1...100 { container[Number.self] = number }
            await expect(numbers.next(isolation: nil), equals: 100)
            container[Number.self] = 101
            await expect(numbers.next(isolation: nil), equals: 101)
        }
    }

    @Test("A feature that isn't loaded yet is loaded, once, and comes first (law 9)")
    func loads() async {
        let container = Container()
        let key = PropertyKey(defaultValue: 5)
        let feature = FeatureKey { _ in 6 }
        var properties = container.values(of: { _ in key }).makeAsyncIterator()
        var features = container.values(of: { _ in feature }).makeAsyncIterator()
        var labels = container.values(of: Label.self).makeAsyncIterator()
        await expect(properties.next(isolation: nil), equals: 5)
        await expect(features.next(isolation: nil), equals: 6)
        await expect(labels.next(isolation: nil), equals: "number 0")
        container[key] = 50
        container[feature] = 60
        container.reset(Label.self)
        container[Label.self] = "set"
        await expect(properties.next(isolation: nil), equals: 50)
        await expect(features.next(isolation: nil), equals: 60)
        await expect(labels.next(isolation: nil), equals: "set")
    }

    @Test("The sequence ends when its task is cancelled, or its container is released, which it does not keep (law 9)")
    func cancellation() async {
        // The sequence ends when its task is cancelled.
        do {
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
            await expect(task.value, equals: [0])
        }
        // The sequence ends when its container is released, and does not keep it.
        do {
            var container: Container? = Container()
            weak let weakContainer = container
            let numbers = container!.values(of: Number.self)
            let labels = container!.values(of: Label.self)
            let ofChild = container!.child().values(of: Number.self)
            var own = numbers.makeAsyncIterator()
            await expect(own.next(isolation: nil), equals: 0)
            let waiting = Task {
                var heard: [String] = []
                for await label in labels { heard.append(label) }
                return heard
            }
            container = nil
            expect(weakContainer == nil)
            await expect(own.next(isolation: nil) == nil)
            await expect(waiting.value, equals: ["number 0"])
            var heard: [Int] = []
            for await number in ofChild { heard.append(number) }
            expect(heard, equals: [0])
        }
    }

    @Test("Every reader ends with the value that stays, whatever it skipped (law 9)")
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
            expect(numbers.last, equals: last)
            expect(numbers, equals: numbers.sorted())
            expect(Set(numbers).count, equals: numbers.count)
        }
    }
}

/// Law 9: readers of one sequence.
struct SequenceReadersTests {}

extension SequenceReadersTests {
    enum Number: Property { static var defaultValue: Int { 0 } }

    @Test("Two tasks that iterate one sequence each get the values, and cancelling one does not end the other (law 9)")
    func ownValues() async {
        // Two tasks that iterate one sequence each get the values for themselves.
        do {
            let container = Container()
            let values: ObservedValues<Int> = container.values(of: Number.self)
            var (first, second) = (values.makeAsyncIterator(), values.makeAsyncIterator())
            await expect(first.next(), equals: 0)
            await expect(second.next(), equals: 0)
            for number in 1...3 {
                container[Number.self] = number
                await expect(first.next(), equals: number)
                await expect(second.next(), equals: number)
            }
        }
        // Cancelling one reader does not end the other.
        do {
            let container = Container()
            let values = container.values(of: Number.self)
            let begun = Log<Int>()
            let ending = Task {
                for await value in values { begun.add(value) }
            }
            let staying = Task {
                for await value in values where value == 9 { return value }
                return -1
            }
            while begun.count == 0 { await Task.yield() }
            ending.cancel()
            await ending.value
            container[Number.self] = 9
            await expect(staying.value, equals: 9)
        }
    }
}
