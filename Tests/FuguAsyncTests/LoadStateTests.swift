import Fugu
import FuguLoadStates
import Observation
import Support
import Testing

// The engine has a type of this name, which only this package sees.
import enum FuguLoadStates.LoadState

/// States of a load: idle, loading, loaded, failed with the previous instance.
struct LoadStateTests {
    private let container = Container()
}

extension LoadStateTests {
    struct City: Property { static var defaultValue: String? { nil } }
    struct NoCity: Error {}

    struct Weather: AsyncFeature {
        static var reloadsWhenInputsChange: Bool { true }
        let text: String
        static func load(in container: any FeatureContainer) async throws -> Weather {
            guard let city = container[City.self] else { throw NoCity() }
            await Task.yield()
            return Weather(text: "sun in \(city)")
        }
    }

    struct Parsed: ThrowingFeature {
        let text: String
        static func load(in container: any FeatureContainer) throws -> Parsed {
            guard let city = container[City.self] else { throw NoCity() }
            return Parsed(text: city)
        }
    }

    /// Reads states until one isn't that of a running load.
    private func next<Instance: Sendable>(
        _ states: inout ObservedValues<LoadState<Instance>>.AsyncIterator
    ) async -> LoadState<Instance>? {
        while let state = await states.next() { if !state.isLoading { return state } }
        return nil
    }

    /// Reads the city, and throws if there was none, after the test has gone on.
    @Sendable private static func cityRead(
        _ container: any FeatureContainer, _ began: Gate, _ goesOn: Gate
    ) async throws -> String {
        let city = container[City.self]
        began.open()
        await goesOn.opened()
        guard let city else { throw NoCity() }
        return city
    }

    @Test(
        "The sequence begins to load, yields the failure, and tries again when an input changes, or has failed for an old value (law 12)"
    )
    func failsAndRetries() async {
        // The sequence begins to load, yields the failure, and tries again when an input changes.
        do {
            var states = container.states(of: Weather.self).makeAsyncIterator()
            let failed = await next(&states)
            expect(failed?.error is NoCity)
            expect(failed?.instance == nil)
            container[City.self] = "Oslo"
            await expect(next(&states)?.instance?.text, equals: "sun in Oslo")
            container[City.self] = nil
            let again = await next(&states)
            expect(again?.error is NoCity)
            expect(again?.instance?.text, equals: "sun in Oslo")
            container[City.self] = "Rome"
            let loaded = await next(&states)
            expect(loaded?.instance?.text, equals: "sun in Rome")
            expect(loaded?.error == nil)
        }
        // An input whose load failed while what it read changed is tried again, too.
        do {
            let container = Container()
            struct Place: AsyncFeature {
                static func load(in container: any FeatureContainer) async throws -> String { "" }
            }
            let (began, goesOn) = (Gate(), Gate())
            container.replace(Place.self) { try await Self.cityRead($0, began, goesOn) }
            container.replace(Weather.self) { Weather(text: try await $0[Place.self]) }
            var states = container.states(of: Weather.self).makeAsyncIterator()
            await began.opened()
            container[City.self] = "Oslo"
            goesOn.open()
            var last = await next(&states)
            while last?.error != nil { last = await next(&states) }
            expect(last?.instance?.text, equals: "Oslo")
        }
    }

    @Test(
        "The sequence ends when its reader's task is cancelled, or with idle when the container closes (laws 7 and 9)")
    func cancelled() async throws {
        // When the reader's task is cancelled, the sequence ends without another state.
        do {
            container[City.self] = "Oslo"
            _ = try container[Parsed.self]
            let (kept, read) = (container, Gate())
            let reader = Task { () -> [Bool] in
                var states: [Bool] = []
                for await state in kept.states(of: Parsed.self) {
                    states.append(state.instance != nil)
                    read.open()
                }
                return states
            }
            await read.opened()
            reader.cancel()
            await expect(reader.value, equals: [true])
            expect(container.ifLoaded(Parsed.self) != nil)
        }
        // The sequence ends with idle when the container closes, and doesn't keep it alive.
        do {
            let container = Container()
            container.set(Weather.self, to: Weather(text: "set"))
            let sequence = container.states(of: Weather.self)
            var states = sequence.makeAsyncIterator()
            _ = await states.next()
            try await container.close()
            guard case .idle? = await states.next() else { return expect(Bool(false), "not idle") }
            await expect(states.next() == nil)
            var temporary: Container? = Container()
            weak let other = temporary
            let later = temporary!.states(of: Parsed.self)
            var iterator = later.makeAsyncIterator()
            _ = await next(&iterator)
            temporary = nil
            while other != nil { await Task.yield() }
            while await iterator.next() != nil {}
            var none = later.makeAsyncIterator()
            await expect(none.next() == nil)
        }
    }

