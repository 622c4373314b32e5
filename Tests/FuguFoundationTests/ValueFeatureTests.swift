import Foundation
import Fugu
import FuguFoundation
import FuguTesting
import Support
import Testing

struct UUIDGeneratorTests {
    @Test("Incrementing UUIDs count up from zero, each generator anew, and each once for threads that ask together")
    func incrementing() async {
        // Incrementing UUIDs count up from zero, each generator anew.
        do {
            let container = Container.program()
            container.uuid = .incrementing
            expect(container.uuid().uuidString, equals: "00000000-0000-0000-0000-000000000000")
            expect(container.uuid().uuidString, equals: "00000000-0000-0000-0000-000000000001")
            for _ in 2..<256 { _ = container.uuid() }
            expect(container.uuid().uuidString, equals: "00000000-0000-0000-0000-000000000100")
            expect(UUIDGenerator.incrementing().uuidString.hasSuffix("000"))
        }
        // Threads that ask together get each UUID once.
        do {
            let generator = UUIDGenerator.incrementing
            let all = await withTaskGroup(of: [UUID].self) { group in
                for _ in 0..<8 { group.addTask { (0..<500).map { _ in generator() } } }
                return await group.reduce(into: Set()) { $0.formUnion($1) }
            }
            expect(all.count, equals: 4_000)
            expect(generator().uuidString.hasSuffix("0FA0"))
        }
    }

    @Test("Random UUIDs from a repeatable randomness are repeatable, of version 4 and the variant of RFC 9562")
    func seeded() {
        func three(_ seed: UInt64) -> [UUID] {
            let generator = UUIDGenerator.random(using: .linearCongruential(withSeed: seed))
            return [generator(), generator(), generator()]
        }
        expect(three(1), equals: three(1))
        expect(Set(three(1) + three(2)).count, equals: 6)
        expect(
            UUIDGenerator.random(using: Randomness { .max })().uuidString,
            equals: "FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF")
        expect(
            UUIDGenerator.random(using: Randomness { 0 })().uuidString, equals: "00000000-0000-4000-8000-000000000000")
        let halves = UUIDGenerator.random(using: Randomness { 0x0123_4567_89AB_CDEF })()
        expect(halves.uuidString, equals: "01234567-89AB-4DEF-8123-456789ABCDEF")
    }

    @Test("The system's UUIDs differ, a constant one does not")
    func systemAndConstant() {
        let container = Container.program()
        expect(Set((0..<100).map { _ in container.uuid() }).count, equals: 100)
        let uuid = UUID()
        container.uuid = .constant(uuid)
        expect(container.uuid(), equals: uuid)
        expect(container.uuid(), equals: uuid)
    }
}

struct DateGeneratorTests {
    @Test("A date that follows a manual clock moves when the clock moves, from its own start")
    func follows() {
        let clock = ManualClock()
        clock.move(by: .seconds(100))
        let date = DateGenerator.following(clock, from: Date(timeIntervalSince1970: 1_000))
        expect(date.now, equals: Date(timeIntervalSince1970: 1_000))
        clock.move(by: .milliseconds(1_500))
        expect(date.now, equals: Date(timeIntervalSince1970: 1_001.5))
        expect(DateGenerator.following(clock).now, equals: Date(timeIntervalSince1970: 0))
    }

    @Test("A generator of dates is called at every read: one's own, the system's, or the placeholder of 1970")
    func custom() {
        // A generator of one's own is called at every read.
        do {
            let reads = Locked(0.0)
            let date = DateGenerator {
                reads.withLock { reads in
                    reads += 1
                    return Date(timeIntervalSince1970: reads)
                }
            }
            expect([date.now, date.now].map(\.timeIntervalSince1970), equals: [1, 2])
        }
        // The system's date is now.
        do {
            let before = Date()
            let read = Container.program().date.now
            let system = DateGenerator.system.now
            expect(before.addingTimeInterval(-0.1) <= read)
            expect(read <= system.addingTimeInterval(0.1))
            expect(system <= Date())
        }
        // The placeholder stands at the start of 1970.
        do {
            let container = Container()
            container.makeStrict(Strictness { _ in })
            expect(container.date.now, equals: Date(timeIntervalSince1970: 0))
        }
    }
}

