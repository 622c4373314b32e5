import Fugu
import FuguTesting
import Testing

@testable import Ferry

@Suite(.container)
struct BoardTests {
    @Test func next() {
        let board = Container.current[Board.self]
        #expect(board.next(after: "09:15") == "10:00")
        #expect(board.next(after: "10:00") == nil)
    }
}
