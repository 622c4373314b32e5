import Fugu

let container = Container()
print(container.harbor)  // Bergen
let board = container[Board.self]
print(board.title)  // Departures from Bergen
print(board.departures)  // ["08:00", "10:00", "18:00"]

let other = Container()
other.harbor = "Stavanger"
print(other[Board.self].departures)  // ["09:00"]
