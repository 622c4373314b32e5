import Fugu
import FuguConfiguration
import Support
import Testing

/// A package of a lock file, whose dependencies are whatever they are.
private struct Package: Decodable, Sendable {
    let name: String
    let dependencies: PropertyValue
}

/// Documents with a long list, each of whose elements may be anything.
struct Law30LockFileTests {
    /// The text of a lock file, with an integer beyond 64 bits at its end if `isWide`.
    private func lockFile(packages count: Int, isWide: Bool) -> String {
        let package = #"[[package]]\#nname = "a"\#ndependencies = ["b 1.0", "c 2.1"]\#n"#
        return String(repeating: package, count: count)
            + (isWide ? "[metadata]\nhash = 123456789012345678901234567890\n" : "")
    }

    @Test(
        "The packages of a lock file are decoded in time in proportion, as values, in a dictionary, and as members (law 30)",
        arguments: [false, true])
    func packages(isWide: Bool) throws {
        func measure<Value: Decodable & Sendable>(_: Value.Type, _ count: (Value) -> Int) throws {
            try expectProportion(1500) { size in
                let snapshot = try TOMLSource(text: lockFile(packages: size, isWide: isWide), name: "x").load()
                var found: Value?
                let time = try threadTime { found = try snapshot.property("package", as: Value.self) }
                expect(found.map(count), equals: size)
                return time
            }
        }
        try measure([PropertyValue].self) { $0.count }
        try measure([[String: PropertyValue]].self) { $0.count }
        try measure([Package].self) { $0.count }
    }
}
