import Foundation
import Fugu
import FuguFoundation
import FuguTesting
import StrictnessCases
import Support
import Testing

/// Law 19: a part of an external feature can be set without the rest.
struct StrictPartsTests {
    struct Audio: Feature, External {
        var play: @Sendable (_ song: String) async throws -> Void
        var volume: @Sendable () -> Double

        static func load(in container: any FeatureContainer) -> Audio { Audio(play: { _ in }, volume: { 11 }) }
        static var placeholder: Audio {
            Audio(play: unimplemented("Audio.play"), volume: unimplemented("Audio.volume", placeholder: 0))
        }
    }

    private static let play =
        "Fugu: Audio.play was called, but it isn't implemented.\nFix: give the double a closure for it."

    /// Uses what was set, and then what was not.
    @Sendable private static func use(_ container: Container) async {
        expect(container[Audio.self].volume(), equals: 0.5)
        await #expect(throws: (any Error).self) { try await container[Audio.self].play("a song") }
    }

    @Test("modify begins from the placeholder, as does setting a part where the container is configured (law 19)")
    func modify() async throws {
        // modify begins from the placeholder, in a trait, in a test's body and by hand.
        do {
            let inTrait = await issues {
                try await runCase(.container { $0.modify(Audio.self) { $0.volume = { 0.5 } } }) {
                    await Self.use(.current)
                }
            }
            expect(inTrait.map(\.text), equals: [Self.play])
            let inBody = await issues {
                try await runCase(.container) {
                    Container.current.modify(Audio.self) { $0.volume = { 0.5 } }
                    await Self.use(.current)
                }
            }
            expect(inBody.map(\.text), equals: [Self.play])
            let byHand = await issues {
                let container = Container.strict().child()
                container.modify(Audio.self) { $0.volume = { 0.5 } }
                await Self.use(container)
            }
            expect(byHand.map(\.text), equals: [Self.play])
        }
        // Setting a part where the container is configured begins from the placeholder, too.
        do {
            let found = await issues {
                try await runCase(.container { $0[Audio.self].volume = { 0.5 } }) { await Self.use(.current) }
                await Self.use(Container.strict { $0[Audio.self].volume = { 0.5 } })
            }
            expect(found.map(\.text), equals: [Self.play, Self.play])
        }
    }

    @Test("modify of a decorated feature begins from what wraps the placeholder, which isn't kept (law 19)")
    func modifyDecorated() async {
        struct Stop: Error {}
        let found = await issues {
            let container = Container.strict()
            container.decorate(Audio.self) { audio, _ in Audio(play: audio.play, volume: { audio.volume() + 1 }) }
            container.modify(Audio.self) { audio in
                let former = audio.volume
                audio.volume = { former() }
            }
            let other = Container.strict()
            other.decorate(Audio.self) { audio, _ in audio }
            try? other.modify(Audio.self) { _ in throw Stop() }
            _ = other[Audio.self]
        }
        expect(found.count == 1 && found.first?.text.contains("Audio") == true, "\(found)")
    }

    @Test(
        "An assignment to a part fails nothing wherever it stands, and loads nothing that reaches outside (laws 10, 19)"
    )
    func assigning() async throws {
        let (now, noon) = (Date(timeIntervalSince1970: 60), Date(timeIntervalSince1970: 43_200))
        @Sendable func assign(_ container: any FeatureContainer) {
            container.date.now = now
            container.environment["HOME"] = "/home/ada"
            container.calendar.timeZone = .gmt
            container[Audio.self].volume = { 0.5 }
            container.audio.play = { _ in }
            container.doubling.volume = { 1 }
        }
        @Sendable func check(_ container: Container) async throws {
            expect(container.date.now, equals: now)
            expect(container.environment.variables, equals: ["HOME": "/home/ada"])
            expect(container.calendar.locale?.identifier, equals: "en_US_POSIX")
            expect(container.audio.volume(), equals: 0.5)
            try await container[Audio.self].play("a song")
            expect(container[Doubling.self].volume(), equals: 1)
        }
        let found = await issues {
            try await runCase(.container { assign($0) }) {
                try await check(.current)
                // A container beside them, in which nothing is set.
                let child = Container.current.child { $0.date.now = noon }
                expect(child.date.now, equals: noon)
                try await check(.current)
            }
            try await runCase(.container) {
                let child = Container.current.child()
                assign(child)
                try await check(child)
                try await check(Container.current.child { assign($0) })
                try await Container.with {
                    assign($0)
                } operation: {
                    try await check(.current)
                }
                Container.current.update { assign($0) }
                try await check(.current)
            }
            try await check(Container.strict { assign($0) })
            try await runCase(.container) { try await check(Container { assign($0) }) }
        }
        expect(found.map(\.text), equals: [])
    }

