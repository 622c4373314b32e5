import Fugu
import FuguInspection
import FuguTesting
import Support
import Testing

@Suite("Recorders, read while other threads add to them") struct RecorderThreadsTests {}

extension RecorderThreadsTests {
    private struct Number: Property { static var defaultValue: Int { 0 } }

    @Test("A recorder of events gives what it has so far, in order (laws 3 and 9)")
    func readMeanwhile() async {
        let container = Container()
        let events = EventRecorder(of: container)
        let (faults, rounds) = (Counter(), rounds(600, few: 200))
        await onThreads(4) { index in
            for round in 0..<rounds {
                if index == 0 { container[Number.self] = round + 1 }
                let numbers = events.events.map(\.number)
                if numbers != Array(1..<UInt64(numbers.count + 1)) { faults.add() }
            }
        }
        expect(faults.value, equals: 0)
        expect(events.events.count, equals: rounds)
    }
}
