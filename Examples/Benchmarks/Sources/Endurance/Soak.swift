import CHeap
import Fugu
import FuguConfiguration
import Synchronization

extension ContainerKeys {
    var limit: PropertyKey<Int> { .init("limit", defaultValue: 0) }
    var requestNumber: PropertyKey<Int> { .init(defaultValue: 0) }
}

enum Pool: Feature {
    static let reloadsWhenInputsChange = true
    static func load(in container: any FeatureContainer) -> Counted { Counted(container.limit) }
}

enum Handler: Feature {
    static func load(in container: any FeatureContainer) -> Counted {
        _ = container[Pool.self]
        return Counted(container.requestNumber)
    }
}

/// Simulates the life of a server: requests with their own containers, and a configuration that is reloaded again and
/// again.
struct Soak {
    let requests: Int
    let reloads: Int

    /// Prints the memory in use after a tenth, half, and all of the work.
    ///
    /// Returns the problems.
    func run() async throws -> [String] {
        let root = Container()
        let source = MutableSource(["limit": 1], name: "flags")
        try root.apply(source)
        root.observe(\.limit) { _ in }
        let batch = max(1, requests / reloads)
        var levels: [UInt] = []
        for number in 0..<reloads {
            source["limit"] = .integer(Int64(number))
            try root.reload()
            for request in 0..<batch {
                let child = root.child { $0.requestNumber = request }
                let seen = child[Handler.self].number
                precondition(seen == request && child[Pool.self].number == number)
                if request % 100 == 0 {
                    try await root.withChild {
                        $0.requestNumber = request
                    } operation: { container in
                        container.onClose { Tally.closed.add(1, ordering: .relaxed) }
                        _ = container[Handler.self]
                    }
                }
            }
            if [reloads / 10, reloads / 2, reloads - 1].contains(number) {
                levels.append(UInt(heap_bytes_in_use()))
                print("after \((number + 1) * batch) requests and \(number + 1) reloads: \(levels.last! >> 10) KB")
            }
        }
        let growth = Int(levels.last!) - Int(levels.first!)
        return growth > 1 << 20 ? ["\(growth) bytes more at the end than after a tenth"] : []
    }
}
