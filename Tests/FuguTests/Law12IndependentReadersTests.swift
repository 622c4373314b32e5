import Fugu
import Support
import Testing

@Suite("Law 12: readers of one sequence") struct Law12IndependentReadersTests {
    static let cases: [Case<Law12IndependentReadersTests>] = [
        Case("Two tasks that iterate one sequence each get the values for themselves (law 12)", ownValues),
        Case("Cancelling one reader does not end the other (law 12)", cancelling),
        Case("A sequence can be stored, read twice, and does not throw (law 12)", stored),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law12IndependentReadersTests>) async throws {
        try await stated.run(self)
    }

    enum Number: Property { static var defaultValue: Int { 0 } }

    func ownValues() async {
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

    func cancelling() async {
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

    func stored() async {
        struct Screen { let numbers: ObservedValues<Int> }
        let container = Container()
        let screen = Screen(numbers: container.values(of: Number.self))
        for await value in screen.numbers {
            expect(value, equals: 0)
            break
        }
        container[Number.self] = 1
        for await value in screen.numbers {
            expect(value, equals: 1)
            break
        }
    }
}