    @Test(
        "A part that is set isn't wrapped by a decoration that was there before; the other parts stay wrapped (laws 10, 19)"
    )
    func decorated() async throws {
        @Sendable func decorate(_ container: Container, _ sum: Double) {
            container.decorate(Doubling.self) { doubling, _ in
                Doubling(volume: { doubling.volume() + sum }, play: doubling.play)
            }
        }
        let found = await issues {
            try await runCase(
                .container {
                    $0[Audio.self] = Audio(play: { _ in }, volume: { 1 })
                    decorate($0, 10)
                }, .container { $0.doubling.play = { _ in } }
            ) {
                let container = Container.current
                expect(container.doubling.volume(), equals: 12)
                container.doubling.volume = { 3 }
                expect(container.doubling.volume(), equals: 3)
                decorate(container, 20)
                expect(container.doubling.volume(), equals: 23)
                container.doubling.volume = { 3 }
                expect(container.doubling.volume(), equals: 3)
            }
        }
        expect(found.map(\.text), equals: [])
    }

    @Test("What an assignment to a part leaves is the placeholder's, also behind what is made from one (law 19)")
    func remaining() async throws {
        let found = await issues {
            try await runCase(.container) {
                let container = Container.current
                container.audio.volume = { 0.5 }
                await Self.use(container)
                container.doubling.volume = { 1 }
                container.reset(Doubling.self)
                container.reset(Audio.self)
                container.doubling.volume = { 1 }
                await #expect(throws: (any Error).self) { try await container.doubling.play("a song") }
            }
        }
        expect(found.map(\.text), equals: [Self.play, Self.play])
    }

    @Test("An accessor with get and set can set a part where the container is configured; other reads fail (law 19)")
    func accessors() async throws {
        let found = await issues {
            await Self.use(Container.strict { $0.sound.volume = { 0.5 } })
            expect(Container.strict { $0.sounds.volume = { 1 } }[Doubling.self].volume(), equals: 1)
            _ = Container.strict { _ = $0.sounds }
            _ = Container.strict().child { _ = $0.sound }
        }
        expect(Self.firstLines(found), equals: [String(Self.play.prefix { $0 != "\n" }), Self.refused, Self.refused])
        expect(found[1].text.contains("Path: Doubling → Audio\n"), "\(found)")
    }

    @Test("Outside of tests, an assignment to a part begins from the instance, and is written when it throws (law 4)")
    func live() {
        struct Stop: Error {}
        func change(_ volume: inout @Sendable () -> Double) throws {
            volume = { 3 }
            throw Stop()
        }
        let container = Container.program()

        let child = container.child { $0.audio.play = { _ in } }
        expect(child.audio.volume(), equals: 11)
        #expect(throws: Stop.self) { try change(&container.audio.volume) }
        expect(container.audio.volume(), equals: 3)
    }

    @Test("Reading another external feature in order to set a part is a read like any other (law 19)")
    func reading() async throws {
        let found = await issues {
            try await runCase(.container) {
                let container = Container.current
                container.modify(Doubling.self) { $0.volume = { 1 } }
                container.modify(Audio.self) { audio in
                    let name = container[Mailer.self].name
                    audio.volume = { Double(name.count) }
                }
            }
        }
        expect(found.map(\.text).map { $0.prefix(12) }, equals: ["Fugu: Mailer"])
    }

    /// Made from an external feature.
    struct Doubling: Feature {
        var volume: @Sendable () -> Double
        var play: @Sendable (_ song: String) async throws -> Void
        static func load(in container: any FeatureContainer) -> Doubling {
            let audio = container[Audio.self]
            return Doubling(volume: { 2 * audio.volume() }, play: audio.play)
        }
    }

