// This example teaches where instances live: which requests share one, how rules configure children by path, and what
// stands on that: wrappers, lists, children for each tenant. It numbers the instances, so that the output shows which one each reader gets.
//
// Run it with `swift run Scopes`.

func heading(_ text: String) { print("\n\(text)") }

@main
enum Main {
    static func main() async {
        await showRequests()
        showApi()
        showWrappersAndLists()
        await showTenants()
        await showStates()
        await showRequired()
    }
}
