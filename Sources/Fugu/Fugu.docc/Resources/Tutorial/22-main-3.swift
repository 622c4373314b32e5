import Fugu

let container = Container()
container.observe(Board.self) { print($0.title) }
_ = container[Board.self]  // Departures from Bergen
container.harbor = "Stavanger"  // Departures from Stavanger

container.update { changes in
    changes.harbor = "Haugesund"
    changes[Timetable.self] = Timetable { _ in ["12:00"] }
}  // Departures from Haugesund
print(container[Board.self].departures)  // ["12:00"]

let sign = Sign()
sign.follow(container)
container.harbor = "Oslo"  // Departures from Oslo
while sign.text.isEmpty { await Task.yield() }
print(sign.text)  // Departures from Oslo
