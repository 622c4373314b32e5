import Foundation
import Fugu
import FuguFoundation
import FuguTesting
import Support
import Testing

@Suite("Doubles of what reaches outside") struct DoublesTests {}

extension DoublesTests {
    @Test("A process's environment shows the names of its variables and none of their values (law 26)")
    func environment() {
        let environment = ProcessEnvironment(["TOKEN": "hunter2", "HOME": "/root"])
        var dumped = ""
        dump(environment, to: &dumped)
        for text in ["\(environment)", String(reflecting: environment), dumped] { expect(!text.contains("hunter2")) }
        expect("\(environment)", equals: "ProcessEnvironment(2 variables)")
        expect(dumped.contains("TOKEN"))
    }

    @Test("Files that fail in one operation go on with the others")
    func failing() throws {
        let files = FileAccess.inMemory.failing(.load)
        let url = URL(filePath: "/a")
        try files.save(Data("x".utf8), to: url)
        expect(files.exists(url))
        try files.delete(url)
        expect(!files.exists(url))
        #expect(throws: FileAccessError.self) { try files.load(url) }
    }

    @Test("A generator of one UUID gives that, and one of a number the UUID of the number")
    func uuids() {
        let container = Container()
        container.uuid = .constant(7)
        expect(container.uuid(), equals: UUID(number: 7))
        expect(container.uuid(), equals: UUID(number: 7))
        container.reset(\.uuid)
        container.makeStrict(Strictness { _ in })
        expect(container.uuid(), equals: UUID(number: 0))
        expect(container.uuid(), equals: UUID(number: 1))
    }

    @Test("The placeholder of a store keeps what it is given")
    func stores() throws {
        let container = Container()
        container.makeStrict(Strictness { _ in })
        let store = container.keyValueStore
        try store.set("b", for: "a")
        try expect(store.value(String.self, for: "a"), equals: "b")
    }

    @Test("A date that is set through its generator stays")
    func date() {
        let container = Container()
        container.date.now = Date(timeIntervalSince1970: 5)
        expect(container.date.now, equals: Date(timeIntervalSince1970: 5))
    }

    @Test("A clock that is set in place of the manual one is the manual one")
    func clock() {
        let container = Container()
        let clock = ManualClock(now: .init(offset: .seconds(7)))
        container.manualClock = clock
        expect(container.manualClock.now.offset, equals: .seconds(7))
    }
}
