import Fugu
import Testing

extension Snippets {
    @Test("README: a property is read, set and reset")
    func properties() async throws {
        try await run {
            let container = Container()
            print(container.timeout)  // 30
            container.timeout = 5
            print(container.timeout)  // 5
            container.reset(\.timeout)
            print(container.timeout)  // 30
        }
    }

    @Test("README: an observer hears of changes until the token is cancelled")
    func observer() async throws {
        try await run {
            let container = Container()
            let token = container.observe(\.timeout) { print("timeout \($0)") }
            container.timeout = 5  // timeout 5
            token.cancel()
        }
    }

    @Test("README: a feature is made from properties")
    func features() async throws {
        try await run {
            let container = Container()
            container[UserName.self] = "Ada"
            print(container.greeter.text)  // Hello, Ada!
            print(container.farewell)  // Goodbye, Ada!
        }
    }

    @Test("README: a feature is swapped, replaced and reset")
    func swap() async throws {
        try await run {
            let container = Container()
            container.greeter = Greeter(text: "Ahoy!")
            print(container.greeter.text)  // Ahoy!
            container.replace(Greeter.self) { Greeter(text: "Ahoy, \($0[UserName.self])!") }
            print(container.greeter.text)  // Ahoy, guest!
            container.reset(Greeter.self)
            print(container.greeter.text)  // Hello, guest!
        }
    }

    @Test("README: a test binds a container of its own")
    func with() async throws {
        try await run {
            let report = Container.with {
                $0[UserName.self] = "Grace"
                $0.timestamp = .constant(86_400)
            } operation: {
                Doorman().report()
            }
            print(report)  // Hello, Grace! It is second 86400.
        }
    }
}