    @Test(
        "A load that changes its own input is repeated a few times, yields its failure, and ends when something is set (law 12)",
        .timeLimit(.minutes(5)))
    func setsItsInput() async {
        // A load that sets what it reads is repeated a few times for states, which then have its failure.
        do {
            let (loads, kept) = (Counter(), container)
            container.replace(Weather.self) { container in
                let city = container[City.self] ?? ""
                loads.add()
                kept[City.self] = city + "!"
                throw NoCity()
            }
            var states = container.states(of: Weather.self).makeAsyncIterator()
            await expect(next(&states)?.error is NoCity)
            container.set(Weather.self, to: Weather(text: "set"))
            while await next(&states)?.instance?.text != "set" {}
            expect(loads.value <= 11)
        }
        // A load that changes its own input yields its failure, and ends when something is set.
        do {
            let container = Container()
            let (loads, kept) = (Counter(), container)
            container.replace(Weather.self) { container in
                let city = container[City.self] ?? ""
                loads.add()
                await Task.detached { kept[City.self] = city + "!" }.value
                throw NoCity()
            }
            var states = container.states(of: Weather.self).makeAsyncIterator()
            await expect(next(&states)?.error is NoCity)
            container.set(Weather.self, to: Weather(text: "set"))
            while await next(&states)?.instance?.text != "set" {}
            let loaded = loads.value
            container[City.self] = "Oslo"
            expect(loads.value <= loaded + 1)
            expect(container.loaded(Weather.self).text, equals: "set")
        }
    }

    @Test(
        "A failed load is tried again after a reset of all, and after the change of each delivery (laws 12 and 13)",
        .timeLimit(.minutes(5)))
    func resetsAll() async {
        // resetAll lets a failed load be tried again.
        do {
            let works = Log<Bool>()
            container.replace(Parsed.self) { _ in
                if works.all.isEmpty { throw NoCity() }
                return Parsed(text: "works")
            }
            let replaced = container.child()
            var states = replaced.states(of: Parsed.self).makeAsyncIterator()
            await expect(next(&states)?.error is NoCity)
            works.add(true)
            replaced.resetAll()
            await expect(next(&states)?.instance?.text, equals: "works")
        }
        // Changes by observers in different deliveries each let a failed load be tried again.
        do {
            let container = Container()
            struct Number: Property { static var defaultValue: Int { 0 } }
            let (tries, kept) = (Log<String>(), container)
            container.replace(Parsed.self) { container in
                let city = container[City.self] ?? ""
                tries.add(city)
                guard city == "20" else { throw NoCity() }
                return Parsed(text: city)
            }
            var states = container.states(of: Parsed.self).makeAsyncIterator()
            var last = await next(&states)
            expect(last?.error is NoCity)
            let token = container.observe(Number.self) { kept[City.self] = "\($0)" }
            for number in 1...20 {
                container[Number.self] = number
                while tries.all.last != "\(number)" { last = await states.next() }
            }
            while last?.instance?.text != "20" { last = await states.next() }
            token.cancel()
        }
    }

    @Test("However many threads change what is read, the last state is that of the last value (laws 9 and 12)")
    func lastState() async {
        for round in 0..<200 {
            let container = Container()
            async let last = {
                var last: LoadState<Weather>?
                for await state in container.states(of: Weather.self) {
                    last = state
                    if state.instance?.text == "sun in the end", !state.isLoading { break }
                }
                return last
            }()
            await withTaskGroup { group in
                for number in 0..<4 {
                    group.addTask { container[City.self] = (round + number) % 3 == 0 ? nil : "\(number)" }
                }
            }
            container[City.self] = "the end"
            await expect(last?.error == nil)
        }
    }

