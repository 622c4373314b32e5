import Fugu
import FuguConfiguration

let app = Container()
app.declare(\.harbor, \.seats, \.token)
try app.apply(TOMLSource(text: "[ferry]\nharbor = 'Stavanger'\ntoken = 'hunter2'", name: "ferry.toml"))
try app.apply(EnvironmentSource(prefix: "APP"))
try app.apply(ArgumentsSource(["--ferry-seats", "80"]))
try app.validate()

print(app[Board.self].title)  // Departures from Stavanger
print(app.seats)  // 80
print(app.explain(\.token))  // ferry.token = (secret) (ferry.toml:3:9)
