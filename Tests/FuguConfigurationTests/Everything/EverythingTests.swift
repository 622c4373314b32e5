import Foundation
import Support
import Testing

/// Values, families, rules, sources, reloads, observers, effects, closing, late reads and strictness together.
///
/// `FUGU_STEPS=10000000` makes as many steps, `FUGU_SEED=…` repeats a seed, and `FUGU_SEEDS=…` so many from there on.
@Suite("Everything together against a slow model") struct EverythingTests {
    @Test("Random stories give what the laws say, whatever is mixed (laws 1 to 29)")
    func stories() async {
        let environment = ProcessInfo.processInfo.environment
        let (count, length) = (environment["FUGU_STEPS"].flatMap { Int($0) } ?? rounds(10_000, few: 3_000), 250)
        let first = environment["FUGU_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000_000)
        let given = environment["FUGU_SEEDS"].flatMap { Int($0) } ?? 1
        let stories = environment["FUGU_SEED"] == nil ? (count + length - 1) / length : given
        print("everything: \(stories) stories of \(length) steps, seeds from \(first) (repeat one with FUGU_SEED=…)")
        for seed in first..<first + UInt64(stories) {
            var random = SeededNumbers(seed: seed)
            let isStrict = random.below(3) == 0
            let story = EverythingStep.story(length, using: &random)
            guard await EverythingComparison.failure(isStrict: isStrict, story) != nil else { continue }
            let (few, failure) = await Self.fewest(story) { await EverythingComparison.failure(isStrict: isStrict, $0) }
            Issue.record("seed \(seed): \(failure)\n\(Self.program(isStrict, few))")
            return
        }
    }

    @Test("An observer is notified of what an update's reset uncovers, though sources came between (laws 7, 10 and 23)")
    func uncoveredBelowSources() async {
        let failure = await EverythingComparison.failure(
            isStrict: true,
            [
                .child(1, of: 0), .change(1, .p2, .set(1)), .child(2, of: 1), .observe(2, .p2), .change(2, .f, .set(3)),
                .apply(1, [.p0: 10, .p1: 10]),
                .update(1, [.f: .set(0), .p0: .reset, .p2: .reset], throws: false),
            ])
        expect(failure == nil)
    }

    /// The story as a test that can be pasted.
    private static func program(_ isStrict: Bool, _ story: [EverythingStep]) -> String {
        """
        @Test("…") func story() async {
            let failure = await EverythingComparison.failure(isStrict: \(isStrict), [
                \(story.map(\.description).joined(separator: ",\n        ")),
            ])
            expect(failure == nil)
        }
        """
    }

    /// The fewest of the steps that still fail.
    private static func fewest(
        _ steps: [EverythingStep], _ failure: ([EverythingStep]) async -> String?
    ) async -> ([EverythingStep], String) {
        var steps = steps
        var length = steps.count / 2
        while length > 0 {
            var start = 0
            let before = steps.count
            while start < steps.count {
                var fewer = steps
                fewer.removeSubrange(start..<min(start + length, steps.count))
                if await failure(fewer) != nil { steps = fewer } else { start += length }
            }
            if length > 1 || steps.count == before { length /= 2 }
        }
        return (steps, await failure(steps) ?? "")
    }
}
