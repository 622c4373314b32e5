import Fugu
import FuguTesting
import Support
import Testing

// Two models of an app, on the main actor, with the tests that such an app has: each runs the whole model, and most of them with
// the immediate clock, on which a loop that sleeps is never at rest.

/// Hears what is said.
private struct Ears: Sendable {
    var words: @Sendable () -> AsyncThrowingStream<String, any Error>

    static let deaf = Ears { AsyncThrowingStream { $0.finish() } }
    static let broken = Ears { AsyncThrowingStream { $0.finish(throwing: CancellationError()) } }
    static func hearing(_ words: [String]) -> Ears {
        Ears {
            AsyncThrowingStream {
                for text in words { $0.yield(text) }
                $0.finish()
            }
        }
    }
}

/// Keeps the debates that are over.
private struct Archive: Sendable {
    var load: @Sendable () -> [String] = { [] }
    var save: @Sendable ([String]) -> Void = { _ in }
}

extension ContainerKeys {
    fileprivate var ears: FeatureKey<Ears> { .init(isExternal: true) { _ in .deaf } }
    fileprivate var bell: FeatureKey<@Sendable () -> Void> { .init(isExternal: true) { _ in {} } }
    fileprivate var archive: FeatureKey<Archive> { .init(isExternal: true) { _ in Archive() } }
}

/// A debate in which each speaker has the same number of seconds.
@MainActor private final class DebateModel {
    enum Question { case end, goOnDeaf }
    enum Answer { case goOn, save }
    enum Outcome { case saved }

    @Injected(\.clock) private var clock
    @Injected(\.ears) private var ears
    @Injected(\.bell) private var bell
    private let speakers: [String]
    private let secondsEach: Int
    private(set) var seconds = 0
    private(set) var speaker = 0
    private(set) var transcript: [String] = []
    private(set) var question: Question?
    private(set) var outcome: Outcome?
    private(set) var isRunning = false
    /// The ticks that came, whether or not they counted.
    private(set) var ticks = 0

    init(_ speakers: String..., secondsEach: Int = 3) {
        self.speakers = speakers
        self.secondsEach = secondsEach
    }

    func run() async {
        isRunning = true
        async let hearing: Void = hear()
        await keepTime()
        await hearing
        isRunning = false
    }

    private func hear() async {
        do {
            for try await text in ears.words() { transcript.append(text) }
        } catch {
            question = .goOnDeaf
        }
    }

    private func keepTime() async {
        while (try? await clock.sleep(for: .seconds(1))) != nil {
            ticks += 1
            if outcome != nil { return }
            if question != nil { continue }
            seconds += 1
            if seconds % secondsEach > 0 { continue }
            if speaker == speakers.count - 1 {
                outcome = .saved
                return
            }
            speaker += 1
            bell()
        }
    }

    func stop() { question = .end }

    func answer(_ answer: Answer) {
        question = nil
        switch answer {
        case .goOn: break
        case .save: outcome = .saved
        }
    }
}

/// The list of the debates that are over, which is saved a second after its last change.
@MainActor private final class ListModel {
    @Injected(\.clock) private var clock
    @Injected(\.archive) private var archive
    private(set) var saving: Task<Void, any Error>?
    var debates: [String] = [] {
        didSet {
            saving?.cancel()
            saving = Task { [clock, archive, debates] in
                try await clock.sleep(for: .seconds(1))
                archive.save(debates)
            }
        }
    }

    init() { debates = archive.load() }
}

/// Lets others run until something is so.
@MainActor private func until(_ isSo: () -> Bool) async { while !isSo() { await Task.yield() } }

@MainActor private func turns(_ count: Int) async { for _ in 0..<count { await Task.yield() } }

@Suite(
    "A model with a timer on the main actor, and the immediate clock", .timeLimit(.minutes(1)),
    .container {
        $0.clock = .immediate
        $0.ears = .deaf
        $0.bell = {}
        $0.archive = Archive()
    })
@MainActor struct ImmediateTimerModelTests {
    /// Runs a debate, does something once it's asked for, and waits for the end.
    private func run(_ model: DebateModel, meanwhile act: (DebateModel) async -> Void) async {
        let task = Task { await model.run() }
        await act(model)
        await task.value
        expect(!model.isRunning)
    }

    @Test("runs to the end of the last speaker's time, with a bell between two speakers")
    func wholeDebate() async {
        let bells = Log<Void>()
        Container.current.bell = { bells.add(()) }
        let model = DebateModel("Ada", "Grace", "Edsger")
        await model.run()
        expect(model.seconds, equals: 9)
        expect(model.outcome, equals: .saved)
        expect(bells.count, equals: 2)
    }

    @Test("keeps what is heard while the time passes")
    func transcript() async {
        Container.current.ears = .hearing(["one", "two"])
        let model = DebateModel("Ada", "Grace", secondsEach: 1_000)
        await run(model) { model in
            await until { model.transcript.count == 2 }
            model.answer(.save)
        }
        expect(model.transcript, equals: ["one", "two"])
    }