    @Test("A failed load is tried again after a reset, also one during the load, of whichever container (law 13)")
    func resetAfterFailure() async {
        struct Try: Property { static var defaultValue: @Sendable () throws -> String { { "" } } }
        struct Flaky: ThrowingFeature {
            static func load(in container: any FeatureContainer) throws -> String { try container[Try.self]() }
        }
        struct Wait: Property { static var defaultValue: @Sendable () async throws -> String { { "" } } }
        struct Slow: AsyncFeature {
            static func load(in container: any FeatureContainer) async throws -> String {
                try await container[Wait.self]()
            }
        }
        let (works, loads, began) = (Log<Bool>(), Counter(), Log<Gate>())
        container[Try.self] = {
            loads.add()
            if works.all.isEmpty { throw NoCity() }
            return "works"
        }
        container[Wait.self] = {
            let (gate, fails) = (Gate(), works.all.isEmpty)
            began.add(gate)
            await gate.opened()
            if fails { throw NoCity() }
            return "works"
        }
        for follower in [container, container.child()] {
            var states = follower.states(of: Flaky.self).makeAsyncIterator()
            await expect(next(&states)?.error is NoCity)
            let before = loads.value
            follower.reset(Flaky.self)
            await expect(next(&states)?.error is NoCity)
            expect(loads.value > before)
        }
        var states = container.states(of: Flaky.self).makeAsyncIterator()
        await expect(next(&states)?.error is NoCity)
        var slow = container.states(of: Slow.self).makeAsyncIterator()
        let first = await began.first(1)[0]
        works.add(true)
        container.reset(Flaky.self)
        await expect(next(&states)?.instance, equals: "works")
        container.reset(Slow.self)
        first.open()
        await began.first(2)[1].open()
        await expect(next(&slow)?.instance, equals: "works")
    }

    @Test("A follower tries again, wherever the failed load was requested or lives (laws 11 and 12)")
    func failedElsewhere() async {
        struct Shared: ThrowingFeature {
            static var home: Home { .shared }
            static func load(in container: any FeatureContainer) throws -> String {
                guard let city = container[City.self] else { throw NoCity() }
                return city
            }
        }
        let child = container.child()
        var states = child.states(of: Shared.self).makeAsyncIterator()
        await expect(next(&states)?.error is NoCity)
        container[City.self] = "Oslo"
        await expect(next(&states)?.instance, equals: "Oslo")

        // A child begins the load that the root's follower joins.
        let root = Container()
        let (began, goesOn) = (Gate(), Gate())
        root.replace(Weather.self) { Weather(text: try await Self.cityRead($0, began, goesOn)) }
        let request = root.child()
        async let asked = try? request[Weather.self]
        await began.opened()
        var weathers = root.states(of: Weather.self).makeAsyncIterator()
        await expect(weathers.next()?.isLoading, equals: true)
        goesOn.open()
        await expect(next(&weathers)?.error is NoCity)
        _ = await asked
        root[City.self] = "Rome"
        await expect(next(&weathers)?.instance?.text, equals: "Rome")
    }

    @Test("However often a load fails, a change of what it reads costs the same (law 20)")
    func failsOften() async {
        struct Count: Property { static var defaultValue: Int { 0 } }
        let loads = Counter()
        container.replace(Parsed.self) { container in
            loads.add()
            throw container[Count.self] == -1 ? CancellationError() : NoCity() as any Error
        }
        var states = container.states(of: Parsed.self).makeAsyncIterator()
        for number in 1...200 {
            await expect(next(&states)?.error is NoCity)
            container[Count.self] = number
        }
        await expect(next(&states)?.error is NoCity)
        expect(loads.value, equals: 201)
    }

    @Test("A plain feature that changes what it reads itself, and is observed in a child, lets the set return (law 12)")
    func changesItself() {
        struct Level: Property { static var defaultValue: Int { 0 } }
        struct Restless: Feature {
            static var reloadsWhenInputsChange: Bool { true }
            static func load(in container: any FeatureContainer) -> Int { container[Level.self] }
        }
        let child = container.child { $0[Level.self] = 0 }
        let (loads, reports) = (Counter(), Log<String>())
        container.handleReports { reports.add($0) }
        child.replace(Restless.self) { [weak child] container in
            loads.add()
            let level = container[Level.self]
            if level > 0 { child?[Level.self] = level + 1 }
            return level
        }
        let token = child.observe(Restless.self) { _ in }
        _ = child[Restless.self]
        child[Level.self] = 1
        expect(loads.value, equals: 11)
        expect(reports.all.count, equals: 1)
        expect(reports.all[0].contains("Restless was loaded for its observers ten times in a row"), "\(reports.all)")
        token.cancel()
    }

    @Test("While a load runs, its state has the previous instance")
    func loading() async {
        let gates = Log<Gate>()
        let container = container
        container[City.self] = "Oslo"
        container.replace(Weather.self) { container in
            let (city, gate) = (container[City.self] ?? "", Gate())
            gates.add(gate)
            await gate.opened()
            return Weather(text: city)
        }
        var states = container.states(of: Weather.self).makeAsyncIterator()
        let first = await states.next()
        expect(first?.isLoading, equals: true)
        expect(first?.instance == nil)
        await gates.first(1)[0].open()
        await expect(next(&states)?.instance?.text, equals: "Oslo")
        container[City.self] = "Rome"
        let second = await states.next()
        expect(second?.isLoading, equals: true)
        expect(second?.instance?.text, equals: "Oslo")
        await gates.first(2)[1].open()
        await expect(next(&states)?.instance?.text, equals: "Rome")
    }

