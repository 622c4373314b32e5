// This example teaches where instances live: which requests share one, and how rules configure children by path. It
// numbers the instances, so that the output shows which one each reader gets.
//
// Run it with `swift run Scopes`.

func heading(_ text: String) { print("\n\(text)") }

@main
enum Main {
    static func main() async {
        await showRequests()
        showApi()
    }
}
