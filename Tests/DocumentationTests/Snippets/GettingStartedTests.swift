import Fugu
import Testing

extension Snippets {
    @Test("Getting started: values have defaults")
    func values() async throws {
        try await run {
            let container = Container()
            print(container.unit)  // °C
            container[Station.self] = "Etna"
            print(container[Station.self])  // Etna
        }
    }

    @Test("Getting started, law 1: a nil that was set is a value")
    func optionals() async throws {
        try await run {
            let container = Container()
            print(container[Altitude.self] ?? -1)  // 7
            container[Altitude.self] = nil
            print(container[Altitude.self] ?? -1)  // -1
            container.reset(Altitude.self)
            print(container[Altitude.self] ?? -1)  // 7
        }
    }

    @Test("Getting started: the sensor is swapped")
    func doubles() async throws {
        try await run {
            let container = Container()
            container[Thermometer.self] = Thermometer { 21.5 }
            print(container[Report.self].text)  // Catania: 21.5 °C
        }
    }

    @Test("Getting started: what does not ask for it is not made anew")
    func staleness() async throws {
        try await run {
            let container = Container()
            container[Thermometer.self] = Thermometer { 21.5 }
            print(container[Report.self].text)  // Catania: 21.5 °C
            print(container[Headline.self].text)  // The weather in Catania
            container[Station.self] = "Etna"
            print(container[Report.self].text)  // Catania: 21.5 °C
            print(container[Headline.self].text)  // The weather in Etna
            container.reset(Report.self)
            print(container[Report.self].text)  // Etna: 21.5 °C
        }
    }

    @Test("Getting started: an observer hears the first load and the reload")
    func observing() async throws {
        try await run {
            let container = Container()
            let token = container.observe(Headline.self) { print($0.text) }
            _ = container[Headline.self]  // The weather in Catania
            container[Station.self] = "Etna"  // The weather in Etna
            token.cancel()
        }
    }

    @Test("Getting started: a sequence begins with the present value")
    func sequence() async throws {
        try await run {
            let container = Container()
            for await headline in container.values(of: Headline.self) {
                print(headline.text)  // The weather in Catania
                break
            }
        }
    }

    @Test("Getting started: a child that overrides an input gets its own report")
    func request() async throws {
        try await run {
            let server = Container()
            server[Thermometer.self] = Thermometer { 21.5 }
            let request = server.child { $0.unit = "degrees" }
            print(request[Report.self].text)  // Catania: 21.5 degrees
            print(server[Report.self].text)  // Catania: 21.5 °C
        }
    }

    @Test("Getting started: a failure is not kept")
    func archive() async throws {
        try await run {
            let container = Container()
            container[Station.self] = "Atlantis"
            do {
                _ = try await container[Archive.self]
            } catch {
                print(error)  // no station Atlantis
            }
            container[Station.self] = "Etna"
            print(try await container[Archive.self].days.count)  // 3
            try await container.close()  // the archive is closed
        }
    }

    @Test("Getting started: a test binds a container of its own")
    func announcer() async throws {
        try await run {
            let text = Container.with {
                $0.timestamp = .constant(1_000)
                $0[Thermometer.self] = Thermometer { -3 }
            } operation: {
                Announcer().announce()
            }
            print(text)  // 1000: Catania: -3.0 °C
        }
    }

    @Test("Getting started: what takes time is moved by hand")
    func clock() async throws {
        try await run {
            let clock = ManualClock()
            let container = Container()
            container.clock = ErasedClock(clock)
            let waiting = Task { try await container.clock.sleep(for: .seconds(3_600)) }
            await clock.sleepers(atLeast: 1)
            clock.advance(by: .seconds(3_600))
            try await waiting.value
        }
    }
}