    @Test("An instance that is there is the first state, then later sets and loads, of a throwing feature, too (law 9)")
    func present() async {
        // An instance that is there is the first state, and later sets are delivered, too.
        do {
            container.set(Weather.self, to: Weather(text: "set"))
            var states = container.states(of: Weather.self).makeAsyncIterator()
            guard case .loaded(let weather)? = await states.next() else { return expect(Bool(false), "not loaded") }
            expect(weather.text, equals: "set")
            container.set(Weather.self, to: Weather(text: "set again"))
            await expect(next(&states)?.instance?.text, equals: "set again")
        }
        // A throwing feature has states, too, and a reset loads it again.
        do {
            let container = Container()
            let (child, reports) = (container.child(), container.logReports())
            var states = child.states(of: Parsed.self).makeAsyncIterator()
            await expect(next(&states)?.error is NoCity)
            while child.observable.state(of: Parsed.self).error == nil { await Task.yield() }
            container[City.self] = "Oslo"
            await expect(next(&states)?.instance?.text, equals: "Oslo")
            container[City.self] = "Rome"
            container.reset(Parsed.self)
            await expect(next(&states)?.instance?.text, equals: "Rome")
            #if DEBUG
            expect(reports.all.map { $0.prefix { $0 != "," } }, equals: ["Fugu: City was set"])
            #endif
            _ = reports
        }
    }

    @Test("Two who follow the same load hear of one load (law 3)")
    func together() async {
        let loads = Counter()
        container.replace(Weather.self) { _ in
            loads.add()
            await Task.yield()
            return Weather(text: "once")
        }
        var first = container.states(of: Weather.self).makeAsyncIterator()
        var second = container.states(of: Weather.self).makeAsyncIterator()
        await expect(next(&first)?.instance?.text, equals: "once")
        await expect(next(&second)?.instance?.text, equals: "once")
        expect(loads.value, equals: 1)
    }

    @Test("When the last one who follows leaves, a load that nobody else waits for is canceled (law 4)")
    func leaves() async {
        let (began, cancelled) = (Gate(), Gate())
        container.replace(Weather.self) { _ in
            began.open()
            do { try await Gate().openedUnlessCancelled() } catch {
                cancelled.open()
                throw error
            }
            return Weather(text: "never")
        }
        let container = container
        let reader = Task { for await _ in container.states(of: Weather.self) {} }
        await began.opened()
        reader.cancel()
        await cancelled.opened()
        await reader.value
    }

    struct Slow: AsyncFeature {
        let number: Int
        static func load(in container: any FeatureContainer) async throws -> Slow {
            let number = container.stage.tally("loads").add()
            await container.stage.gate("load \(number)").opened()
            return Slow(number: number)
        }
    }

    @Test("However often loads are in vain, the state is that of an instance that was set meanwhile (law 12)")
    func setAfterLoadsInVain() async {
        let (container, states) = (container, Log<LoadState<Slow>>())
        let stage = container.stage
        let reader = Task { for await state in container.states(of: Slow.self) { states.add(state) } }
        for attempt in 1...8 {
            await stage.tally("loads").reaches(attempt)
            container.reset(Slow.self)
            if attempt == 8 { container.set(Slow.self, to: Slow(number: 100)) }
            stage.gate("load \(attempt)").open()
        }
        while !states.all.contains(where: { $0.instance?.number == 100 && !$0.isLoading }) { await Task.yield() }
        await giveOthersTime()
        expect(states.all.last?.isLoading, equals: false)
        expect(states.all.last?.instance?.number, equals: 100)
        reader.cancel()
    }

    @Test("On an observable container, the state is tracked: whoever read it hears of each change (law 9)")
    func observable() async {
        let observable = container.observable
        /// Returns a gate that opens when the state changes that is read here.
        func changed() -> Gate {
            let changed = Gate()
            withObservationTracking {
                _ = observable.state(of: Weather.self)
            } onChange: {
                changed.open()
            }
            return changed
        }
        expect(observable.state(of: Weather.self).isLoading || observable.state(of: Weather.self).error != nil)
        while observable.state(of: Weather.self).isLoading { await Task.yield() }
        expect(observable.state(of: Weather.self).error is NoCity)
        let change = changed()
        container[City.self] = "Oslo"
        await change.opened()
        while observable.state(of: Weather.self).isLoading { await Task.yield() }
        expect(observable.state(of: Weather.self).instance?.text, equals: "sun in Oslo")
        expect(container.child().observable.state(of: Weather.self).instance?.text, equals: "sun in Oslo")
    }
}
