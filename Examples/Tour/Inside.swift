import Fugu
import FuguInspection

// A bank refuses: see what a program holds, why it is where it is, and what a failure came from.

struct Refused: Error, CustomStringConvertible {
    let description: String
}

struct Payments: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Payments {
        throw Refused(description: "the bank refuses \(container.user)")
    }
}

struct Checkout: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Checkout {
        _ = container[Account.self]
        _ = try container[Payments.self]
        return Checkout()
    }
}

func showInside() async {
    heading("8. The graph of a service with a request.")
    let service = Container()
    let guest = request("a", of: service) { $0.containerName = "request a" }
    let ada = request("b", of: service) {
        $0.containerName = "request b"
        $0.user = "ada"
    }
    _ = (guest[RequestLog.self], guest[Account.self])
    _ = try? ada[Checkout.self]
    let graph = service.graph.withoutDurations()
    print(graph)

    heading("9. Why an account is where it is, and why a checkout failed.")
    for explanation in [guest.explain(Account.self), ada.explain(Checkout.self)] {
        print(explanation.name)
        // The time of a load would differ in each run.
        for sentence in explanation.sentences {
            print("   " + sentence.replacing(#/ in [0-9.e-]+ (ns|µs|ms|s)/#, with: ""))
        }
    }

    heading("10. The way to the failure, as a Mermaid flowchart.")
    print(graph.filteredByFailure().mermaid, terminator: "")

    heading("11. A check of everything before anything runs: a test compares this text.")
    print(await Container().check(overriding: \.requestID, \.user) { $0.load(Checkout.self) })
}
