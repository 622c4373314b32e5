import CHeap
import Fugu

/// The bytes that one more of something takes, the allocator's own included.
public struct Footprint {
    /// The thing whose number grows.
    public let name: String
    /// The mean over many of them.
    public let bytes: Double
    /// The most it may take; infinite where the figure only informs.
    public let bound: Double

    private init(_ name: String, bound: Double, of count: Int, _ make: (Int) -> AnyObject) {
        self.name = name
        self.bound = bound
        var all: [AnyObject] = []
        all.reserveCapacity(count)
        // Create one before measuring, because the first use creates objects that stay.
        all.append(make(0))
        all.removeAll(keepingCapacity: true)
        let before = heap_bytes_in_use()
        for index in 0..<count { all.append(make(index)) }
        bytes = Double(heap_bytes_in_use() - before) / Double(count)
        withExtendedLifetime(all) {}
    }

    /// Measured with nothing else running in the process.
    public static func measured() -> [Footprint] {
        let parent = Container()
        parent[Timeout.self] = 31
        let count = 10_000
        return [
            Footprint("empty root", bound: 1_024, of: count) { _ in Container() },
            // Times that never come round take 16 bytes more than the counters of 32 bits that were there before.
            Footprint("empty child", bound: 416, of: count) { _ in parent.child() },
            Footprint("child with one value", bound: .infinity, of: count) { index in
                let child = parent.child()
                child[Timeout.self] = index
                return child
            },
            key(among: 100), key(among: 1_000), key(among: 10_000),
        ]
    }

    /// One more key with an `Int`: 64 bytes, and 8 for the value.
    private static func key(among count: Int) -> Footprint {
        let keys = (0..<count).map { PropertyKey(defaultValue: $0, id: $0) }
        let containers = 20
        // The first use of a key can register it for the process, which isn't the container's memory.
        let first = Container()
        for (index, key) in keys.enumerated() { first[key] = index }
        let empty = Footprint("", bound: 0, of: containers) { _ in Container() }
        let full = Footprint("", bound: 0, of: containers) { _ in
            let container = Container()
            for (index, key) in keys.enumerated() { container[key] = index }
            return container
        }
        return Footprint(
            name: "key with an Int, among \(count)", bytes: (full.bytes - empty.bytes) / Double(count), bound: 64 + 8)
    }

    private init(name: String, bytes: Double, bound: Double) {
        self.name = name
        self.bytes = bytes
        self.bound = bound
    }
}
