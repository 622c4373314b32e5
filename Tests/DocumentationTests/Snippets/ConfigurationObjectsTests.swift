import Fugu
import Testing

extension Snippets {
    @Test("Configuration objects: one for all")
    func oneForAll() async throws {
        try await run {
            print(Container.shared.accent)  // blue
            Container.shared.accent = "green"
            print(Container.shared.accent)  // green
            Container.shared.reset(\.accent)
            print(Container.shared.accent)  // blue
        }
    }

    @Test("Configuration objects, law 18: a copy with priorities")
    func copies() async throws {
        try await run {
            let standard = Container()
            standard.accent = "green"
            standard.margin = 12
            let warning = Container()
            warning.accent = "red"

            let copy = Container(copying: standard, warning)
            print(copy.accent)  // red
            print(copy.margin)  // 12
            standard.margin = 20
            print(copy.margin)  // 12
        }
    }

    @Test("Configuration objects, law 14: a child follows")
    func follows() async throws {
        try await run {
            let standard = Container()
            let warning = standard.child { $0.accent = "red" }
            standard.margin = 20
            print(warning.accent)  // red
            print(warning.margin)  // 20
        }
    }

    @Test("Configuration objects: one part of the tree")
    func onePart() async throws {
        try await run {
            let (left, right) = (Chart(), Chart())
            let warning = Container()
            warning.accent = "red"
            right.with(configuration: Container(copying: .shared, warning))
            print(left.legend.text)  // legend in blue
            print(right.legend.text)  // legend in red
        }
    }

    @Test("Configuration objects: after a change in place")
    func changeInPlace() async throws {
        try await run {
            let chart = Chart()
            chart.configuration = Container()
            print(chart.drawings)  // 1
            chart.configuration.accent = "red"
            print(chart.drawings)  // 1
            chart.reloadConfiguration()
            print(chart.drawings)  // 2
        }
    }

    @Test("Configuration objects, law 10: an observer hears of a change")
    func observed() async throws {
        try await run {
            let configuration = Container()
            let token = configuration.observe(\.accent) { print("now in \($0)") }
            configuration.accent = "red"  // now in red
            token.cancel()
            configuration.accent = "green"
        }
    }

    @Test("Configuration objects: a container for each test")
    func inATest() async throws {
        try await run {
            let configuration = Container()
            configuration.accent = "red"
            let chart = Chart().with(configuration: configuration)
            print(chart.legend.text)  // legend in red
        }
    }
}
