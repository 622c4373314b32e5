import Fugu
import FuguInspection
import Support
import Testing

@Suite("Events, observed and caused by many threads")
struct EventThreadsTests {
    private struct Number: Property { static var defaultValue: Int { 0 } }

    @Test("Observers of events come and go while other threads cause events (laws 4 and 11)")
    func comeAndGo() async {
        let container = Container()
        let (heard, rounds) = (Counter(), rounds(2_000, few: 300))
        let kept = container.observeEvents { _ in heard.add() }
        await onThreads(6) { index in
            for round in 0..<rounds {
                if index < 3 {
                    container[Number.self] = index * rounds + round
                } else {
                    let tokens = (0..<3).map { _ in container.observeEvents { _ in heard.add() } }
                    for token in tokens.reversed() { token.cancel() }
                }
            }
        }
        kept.cancel()
        expect(heard.value >= 3 * rounds)
    }
}
