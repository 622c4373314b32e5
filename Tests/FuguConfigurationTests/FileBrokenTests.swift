// The optimizer of Swift 6.3.1 crashes on this target where these tests are in it.
#if DEBUG || UNOPTIMIZED
import Fugu
import FuguConfiguration
import FuguTesting
import Support
import Testing

extension ContainerKeys {
    fileprivate var port: PropertyKey<Int> { .init("law25b.port", defaultValue: 80) }
    fileprivate var host: PropertyKey<String> { .init("law25b.host", defaultValue: "") }
}

@Suite("A poll where one of several sources can't be read (law 25)", .timeLimit(.minutes(5))) struct FileBrokenTests {
    private let container = Container()
    private let clock = ManualClock()
}

extension FileBrokenTests {
    @Test("A source that can't be read holds up no other that is polled, and is reported once (law 25)")
    func broken() async throws {
        container.clock = AnyClock(clock)
        let reports = container.reports()
        let (first, second) = (ChangingSource(["law25b.port": 1]), ChangingSource(["law25b.host": "a"]))
        let counting = CountingSource(["law25b.count"])
        try container.apply(first)
        try container.apply(second)
        try container.apply(counting)
        #expect(container.port == 1 && container.host == "a")
        let task = Task { [container] in await container.reload(every: .seconds(5)) }
        await clock.sleepers(atLeast: 1)
        func step() async {
            for _ in 0..<2 {
                clock.move(by: .seconds(5))
                await clock.sleepers(atLeast: 1)
            }
        }
        first.fail("broken")
        second.change(to: ["law25b.host": "b"])
        await step()
        #expect(container.port == 1 && container.host == "b" && reports.all.count == 1, "\(reports.all)")
        let count = try container.property("law25b.count", as: Int.self)
        second.change(to: ["law25b.host": "c"])
        await step()
        #expect(container.host == "c" && reports.all.count == 1, "\(reports.all)")
        for _ in 0..<4 { await step() }
        // What still can't be read doesn't let the others be read again.
        try expect(container.property("law25b.count", as: Int.self), equals: count.map { $0 + 1 })
        first.change(to: ["law25b.port": 2])
        await step()
        #expect(container.port == 2 && reports.all.count == 1)
        task.cancel()
        await task.value
    }

    @Test("A value that would become wrong holds back all that rests with it (law 25)")
    func wrong() async throws {
        container.clock = AnyClock(clock)
        let reports = container.reports()
        let (first, second) = (ChangingSource(["law25b.port": 1]), ChangingSource(["law25b.host": "a"]))
        try container.apply(first)
        try container.apply(second)
        #expect(container.port == 1 && container.host == "a")
        let task = Task { [container] in await container.reload(every: .seconds(5)) }
        await clock.sleepers(atLeast: 1)
        first.change(to: ["law25b.port": "x"])
        second.change(to: ["law25b.host": "b"])
        for _ in 0..<4 {
            clock.move(by: .seconds(5))
            await clock.sleepers(atLeast: 1)
        }
        #expect(container.port == 1 && container.host == "a" && reports.all.count == 1, "\(reports.all)")
        task.cancel()
        await task.value
    }
}
#endif
