import Fugu
import FuguConfiguration
import Support
import Testing

extension ContainerKeys {
    fileprivate var first: PropertyKey<Int> { .init("first", defaultValue: 0) }
    fileprivate var second: PropertyKey<String> { .init("second", defaultValue: "0") }
    fileprivate var late: PropertyKey<Int> { .init("late", defaultValue: 0) }
    fileprivate var list: PropertyKey<[Int]> { .init("list", defaultValue: [Int]()) }
}

/// The same numbers as a word, as a box and in the order in which a reader asks.
private final class Numbers: PropertySource {
    let name = "numbers"
    private let number = Locked(0)

    func load() throws(PropertyError) -> PropertySnapshot {
        let next = number.withLock { number in
            number += 1
            return Int64(number)
        }
        let values: [String: PropertyValue] = [
            "first": .integer(next), "second": .string("\(next)"), "list": [.integer(next)],
        ]
        return try PropertySnapshot(values, source: name)
    }
}

@Suite(.timeLimit(.minutes(5))) struct Law25ReloadTests {
    static let cases: [Case<Law25ReloadTests>] = [
        Case("A name that is read for the first time during a reload is of one side of it", firstRead),
        Case("A default read while the first source is being applied does not stay", firstApply),
        Case(
            "Sources that are applied by many threads at once, and reloads meanwhile, lose none of each other", together
        ),
        Case("Threads that ask for a name for the first time together get the source's value", asking),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law25ReloadTests>) async throws { try await stated.run(self) }

    @Test(
        "4 threads that read two values changing together in many reloads never see an old one after a new one (law 25)"
    )
    func allOrNothing() async throws {
        let container = Container()
        let child = container.child()
        try container.apply(Numbers())
        let heard = Log<Int>()
        container.observe(\.first) { heard.add($0) }
        let isDone = Locked(false)
        let failures = Log<String>()
        let (reads, reloads) = (Log<Int>(), rounds(1_000, few: 300))
        await onThreads(5) { index in
            if index == 4 {
                for _ in 0..<reloads {
                    if (try? container.reload()) == nil { failures.add("a reload failed") }
                }
                return isDone.withLock { $0 = true }
            }
            // Two read the container, two a child, each its values in another order.
            let reader = index < 2 ? container : child
            var (newest, count) = (0, 0)
            while !isDone.withLock({ $0 }) || count == 0 {
                let seen =
                    index.isMultiple(of: 2)
                    ? [reader.first, Int(reader.second)!, reader.list[0]]
                    : [reader.list[0], Int(reader.second)!, reader.first]
                for number in seen {
                    if number < newest { failures.add("\(number) after \(newest)") }
                    newest = max(newest, number)
                }
                count += 1
            }
            reads.add(count)
        }
        let last = reloads + 1
        expect(failures.all.isEmpty)
        expect(container.first, equals: last)
        expect(child.second, equals: "\(last)")
        expect(child.list, equals: [last])
        expect(heard.all, equals: heard.all.sorted())
        expect(heard.all.last, equals: last)
        expect(heard.all.count >= reloads)
        print("readers of a reload under load: \(reads.all.reduce(0, +)) rounds of reads")
    }

    func firstRead() throws {
        // The source's own load reads the name, which is after the reload began and before it ends.
        let container = Container()
        let counting = ChangingSource(["late": 1]) { _ = container.late }
        try container.apply(counting)
        expect(container.late, equals: 1)
    }

    func firstApply() throws {
        struct Asking: Decodable {
            @TaskLocal static var container = Container()
            init(from decoder: any Decoder) throws { _ = Self.container.late }
        }
        let container = Container()
        let key = PropertyKey<Asking?>("asking")
        expect(container[key] == nil)
        try Asking.$container.withValue(container) {
            // Its decoding, which is part of applying, reads another name: the default, for there is no source yet.
            try container.apply(DictionarySource(["asking": 1, "late": 5], name: "x"))
        }
        expect(container.late, equals: 5)
    }

    func together() throws {
        let container = Container()
        onThreads(8) { index in
            try? container.apply(
                DictionarySource(["first": 1, "name\(index)": .integer(Int64(index))], name: "\(index)"))
            try? container.reload()
        }
        for index in 0..<8 { try expect(container.property("name\(index)"), equals: index) }
        expect(container.first, equals: 1)
    }

    func asking() throws {
        for _ in 0..<50 {
            let container = Container()
            let child = container.child()
            try container.apply(DictionarySource(["first": 5], name: "x"))
            try child.apply(DictionarySource(["second": "6"], name: "y"))
            let seen = Log<String>()
            onThreads(4) { index in seen.add("\((index < 2 ? container : child).first) \(child.second)") }
            expect(Set(seen.all), equals: ["5 6"])
        }
    }
}
