// Who shares what: `swift run Scopes`.

func heading(_ text: String) { print("\n\(text)") }

@main
enum Main {
    static func main() async {
        await showRequests()
        showApi()
    }
}
