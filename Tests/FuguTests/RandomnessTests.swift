import Fugu
import Support
import Testing

struct RandomnessTests {
    @Test(
        "The linear congruential generator gives the numbers of its formula with the full period, the same for a seed")
    func formula() {
        // The linear congruential generator gives the numbers of its formula, computed elsewhere.
        do {
            func first(_ seed: UInt64) -> [UInt64] {
                let randomness = Randomness.linearCongruential(withSeed: seed)
                return (1...3).map { _ in randomness.next() }
            }
            expect(first(0), equals: [0x412B5CF38C923ED6, 0x93D2C4665CEA0EA8, 0xC363746960853CB9])
            expect(first(.max), equals: [0x069603EB2DFC4590, 0x708A62B177E2EB7D, 0xC3B24AA850ECA40F])
        }
        // The parameters give the full period: an odd increment, and a multiplier of 1 modulo 4.
        do {
            expect(LinearCongruential.increment % 2, equals: 1)
            expect(LinearCongruential.multiplier % 4, equals: 1)
        }
        // The same seed gives the same dice, another seed others, and each generator starts anew.
        do {
            func dice(_ seed: UInt64) -> [Int] {
                let randomness = Randomness.linearCongruential(withSeed: seed)
                return (1...20).map { _ in randomness { Int.random(in: 1...6, using: &$0) } }
            }
            expect(dice(42), equals: dice(42))
            expect(dice(42) != dice(43))
            expect(Set(dice(42)), equals: Set(1...6))
        }
    }

    @Test(
        "Every bit is random, the lowest as well: no bit is set much more or less often than half the time",
        arguments: 0..<64)
    func bits(bit: UInt64) {
        var generator = LinearCongruential(seed: 1)
        let draws = rounds(10_000, few: 1_000)
        var set = 0
        var changes = 0
        var last: UInt64 = 0
        for _ in 0..<draws {
            let value = generator.next() >> bit & 1
            set += Int(value)
            changes += Int(value ^ last)
            last = value
        }
        // Five standard deviations of a fair coin; a short period would show in the changes.
        let bound = Int(2.5 * Double(draws).squareRoot())
        expect(abs(set - draws / 2) < bound)
        expect(abs(changes - draws / 2) < bound)
    }

    @Test("Copies share one sequence, and threads that draw together get each number once")
    func shared() async {
        let shared = Randomness.linearCongruential(withSeed: 5)
        let drawn = await withTaskGroup(of: [UInt64].self) { group in
            for _ in 0..<8 {
                group.addTask { (0..<1_000).map { _ in shared.next() } }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        var alone = LinearCongruential(seed: 5)
        let expected = (0..<8_000).map { _ in alone.next() }
        expect(drawn.sorted(), equals: expected.sorted())
    }

    @Test("A closure that gives 1 draws the lower bound of any range")
    func constant() {
        let randomness = Randomness { 1 }
        expect(randomness { Int.random(in: 1...6, using: &$0) }, equals: 1)
        expect(randomness { UInt8.random(in: 10..<13, using: &$0) }, equals: 10)
        expect(randomness { Int32.random(in: -7...7, using: &$0) }, equals: -7)
        expect(randomness.next(), equals: 1)
    }

    @Test("Drawing in place does not set the feature")
    func inPlace() {
        let container = Container()
        container.randomness = Randomness { 1 }
        let sets = Locked(0)
        let original = container.randomness
        container.randomness = Randomness {
            sets.withLock { $0 += 1 }
            return original.next()
        }
        let value = container.randomness { Int.random(in: 5...8, using: &$0) }
        expect(value, equals: 5)
        expect(sets.withLock { $0 }, equals: 1)
    }

    @Test("The system's generator gives different numbers")
    func system() {
        let randomness = Container.program().randomness
        expect(Set((0..<100).map { _ in randomness.next() }).count, equals: 100)
    }

    @Test("An error that a body throws reaches the caller with its type")
    func throwing() {
        struct Failure: Error {}
        #expect(throws: Failure.self) {
            let randomness = Randomness { 1 }
            try randomness { _ throws(Failure) -> Void in throw Failure() }
        }
    }
}
