import Fugu
import FuguInspection
import FuguTesting
import Support
import Testing

@Suite("Recorders, read while other threads add to them") struct RecorderThreadsTests {}

extension RecorderThreadsTests {
    private struct Number: Property { static var defaultValue: Int { 0 } }

    @Test("A recorder gives what it has so far, in order (laws 4 and 10)")
    func readMeanwhile() async {
        let container = Container()
        let (values, events) = (ObservationRecorder(Number.self, in: container), EventRecorder(of: container))
        let (faults, rounds) = (Counter(), rounds(600, few: 200))
        await onThreads(4) { index in
            for round in 0..<rounds {
                if index == 0 { container[Number.self] = round + 1 }
                let (seen, numbers) = (values.values, events.events.map(\.number))
                if seen != Array(1..<(seen.count + 1)) || numbers != numbers.sorted() { faults.add() }
            }
        }
        expect(faults.value, equals: 0)
        expect(values.values.count, equals: rounds)
    }
}