struct LocalizationTests {
    @Test(
        "The calendar follows the locale and the time zone; the system's settings, or placeholders, are what is read first"
    )
    func calendar() throws {
        // The calendar follows the locale and the time zone until it is set itself.
        do {
            let container = Container.program()
            container.locale = Locale(identifier: "de_DE")
            container.timeZone = try #require(TimeZone(identifier: "Asia/Tokyo"))
            expect(container.calendar.timeZone, equals: container.timeZone)
            expect(container.calendar.locale, equals: container.locale)
            expect(container.calendar.firstWeekday, equals: 2)
            container.locale = Locale(identifier: "th_TH")
            container.timeZone = .gmt
            expect(container.calendar.identifier, equals: .buddhist)
            expect(container.calendar.timeZone, equals: .gmt)
            container.calendar = Calendar(identifier: .iso8601)
            expect(container.calendar.identifier, equals: .iso8601)
        }
        // The system's settings are what is read first.
        do {
            let container = Container.program()
            expect(container.timeZone.identifier, equals: TimeZone.current.identifier)
            expect(container.locale.identifier, equals: Locale.current.identifier)
            expect(container.calendar.identifier, equals: Locale.current.calendar.identifier)
        }
        // The placeholders are the same on every machine.
        do {
            let container = Container()
            container.makeStrict(Strictness { _ in })
            expect(container.locale.identifier, equals: "en_US_POSIX")
            expect(container.timeZone.secondsFromGMT(), equals: 0)
        }
    }

    @Test("@Injected reads the features of this module by key path")
    func injected() {
        struct Reader {
            @Injected(\.timeZone) var timeZone
            @Injected(\.uuid) var uuid
            @Injected(\.environment) var environment
        }
        let read = Container.with {
            $0.timeZone = .gmt
            $0.uuid = .incrementing
            $0.environment = ["A": "b"]
        } operation: {
            let reader = Reader()
            return (reader.timeZone, reader.uuid().uuidString.suffix(1), reader.environment["A"])
        }
        expect(read == (.gmt, "0", "b"))
    }
}

struct ProcessEnvironmentTests {
    @Test("A process's environment holds the variables of this process, or those that a test writes as a literal")
    func system() {
        // It holds the variables of this process.
        do {
            let container = Container.program()
            expect(container.environment.variables, equals: ProcessInfo.processInfo.environment)
            expect(container.environment["PATH"] != nil)
        }
        // It is a value that a test writes as a literal; empty is not missing, and the last of a name counts.
        do {
            let container = Container.program()
            container.environment = ["HOME": "/home/ada", "EMPTY": "", "HOME": "/home/grace"]
            expect(container.environment["HOME"], equals: "/home/grace")
            expect(container.environment["EMPTY"], equals: "")
            expect(container.environment["PATH"] == nil)
            container.environment["PATH"] = "/bin"
            expect(container.environment["PATH"], equals: "/bin")
            container.reset(\.environment)
            container.makeStrict(Strictness { _ in })
            expect(container.environment, equals: [:])
        }
    }
}

/// Doubles of what reaches outside.
struct DoublesTests {}

extension DoublesTests {
    @Test("A process's environment shows the names of its variables and none of their values (law 17)")
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

    @Test("A date that is set through its generator stays, and a clock in place of the manual one is the manual one")
    func date() {
        // A date that is set through its generator stays.
        do {
            let container = Container()
            container.date.now = Date(timeIntervalSince1970: 5)
            expect(container.date.now, equals: Date(timeIntervalSince1970: 5))
        }
        // A clock that is set in place of the manual one is the manual one.
        do {
            let container = Container()
            let clock = ManualClock(now: .init(offset: .seconds(7)))
            container.manualClock = clock
            expect(container.manualClock.now.offset, equals: .seconds(7))
        }
    }
}
