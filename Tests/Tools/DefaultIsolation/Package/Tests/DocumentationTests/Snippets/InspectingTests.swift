import Fugu
import FuguInspection
import Testing

extension Snippets {
    @Test("Seeing inside: the graph, explanations and events")
    func inspecting() async throws {
        try await run {
            let shop = Container()
            let request = shop.child { $0.visitor = "Ada" }
            _ = request[Basket.self]
            shop.database = "copy"
            let picture = shop.graph.description
            #expect(
                picture == #"""
                    root
                      Catalog stale ← \.database
                      \.database (set)
                      container 1
                        Basket ← \.visitor, Catalog
                        \.visitor (set)
                    """#)

            let named = shop.child { $0.containerName = "Ada's request" }
            #expect("\(named)" == "Container(Ada's request: 0 set, 0 loaded)")

            print(request.explain(\.visitor).sentences[0])  // \.visitor is "Ada", set in container 1.
            print(request.explain(Catalog.self).sentences[2])  // It was loaded from \.database.

            let check = await shop.check(overriding: \.visitor) { $0.load(Basket.self) }
            #expect(
                check.description == #"""
                    lives in the root
                      Catalog
                    lives where \.visitor is set
                      Basket: \.visitor
                    """#)

            let token = shop.observeEvents { event in
                if let duration = event.duration, duration > .seconds(1) { print("slow: \(event)") }
            }
            token.cancel()
        }
    }
}
