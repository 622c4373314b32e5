import Foundation
import Fugu
import FuguFoundation
import FuguTesting
import Support
import Testing

@Suite(
    .container { $0.useStandardDoubles(startingAt: Date(timeIntervalSince1970: 100), files: ["/a": Data("text".utf8)]) }
)
struct StandardDoublesTests {
    private let container = Container.current
}

extension StandardDoublesTests {
    @Test("Nothing that comes with Fugu reaches outside any more")
    func complete() async throws {
        expect(container.date.now, equals: Date(timeIntervalSince1970: 100))
        expect(container.uuid().uuidString.hasSuffix("0000"))
        expect(container.randomness.next(), equals: Randomness.linearCongruential(withSeed: 0).next())
        try expect(container.fileAccess.load(URL(filePath: "/a")), equals: Data("text".utf8))
        try expect(container.keyValueStore.data(for: "key") == nil)
        expect(container.environment.variables.isEmpty)
        expect(container.locale.identifier, equals: "en_US_POSIX")
        expect(container.timeZone, equals: .gmt)
        expect(container.calendar.timeZone, equals: .gmt)
    }

    @Test("One hand moves the clock and the date")
    func clock() async throws {
        container.manualClock.move(by: .seconds(10))
        expect(container.clock.now.offset, equals: .seconds(10))
        let waiting = Task { try await Container.current.clock.sleep(for: .seconds(30)) }
        await container.manualClock.sleepers(atLeast: 1)
        container.manualClock.move(by: .seconds(30))
        try await waiting.value
        expect(container.clock.now.offset, equals: .seconds(40))
        expect(container.date.now, equals: Date(timeIntervalSince1970: 140))
    }

    @Test(
        "They replace a date that was set before, and one that's set later wins",
        .container {
            $0.date.now = .distantPast
            $0.useStandardDoubles(startingAt: Date(timeIntervalSince1970: 5))
        })
    func dates() {
        expect(container.date.now, equals: Date(timeIntervalSince1970: 5))
        container.date.now = .distantFuture
        expect(container.date.now, equals: .distantFuture)
    }

    @Test("A refusal of a feature that comes with the library has a line that sets a double (law 19)")
    func refusals() async {
        let found = await issues {
            let container = Container.strict()
            _ = (container.clock, container.date, container.randomness, container.uuid, container.fileAccess)
            _ = (container.keyValueStore, container.environment, container.locale, container.timeZone)
        }
        // What the messages say compiles.
        _ = Container.strict {
            $0.clock = .immediate
            $0.date = .constant(Date(timeIntervalSince1970: 0))
            $0.randomness = .linearCongruential(withSeed: 0)
            $0.uuid = .incrementing
            $0.fileAccess = .inMemory
            $0.keyValueStore = .inMemory
            $0.environment = [:]
            $0.locale = Locale(identifier: "en_US_POSIX")
            $0.timeZone = .gmt
        }
        let lines = [
            "clock = .immediate", "date = .constant(Date(timeIntervalSince1970: 0))",
            "randomness = .linearCongruential(withSeed: 0)",
            "uuid = .incrementing", "fileAccess = .inMemory", "keyValueStore = .inMemory", "environment = [:]",
            #"locale = Locale(identifier: "en_US_POSIX")"#, "timeZone = .gmt",
        ]
        expect(
            found.map(\.text),
            equals: lines.map { line in
                let name = "\\.\(line.prefix { $0 != " " })"
                return "Fugu: \(name) reaches outside the process and wasn't set for this test.\n"
                    + "Path: the test → \(name)\nFix: set it where the test makes its container: Container.strict { $0.\(line) "
                    + "/* or, for all of them, $0.useStandardDoubles() */ }"
            })
    }

    @Test("A later set wins", .container { $0.date.now = Date(timeIntervalSince1970: 5) })
    func overriding() { expect(container.date.now, equals: Date(timeIntervalSince1970: 5)) }
}
