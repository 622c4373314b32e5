import Fugu

let container = Container()
let token = container.observe(\.harbor) { print("now in \($0)") }
container.harbor = "Stavanger"  // now in Stavanger
container.harbor = "Stavanger"
token.cancel()
container.harbor = "Haugesund"

for await harbor in container.values(of: \.harbor) {
    print(harbor)  // Haugesund
    break
}
