import Fugu
import Support
import Testing

/// Law 9: tokens end observation, forgetting them does not.
struct ObservationTokenTests {}

extension ObservationTokenTests {
    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Device: Feature {
        static func load(in container: any FeatureContainer) -> Int { 0 }
    }

    @Test("Cancelling ends the observation and releases the closure (law 9)")
    func cancel() {
        let container = Container()
        let heard = Log<Int>()
        let ended = Counter()
        let token = container.observe(Number.self) { [witness = Witness { ended.add() }] number in
            withExtendedLifetime(witness) { heard.add(number) }
        }
        container[Number.self] = 1
        expect(ended.value, equals: 0)
        token.cancel()
        expect(ended.value, equals: 1)
        container[Number.self] = 2
        token.cancel()
        expect(heard.all, equals: [1])
    }

    @Test("A token keeps no container, and a dropped one observes as long as the container lives (law 9)")
    func dropped() {
        // A dropped token observes as long as the container lives, and its closure goes with it.
        do {
            let ended = Counter()
            let heard = Log<Int>()
            do {
                let container = Container()
                container.observe(Number.self) { [witness = Witness { ended.add() }] number in
                    withExtendedLifetime(witness) { heard.add(number) }
                }
                for number in 1...3 { container[Number.self] = number }
                expect(ended.value, equals: 0)
            }
            expect(heard.all, equals: [1, 2, 3])
            expect(ended.value, equals: 1)
        }
        // A token does not keep its container alive, and may be cancelled after it.
        do {
            let ended = Counter()
            var container: Container? = Container()
            weak let weakContainer = container
            container?[Device.self] = 1
            let token = container?.observe(Device.self) { [witness = Witness { ended.add() }] _ in
                withExtendedLifetime(witness) {}
            }
            container = nil
            expect(weakContainer == nil)
            expect(ended.value, equals: 1)
            token?.cancel()
            expect(ended.value, equals: 1)
        }
    }

    @Test("An observer that cancels itself, or that another one cancels in the same round, is called no more (law 9)")
    func cancelInside() {
        // An observer that cancels itself is called no more.
        do {
            let container = Container()
            let heard = Log<Int>()
            let tokens = Log<ObservationToken>()
            tokens.add(
                container.observe(Number.self) { number in
                    heard.add(number)
                    container[Number.self] = number + 1
                    if number == 2 { tokens.all[0].cancel() }
                })
            container[Number.self] = 1
            expect(heard.all, equals: [1, 2])
            expect(container[Number.self], equals: 3)
        }
        // An observer that another one cancels in the same round is not called.
        do {
            let container = Container()
            let heard = Log<String>()
            let tokens = Log<ObservationToken>()
            container.observe(Number.self) { _ in
                heard.add("first")
                tokens.all[0].cancel()
            }
            tokens.add(container.observe(Number.self) { _ in heard.add("second") })
            container[Number.self] = 1
            expect(heard.all, equals: ["first"])
        }
    }

    @Test("Nothing is called after cancel has returned, which does not wait for a call that is running (law 9)")
    func cancelDuringDelivery() {
        // Nothing is called after cancel has returned, though changes wait to be delivered.
        do {
            let container = Container()
            let (delivering, goesOn) = (Gate(), Gate())
            let heard = Log<Int>()
            container.observe(Number.self) { number in
                guard number == 1 else { return }
                delivering.open()
                goesOn.wait()
            }
            let token = container.observe(Number.self) { heard.add($0) }
            let setting = startThread { container[Number.self] = 1 }
            delivering.wait()
            container[Number.self] = 2
            token.cancel()
            goesOn.open()
            setting.wait()
            expect(heard.all.isEmpty)
        }
        // Cancelling does not wait for a call that is running elsewhere.
        do {
            let container = Container()
            let (calling, goesOn) = (Gate(), Gate())
            let heard = Counter()
            let token = container.observe(Number.self) { _ in
                calling.open()
                goesOn.wait()
                heard.add()
            }
            let setting = startThread { container[Number.self] = 1 }
            calling.wait()
            token.cancel()
            expect(heard.value, equals: 0)
            goesOn.open()
            setting.wait()
            container[Number.self] = 2
            expect(heard.value, equals: 1)
        }
    }

    @Test(
        "A feature whose last observer ends itself while it's called isn't loaded for anybody any more (laws 9 and 12)"
    )
    func lastEndsItself() {
        struct Live: Feature {
            static var reloadsWhenInputsChange: Bool { true }
            static func load(in container: any FeatureContainer) -> Int { container[Number.self] }
        }
        let (container, loads, token) = (Container(), Counter(), Log<ObservationToken>())
        container.replace(Live.self) {
            loads.add()
            return $0[Number.self]
        }
        _ = container[Live.self]
        token.add(container.observe(Live.self) { _ in for token in token.all { token.cancel() } })
        container[Number.self] = 1
        expect(loads.value, equals: 2)
        container[Number.self] = 2
        expect(loads.value, equals: 2)
        expect(container[Live.self], equals: 2)
    }
}

// Law 9: a dropped token observes as long as the container lives; observe(_:while:) ends with its owner.
/// Law 9: observing through a kept handle, and for an owner.
struct ObservationThroughHandleTests {}

extension ObservationThroughHandleTests {
    struct Number: Property { static var defaultValue: Int { 0 } }
    final class Keeps: Feature, Sendable {
        let handle: Container
        init(_ handle: Container) { self.handle = handle }
        static func load(in container: any FeatureContainer) -> Keeps { Keeps(container as! Container) }
    }

    @Test(
        "An observer added through a handle is called as long as the container lives, and goes with it (laws 7 and 9)")
    func handle() {
        // An observer added through a handle that is dropped is called as long as the container lives.
        do {
            let ended = Counter()
            let heard = Log<Int>()
            do {
                let container = Container()
                container[Keeps.self].handle.observe(Number.self) { [held = Witness { ended.add() }] number in
                    withExtendedLifetime(held) { heard.add(number) }
                }
                container.reset(Keeps.self)
                container[Number.self] = 1
                container[Number.self] = 2
                expect(ended.value, equals: 0)
            }
            expect(heard.all, equals: [1, 2])
            expect(ended.value, equals: 1)
        }
        // A handle that outlives its container observes nothing, and its closure goes.
        do {
            let ended = Counter()
            var container: Container? = Container()
            container!.handleReports { _ in }
            let handle = container![Keeps.self].handle
            weak let alive = container
            container = nil
            expect(alive == nil)
            let token = handle.observe(Number.self) { [held = Witness { ended.add() }] _ in
                withExtendedLifetime(held) {}
            }
            token.cancel()
            expect(ended.value, equals: 1)
        }
    }
}
