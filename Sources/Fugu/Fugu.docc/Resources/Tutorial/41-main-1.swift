import Fugu
import FuguConfiguration

let app = Container()
app.declare(\.harbor, \.seats, \.token)
try app.apply(TOMLSource(text: "[ferry]\nharbor = 'Stavanger'\ntoken = 'hunter2'", name: "ferry.toml"))

print(app[Board.self].title)  // Departures from Stavanger
print(app.seats)  // 120
