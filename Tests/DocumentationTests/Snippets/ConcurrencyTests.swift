import Fugu
import Testing

extension Snippets {
    @Test("Concurrency: tasks inherit the current container, detached tasks take it along")
    func taskLocals() async throws {
        try await run {
            await Container.with {
                $0.mode = "night"
            } operation: {
                await Task { print(Container.current.mode) }.value  // night
                await Task.detached { print(Container.current.mode) }.value  // day
                let container = Container.current
                await Task.detached { Container.with(container) { print(Container.current.mode) } }.value  // night
            }
        }
    }

    @Test("Concurrency: an escaping closure takes the container along")
    func escapingClosure() {
        var later: [@Sendable () -> Void] = []
        Container.with {
            $0.mode = "dusk"
        } operation: {
            refreshLater { later.append($0) }
        }
        later[0]()
        #expect(transcriptSoFar.last == "dusk")
    }

    @Test("Concurrency: an actor is a feature and reads late")
    func actors() async throws {
        try await run {
            let container = Container()
            let counter = container[Counter.self]
            print(await counter.increment())  // day: 1
            print(await container[Counter.self].increment())  // day: 2
        }
        #expect(!Lamp().isOn)
        #expect(Container.with({ $0.mode = "night" }, operation: { Lamp() }).isOn)
    }

    @Test("Concurrency: what belongs to the main actor is loaded and observed there")
    @MainActor func mainActor() async {
        let container = Container()
        let window = Window()
        #expect(show(container) == "It is day")
        #expect(Container.with(container) { Toolbar().title } == "Tools for: It is day")
        follow(container, window)
        container.mode = "night"
        while window.title != "night" { await Task.yield() }
        #expect(window.title == "night")
    }
}
