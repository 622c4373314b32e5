import Foundation
import Fugu
import FuguConfiguration
import FuguFoundation
import FuguInspection
import FuguTesting
import Synchronization
import Testing
import XCTest

struct Mail: Feature, External {
    var send: @Sendable (_ text: String, _ address: String) throws -> Void

    static func load(in container: any FeatureContainer) -> Mail { Mail { try deliver($0, to: $1) } }
    static var placeholder: Mail { Mail(send: unimplemented("Mail.send")) }
}

extension ContainerKeys {
    var mail: FeatureKey<Mail> { .init(Mail.self) }
}

nonisolated struct Reminder {
    let container = Container.current

    func remind(_ address: String) throws {
        try container.mail.send("It is second \(Int(container.date.now.timeIntervalSince1970)).", address)
    }
}

@Suite(.container { $0.date.now = Date(timeIntervalSince1970: 60) })
struct ReminderTests {
    @Test(.container { $0.mail.send = { text, _ in #expect(text == "It is second 60.") } })
    func text() throws {
        try Reminder().remind("ada@example.org")
    }

    @Test(arguments: ["ada@example.org", "grace@example.org"])
    func address(address: String) throws {
        Container.current.mail = Mail { #expect($1 == address) }
        try Reminder().remind(address)
    }
}

nonisolated final class SnoozeXCTests: XCTestCase {
    override func invokeTest() {
        Container.strict {
            $0.date.now = Date(timeIntervalSince1970: 60)
        } operation: {
            super.invokeTest()
        }
    }

    func testTime() { XCTAssertEqual(Container.current.date.now.timeIntervalSince1970, 60) }
}

struct Player: Feature, External {
    var play: @Sendable (_ song: String) async throws -> Void
    var volume: @Sendable () -> Double

    static func load(in container: any FeatureContainer) -> Player { Player(play: playLoudly, volume: { 11 }) }
    static var placeholder: Player {
        Player(play: unimplemented("Player.play"), volume: unimplemented("Player.volume", placeholder: 0))
    }
}

@Test(.container) func quietly() {
    Container.current[Player.self].volume = { 0.5 }
    #expect(Container.current[Player.self].volume() == 0.5)
}

enum Letters: Feature {
    static func load(in container: any FeatureContainer) -> any LetterStore { FileLetters(container.fileAccess) }
    static func testValue(in container: any FeatureContainer) -> any LetterStore { MemoryLetters(city: container.city) }
}

extension ContainerKeys {
    var archive: FeatureKey<any LetterStore> {
        .init(testValue: { MemoryLetters(city: $0.city) }) { FileLetters($0.fileAccess) }
    }
    var voice: MainActorFeatureKey<any Voice> { .init(testValue: { _ in SilentVoice() }) { _ in SystemVoice() } }
}

extension Trait where Self == ContainerTrait {
    static var doubles: Self { .container { $0.mail.send = { _, _ in } } }
}

@Suite(.doubles) struct InvitationTests {
    @Test(.container { $0.date.now = Date(timeIntervalSince1970: 60) }) func sends() throws {
        try Reminder().remind("ada@example.org")
    }

    struct Full: Error {}

    @Test(
        .container {
            $0.date.now = Date(timeIntervalSince1970: 60)
            $0.mail.send = { _, _ in throw Full() }
        })
    func fails() {
        #expect(throws: Full.self) { try Reminder().remind("ada@example.org") }
    }
}

@Test(.doubles, .container { $0.date.now = Date(timeIntervalSince1970: 60) }) func sendsAlone() throws {
    try Reminder().remind("ada@example.org")
}

@Test(.container { $0.city = "Bergen" }) func keepsLetters() {
    let letters = Container.current[Letters.self]
    letters.keep("Dear Ada")
    #expect(Container.current[Letters.self].all == ["Bergen: Dear Ada"])
}

@Test(.container) func nothingElseIsReal() async {
    let check = await Container.current.check { $0.load(Reminders.self) }
    #expect(check.undetermined.map(\.name) == ["Reminders"])
    #expect(check.tested.map(\.name) == ["Letters"])
}

nonisolated func serve(in container: Container = Container()) -> String {
    "It is second \(Int(container.date.now.timeIntervalSince1970))."
}

@Test(.container { $0.date.now = Date(timeIntervalSince1970: 60) }) func serves() {
    #expect(serve(in: Container.current.child()) == "It is second 60.")
}

@Test(.liveContainer) func reallyPlays() async throws {
    try await Container.current[Player.self].play("Aida")
}

@Test("Testing: the conformance of sources")
func conformanceOfSources() throws {
    try expectConformance(
        of: DictionarySource(["api.timeout": 30], name: "mine"), holding: ["api.timeout": 30], lacking: ["api.retries"])
}

@Suite(.container { $0.useStandardDoubles(startingAt: Date(timeIntervalSince1970: 60)) })
struct SnoozeTests {
    @Test func rings() async throws {
        let container = Container.current
        let snooze = Task { try await container.clock.sleep(for: .seconds(540)) }
        await container.manualClock.advance(by: .seconds(540))
        try await snooze.value
        #expect(container.date.now.timeIntervalSince1970 == 600)
    }
}

@Suite(.container { $0[UserName.self] = "Grace" })
struct DoormanTests {
    @Test(.container { $0.date.now = Date(timeIntervalSince1970: 86_400) })
    func report() {
        #expect(Doorman().report() == "Hello, Grace! It is second 86400.")
    }
}

// Declarations that the page leaves to its reader.

nonisolated protocol LetterStore: Sendable {
    var all: [String] { get }
    func keep(_ text: String)
}

nonisolated private struct FileLetters: LetterStore {
    let files: FileAccess
    init(_ files: FileAccess) { self.files = files }
    var all: [String] { [] }
    func keep(_ text: String) {}
}

nonisolated private final class MemoryLetters: LetterStore {
    private let city: String
    private let kept = Mutex<[String]>([])
    init(city: String) { self.city = city }
    var all: [String] { kept.withLock { kept in kept.map { "\(city): \($0)" } } }
    func keep(_ text: String) { kept.withLock { $0.append(text) } }
}

@MainActor protocol Voice: Sendable {}

@MainActor private struct SystemVoice: Voice {}

@MainActor private struct SilentVoice: Voice {}

private struct Reminders: Feature {
    let letters: any LetterStore
    static func load(in container: any FeatureContainer) -> Reminders { Reminders(letters: container[Letters.self]) }
}

@Sendable private func playLoudly(_ song: String) async throws {}

nonisolated private func deliver(_ text: String, to address: String) throws {}

extension Snippets {
    @Test("Testing: what was loaded, and by whom")
    func loadRecorder() async throws {
        let container = Container()
        try await run {
            let recorder = LoadRecorder(of: container)
            _ = container[RequestLog.self]
            print(recorder.loads)  // [RequestLog, RequestLog → Pool]
        }
    }
}