    @Test("pauses for a question, and is saved by its answer or goes on to its end")
    func endAndSave() async {
        // pauses for a question, and is saved by its answer.
        do {
            let model = DebateModel("Ada", secondsEach: .max)
            await run(model) { model in
                await until { model.seconds > 0 }
                model.stop()
                let (seconds, ticks) = (model.seconds, model.ticks)
                await until { model.ticks > ticks + 10 }
                expect(model.seconds, equals: seconds)
                model.answer(.save)
            }
            expect(model.outcome, equals: .saved)
        }
        // pauses for a question, and goes on to its end.
        do {
            let model = DebateModel("Ada", "Grace")
            await run(model) { model in
                model.stop()
                await until { model.ticks > 3 }
                model.answer(.goOn)
            }
            expect(model.seconds, equals: 6)
            expect(model.outcome, equals: .saved)
        }
    }

    @Test("asks when nothing can be heard, and goes on")
    func deafAndGoOn() async {
        Container.current.ears = .broken
        let model = DebateModel("Ada", secondsEach: 1_000_000)
        await run(model) { model in
            await until { model.question == .goOnDeaf }
            let ticks = model.ticks
            await until { model.ticks > ticks + 3 }
            let seconds = model.seconds
            model.answer(.goOn)
            await until { model.seconds > seconds }
            model.answer(.save)
        }
    }

    @Test("ends with the task of its view")
    func leaving() async {
        let model = DebateModel("Ada", secondsEach: .max)
        let task = Task { await model.run() }
        await until { model.ticks > 3 }
        task.cancel()
        await task.value
        expect(model.outcome == nil)
    }

    @Test("saves a list without a wait, and in another task's turn")
    func savesList() async throws {
        let saved = Log<[String]>()
        Container.current.archive.save = { saved.add($0) }
        let model = ListModel()
        model.debates.append("tea or coffee")
        expect(saved.all, equals: [])
        try await model.saving?.value
        expect(saved.all, equals: [["tea or coffee"]])
    }

    @Test("puts a debate into the list when it's over")
    func wholeApp() async throws {
        let saved = Log<[String]>()
        Container.current.archive = Archive(load: { ["cats"] }, save: { saved.add($0) })
        let list = ListModel()
        let model = DebateModel("Ada", "Grace")
        await model.run()
        if model.outcome == .saved { list.debates.append("dogs") }
        try await list.saving?.value
        expect(saved.all.last, equals: ["cats", "dogs"])
    }
}

@Suite(
    "A model with a timer on the main actor, and a manual clock", .timeLimit(.minutes(1)),
    .container {
        $0.useStandardDoubles()
        $0.ears = .deaf
        $0.bell = {}
        $0.archive = Archive()
    })
@MainActor struct ManualTimerModelTests {
    private let clock = Container.current.manualClock

    @Test("counts each second, and rings as the speaker changes")
    func seconds() async {
        let bells = Log<Int>()
        let model = DebateModel("Ada", "Grace")
        Container.current.bell = { [clock] in bells.add(Int(clock.now.offset / .seconds(1))) }
        let task = Task { await model.run() }
        for second in 1...5 {
            await clock.advance(by: .seconds(1))
            expect(model.seconds, equals: second)
            expect(model.speaker, equals: second / 3)
        }
        await clock.advance(by: .seconds(1))
        await task.value
        expect(bells.all, equals: [3])
        expect(model.outcome, equals: .saved)
    }

    @Test("doesn't count while there is a question")
    func question() async {
        let model = DebateModel("Ada", "Grace")
        let task = Task { await model.run() }
        await clock.advance(by: .seconds(2))
        model.stop()
        await clock.advance(by: .seconds(60))
        expect(model.seconds, equals: 2)
        model.answer(.goOn)
        await clock.advance(by: .seconds(1))
        expect(model.seconds, equals: 3)
        await clock.advance(by: .seconds(3))
        await task.value
    }

    @Test("has no sleeper once its view is gone")
    func leaving() async {
        let model = DebateModel("Ada")
        let task = Task { await model.run() }
        await clock.advance(by: .seconds(1))
        task.cancel()
        await task.value
        expect(clock.sleeperCount, equals: 0)
    }

    @Test("saves a list once, a second after the last change")
    func debounced() async throws {
        let saved = Log<[String]>()
        Container.current.archive.save = { saved.add($0) }
        let model = ListModel()
        model.debates.append("a")
        await clock.advance(by: .milliseconds(900))
        model.debates.append("b")
        await clock.advance(by: .milliseconds(900))
        expect(saved.all, equals: [])
        await clock.advance(by: .milliseconds(100))
        try await model.saving?.value
        expect(saved.all, equals: [["a", "b"]])
    }

    @Test("loads a list, and doesn't save it before it changes")
    func loads() async {
        let saved = Log<[String]>()
        Container.current.archive = Archive(load: { ["a"] }, save: { saved.add($0) })
        let model = ListModel()
        expect(model.debates, equals: ["a"])
        clock.move(by: .seconds(60))
        await turns(100)
        expect(saved.count, equals: 0)
    }
}
