import Fugu
import FuguTesting
import Testing

@testable import Ferry

@Suite(.container { $0[Timetable.self].departures = { _ in ["08:00", "10:00"] } })
struct BoardTests {
    @Test func next() {
        let board = Container.current[Board.self]
        #expect(board.next(after: "09:15") == "10:00")
        #expect(board.next(after: "10:00") == nil)
    }
}
