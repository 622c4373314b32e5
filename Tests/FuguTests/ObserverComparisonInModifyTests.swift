import Fugu
import Support
import Testing

@Suite("The comparison of a modify belongs to it (laws 7 and 10)") struct ObserverComparisonInModifyTests {}

extension ObserverComparisonInModifyTests {
    /// A value that calls a closure when it's compared.
    struct Value: Equatable, Sendable {
        let number: Int
        var onComparison: @Sendable () -> Void = {}
        static func == (left: Value, right: Value) -> Bool {
            left.onComparison()
            right.onComparison()
            return left.number == right.number
        }
    }
    struct Compared: Property { static var defaultValue: Value { Value(number: 0) } }

    @Test("Other writes of the key wait until == has returned, and none is lost (laws 7 and 10)")
    func waits() {
        let (container, heard) = (Container(), Log<Int>())
        container.observe(Compared.self) { heard.add($0.number) }
        _ = container[Compared.self]
        heard.removeAll()
        let (comparing, writes, comparisons) = (Gate(), Gate(), Counter())
        let writer = startThread {
            comparing.wait()
            writes.open()
            container[Compared.self] = Value(number: 2)
        }
        container.modify(Compared.self) { value in
            value = Value(
                number: 1,
                onComparison: {
                    guard comparisons.add() == 1 else { return }
                    comparing.open()
                    writes.wait()
                    // Reads of the key go on.
                    expect(onAnotherThread { container[Compared.self].number }, equals: 0)
                })
        }
        writer.wait()
        expect(container[Compared.self].number, equals: 2)
        expect(heard.all, equals: [1, 2])
    }

    @Test("A == that writes the key that is being modified stops the program with a message (law 7)")
    func ownKey() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            let container = Container()
            container.observe(Compared.self) { _ in }
            _ = container[Compared.self]
            container.modify(Compared.self) { value in
                value = Value(number: 1, onComparison: { container[Compared.self] = Value(number: 2) })
            }
        }
        expectMessage(of: result, "Compared")
    }
}