    @Test("modify changes what was set, counts in a child only, and changes nothing if it throws (laws 6, 10)")
    func ordinary() throws {
        struct Stop: Error {}
        let container = Container.program()
        let child = container.child()
        expect(
            container.modify(Audio.self) { audio in
                let loaded = audio.volume()
                audio.volume = { 2 * loaded }
                return loaded
            }, equals: 11)
        child.modify(Audio.self) { audio in
            let old = audio.volume
            audio.volume = { old() + 1 }
        }
        #expect(throws: Stop.self) {
            try container.modify(Audio.self) {
                $0.volume = { 0 }
                throw Stop()
            }
        }
        expect(container[Audio.self].volume(), equals: 22)
        expect(child[Audio.self].volume(), equals: 23)
    }

    @Test(
        "An endpoint that nobody implemented, and a forgotten double with what its placeholder lacks, fail the test once (law 19)"
    )
    func once() async {
        // An endpoint that throws because nobody implemented it fails the test once.
        do {
            let withTrait = await issues {
                try await runCase(.container { $0.modify(Audio.self) { $0.volume = { 0.5 } } }) {
                    try await Container.current[Audio.self].play("a song")
                }
            }
            expect(withTrait.map(\.text), equals: [Self.play])
            let without = await issues { try await Audio.placeholder.play("a song") }
            expect(without.map(\.text).first, equals: Self.play)
        }
        // A forgotten double fails the test once: what its placeholder then lacks doesn't fail it again.
        do {
            let inTrait = await issues {
                try await runCase(.container) {
                    let doubling = Container.current[Doubling.self]
                    let detached = Task.detached { doubling.volume() }
                    expect(doubling.volume(), equals: 0)
                    await expect(detached.value, equals: 0)
                    // The error leaves the test, which it doesn't fail.
                    try await doubling.play("a song")
                }
            }
            expect(Self.firstLines(inTrait), equals: [Self.refused])
            let byHand = await issues {
                let doubling = Container.strict()[Doubling.self]
                expect(doubling.volume(), equals: 0)
                await #expect(throws: (any Error).self) { try await doubling.play("a song") }
            }
            expect(Self.firstLines(byHand), equals: [Self.refused])
            let offTask = await issues {
                try await runCase(.container) {
                    let container = Container.current
                    let doubling = await Task.detached { container[Doubling.self] }.value
                    await onThreads(2) { _ in _ = doubling.volume() }
                    _ = doubling.volume()
                }
            }
            expect(Self.firstLines(offTask), equals: [Self.refused])
            let shared = await issues { expect(Container.shared[Audio.self].volume(), equals: 0) }
            expect(Self.firstLines(shared), equals: [Self.refused])
        }
    }

    @Test("An assignment that reads the part, such as +=, fails the test if nothing has set it (law 19)")
    func readingParts() async {
        let found = await issues {
            try await runCase(.container) {
                Container.current.date.now += 60
                expect(Container.current.date.now, equals: Date(timeIntervalSince1970: 60))
            }
            try await runCase(.container { $0.date.now = Date(timeIntervalSince1970: 5) }) {
                Container.current.date.now += 60
                expect(Container.current.date.now, equals: Date(timeIntervalSince1970: 65))
            }
            try await runCase(.container) {
                expect(Container.current.date.now, equals: .init(timeIntervalSince1970: 0))
            }
        }
        let text = "date reaches outside the process and wasn't set for this test."
        expect(
            Self.firstLines(found),
            equals: [
                "Fugu: date.now was read, but nothing has set the date.",
                #"Fugu: \.\#(text)"#,
            ])
        expect(
            found[0].text.hasSuffix(
                "\nFix: set it first: $0.date.now = … /* or, for all doubles, $0.useStandardDoubles() */"), "\(found)")
    }

    // MARK: A read that was refused

    /// Whose placeholder is made once in the process.
    struct Lamp: Feature, External {
        var isOn: @Sendable () -> Bool
        var toggle: @Sendable () -> Void
        static func load(in container: any FeatureContainer) -> Lamp { Lamp(isOn: { true }, toggle: {}) }
        static let placeholder = Lamp(
            isOn: unimplemented("Lamp.isOn", placeholder: false), toggle: unimplemented("Lamp.toggle"))
    }

    private static let refused = "Fugu: Audio reaches outside the process and wasn't set for this test."
    private static let shared =
        "Fugu: Audio was read through Container.shared, in a test that has its own container. What the test sets isn't there."
    private static let volume = "Fugu: Audio.volume was called, but it isn't implemented."
    private static func firstLines(_ found: [SeenIssue]) -> [String] {
        found.map { String($0.text.prefix { $0 != "\n" }) }
    }

    @Test(
        "After a refused read, a swap of a part fails the test again only if the placeholder that it begins from does (law 19)"
    )
    func refusedThenModified() async {
        // After a refused read, a swap of a part begins from a placeholder that fails the test.
        do {
            let found = await issues {
                try await runCase(.container) {
                    let container = Container.current
                    expect(container[Audio.self].volume(), equals: 0)
                    container.modify(Audio.self) { $0.volume = { 0.5 } }
                    await Self.use(container)
                }
            }
            expect(Self.firstLines(found), equals: [Self.refused, String(Self.play.prefix { $0 != "\n" })])
        }
        // A placeholder that is made once in the process doesn't fail again a test that was refused.
        do {
            let refused = await issues { try await runCase(.container) { Container.current[Lamp.self].toggle() } }
            expect(
                Self.firstLines(refused),
                equals: ["Fugu: Lamp reaches outside the process and wasn't set for this test."])
        }
    }
}

extension ContainerKeys {
    fileprivate var audio: FeatureKey<StrictPartsTests.Audio> { .init(StrictPartsTests.Audio.self) }
    fileprivate var doubling: FeatureKey<StrictPartsTests.Doubling> { .init(StrictPartsTests.Doubling.self) }
}

// Accessors as programs write them.
extension FeatureContainer {
    fileprivate var sound: StrictPartsTests.Audio {
        get { self[StrictPartsTests.Audio.self] }
        set { self[StrictPartsTests.Audio.self] = newValue }
    }

    fileprivate var sounds: StrictPartsTests.Doubling {
        get { self[StrictPartsTests.Doubling.self] }
        set { self[StrictPartsTests.Doubling.self] = newValue }
    }
}
