import Fugu
import Observation
import Support
import Testing

@Suite("States of a load: idle, loading, loaded, failed with the previous instance") struct LoadStateTests {
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

    private let container = Container()

    /// Reads states until one isn't that of a running load.
    private func next<Instance: Sendable>(
        _ states: inout LoadStates<Instance>.AsyncIterator
    ) async -> LoadState<Instance>? {
        while let state = await states.next() { if !state.isLoading { return state } }
        return nil
    }

    @Test(
        "The sequence begins to load, tells of the failure, and tries again when something changes that was read (law 19)"
    )
    func failsAndRetries() async {
        var states = container.states(of: Weather.self).makeAsyncIterator()
        let failed = await next(&states)
        #expect(failed?.error is NoCity && failed?.instance == nil)
        container[City.self] = "Oslo"
        #expect(await next(&states)?.instance?.text == "sun in Oslo")
        container[City.self] = nil
        let again = await next(&states)
        #expect(again?.error is NoCity && again?.instance?.text == "sun in Oslo")
        container[City.self] = "Rome"
        let loaded = await next(&states)
        #expect(loaded?.instance?.text == "sun in Rome" && loaded?.error == nil)
    }

    @Test(
        "A load fails while what it has read changes: it is tried again, since nobody will change that any more (law 19)"
    )
    func failsWithOldInputs() async {
        let (began, goesOn) = (Gate(), Gate())
        container.replace(Weather.self) { container in
            let city = container[City.self]
            began.open()
            await goesOn.opened()
            guard let city else { throw NoCity() }
            return Weather(text: city)
        }
        var states = container.states(of: Weather.self).makeAsyncIterator()
        await began.opened()
        container[City.self] = "Oslo"
        goesOn.open()
        var last = await next(&states)
        while last?.error != nil { last = await next(&states) }
        #expect(last?.instance?.text == "Oslo")
    }

    @Test("A load that changes what it reads itself, and fails, is not tried without end (law 19)")
    func failsByItself() async {
        let (loads, kept) = (Counter(), container)
        container.replace(Weather.self) { container in
            let city = container[City.self] ?? ""
            loads.add()
            await Task.detached { kept[City.self] = city + "!" }.value
            throw NoCity()
        }
        var states = container.states(of: Weather.self).makeAsyncIterator()
        #expect(await next(&states)?.error is NoCity)
        container.set(Weather.self, to: Weather(text: "set"))
        while await next(&states)?.instance?.text != "set" {}
        #expect(loads.value < 100)
    }

    @Test("However many threads change what is read, the last state is that of the last value (laws 10 and 19)")
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
            #expect(await last?.error == nil)
        }
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
        #expect(first?.isLoading == true && first?.instance == nil)
        await gates.first(1)[0].open()
        #expect(await next(&states)?.instance?.text == "Oslo")
        container[City.self] = "Rome"
        let second = await states.next()
        #expect(second?.isLoading == true && second?.instance?.text == "Oslo")
        await gates.first(2)[1].open()
        #expect(await next(&states)?.instance?.text == "Rome")
    }

    @Test("What is loaded or set already is the first state, and what is set later is told, too (law 12)")
    func present() async {
        container.set(Weather.self, to: Weather(text: "set"))
        var states = container.states(of: Weather.self).makeAsyncIterator()
        guard case .loaded(let weather)? = await states.next() else { return #expect(Bool(false), "not loaded") }
        #expect(weather.text == "set")
        container.set(Weather.self, to: Weather(text: "set again"))
        #expect(await next(&states)?.instance?.text == "set again")
    }

    @Test("A throwing feature has states, too, and a reset loads it again (law 20)")
    func throwing() async {
        let child = container.child()
        var states = child.states(of: Parsed.self).makeAsyncIterator()
        #expect(await next(&states)?.error is NoCity)
        container[City.self] = "Oslo"
        #expect(await next(&states)?.instance?.text == "Oslo")
        container[City.self] = "Rome"
        container.reset(Parsed.self)
        #expect(await next(&states)?.instance?.text == "Rome")
    }

    @Test("Two who follow the same load hear of one load (law 4)")
    func together() async {
        let loads = Counter()
        container.replace(Weather.self) { _ in
            loads.add()
            await Task.yield()
            return Weather(text: "once")
        }
        var first = container.states(of: Weather.self).makeAsyncIterator()
        var second = container.states(of: Weather.self).makeAsyncIterator()
        #expect(await next(&first)?.instance?.text == "once")
        #expect(await next(&second)?.instance?.text == "once")
        #expect(loads.value == 1)
    }

    @Test("The sequence ends with idle when the container closes, and doesn't keep it alive (laws 8 and 12)")
    func ends() async throws {
        container.set(Weather.self, to: Weather(text: "set"))
        let sequence = container.states(of: Weather.self)
        var states = sequence.makeAsyncIterator()
        _ = await states.next()
        try await container.close()
        guard case .idle? = await states.next() else { return #expect(Bool(false), "not idle") }
        #expect(await states.next() == nil)
        var temporary: Container? = Container()
        weak let other = temporary
        let later = temporary!.states(of: Parsed.self)
        var iterator = later.makeAsyncIterator()
        _ = await next(&iterator)
        temporary = nil
        while other != nil { await Task.yield() }
        while await iterator.next() != nil {}
        var none = later.makeAsyncIterator()
        #expect(await none.next() == nil)
    }

    @Test("When the last one who follows leaves, a load that nobody else waits for is canceled (law 27)")
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

    @Test("On an observable container, the state is tracked: whoever read it hears of each change (law 13)")
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
        #expect(observable.state(of: Weather.self).isLoading || observable.state(of: Weather.self).error != nil)
        while observable.state(of: Weather.self).isLoading { await Task.yield() }
        #expect(observable.state(of: Weather.self).error is NoCity)
        let change = changed()
        container[City.self] = "Oslo"
        await change.opened()
        while observable.state(of: Weather.self).isLoading { await Task.yield() }
        #expect(observable.state(of: Weather.self).instance?.text == "sun in Oslo")
        #expect(container.child().observable.state(of: Weather.self).instance?.text == "sun in Oslo")
    }
}
