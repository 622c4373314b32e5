import Fugu

let container = Container()
container.observe(Board.self) { print($0.title) }
_ = container[Board.self]  // Departures from Bergen
container.harbor = "Stavanger"  // Departures from Stavanger
