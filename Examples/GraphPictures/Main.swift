// This example teaches how to see inside a container: its graph, explanations, the cause of a failure, and pictures.
import Foundation
import Fugu
import FuguInspection

// swift run GraphPictures                        prints what pictures and explanations say of a shop
// swift run GraphPictures FOLDER                 writes the picture of the shop in every format
// swift run GraphPictures FOLDER --features 300  the same of a graph of so many features, with the time that it takes
// swift run -c release GraphPictures FOLDER --features 1000 --check [--slack 2]
//                                          and exits with 1 if a text takes more than 20 ms, or the page more than 200 ms,
//                                          times the slack
@main
struct GraphPictures {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let folder = arguments.first
        if let count = arguments.drop(while: { $0 != "--features" }).dropFirst().first.flatMap(Int.init), let folder {
            let slack = arguments.drop(while: { $0 != "--slack" }).dropFirst().first.flatMap(Double.init) ?? 1
            return try Large(count).withGraphs {
                try Timing.print($0, slack: arguments.contains("--check") ? slack : nil)
                try write($0(), to: folder)
            }
        }
        let shop = try await Shop()
        guard let folder else {
            try show(shop)
            return await showCheck()
        }
        try write(shop.root.graph, to: folder)
        try write(shop.root.graph.filteredByFailure(), to: folder, named: "failure")
        withExtendedLifetime(shop) {}
    }

    private static func showCheck() async {
        print("\n7. A check of the whole shop, before anything runs: a test compares this text.\n")
        let check = await Container().check(overriding: \.requestID, \.user) {
            $0.load(\.page)
            $0.load(Newsletter.self)
            $0.load(Checkout.self)
        }
        print(check)
    }

    private static func show(_ shop: Shop) throws {
        let graph = shop.root.graph.withoutDurations()
        print("1. The graph: the entries of each container, and the inputs of each instance.\n")
        print(graph)

        print("\n2. Explanations: why each entry is what it is, and lives where it lives.")
        let (first, second) = (shop.requests[0], shop.requests[1])
        for explanation in [
            first.explain(\.requestID), first.explain(\.paymentToken), first.explain(\.session),
            first.explain(\.scratchpad), first.explain(\.templates), first.explain(\.style),
            second.explain(Payments.self),
            second.explain(Newsletter.self), first.explain(Checkout.self),
        ] {
            print("\n\(explanation.name)")
            // A line of time for each load would be another one in each run.
            for sentence in explanation.sentences {
                print("   " + sentence.replacing(#/ in [0-9.e-]+ (ns|µs|ms|s)/#, with: ""))
            }
        }

        let failure = graph.filteredByFailure()
        print(
            "\n3. The way to the failure, as a Mermaid flowchart. The cause: \(failure.causes.joined(separator: ", "))\n"
        )
        print(failure.mermaid)
        print("4. The same in the DOT language.\n")
        print(failure.dot)
        print("5. The same as JSON.\n")
        print(failure.json)
        print("6. What a debugger shows.\n")
        debugPrint(shop.root, first, separator: "\n")
        withExtendedLifetime(shop) {}
    }

    private static func write(_ graph: ContainerGraph, to folder: String, named name: String = "graph") throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (text, type) in [(graph.mermaid, "mmd"), (graph.dot, "dot"), (graph.json, "json"), (graph.html, "html")] {
            let path = "\(folder)/\(name).\(type)"
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            print("\(path): \(text.utf8.count) bytes")
        }
    }
}
