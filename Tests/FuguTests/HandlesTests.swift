import Fugu
import Support
import Testing

extension ContainerKeys {
    fileprivate var nickname: PropertyKey<String?> { .init(id: 1) }
    fileprivate var surname: PropertyKey<String?> { .init(id: 2) }
    fileprivate var greeting: FeatureKey<String> { .init { "hello \($0.nickname ?? "you")" } }
}

private struct Fetched: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Int { 1 }
}

private struct Parsed: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Int { 2 }
}

private struct Plain: Feature {
    static func load(in container: any FeatureContainer) -> String { "loaded" }
}

/// What stands for a container in updates, rules and views is used like one.
@Suite("Handles of updates, rules and observables") struct HandlesTests {
    @Test("An update's handle gives async features, what the update has set before what is there (law 7)")
    func updateReadsAsync() async throws {
        let container = Container()
        let handles = Log<Container>()
        let set = Gate()
        let read = Gate()
        async let inside: Int? = {
            await set.opened()
            defer { read.open() }
            return try? await handles.first(1).first?[Fetched.self]
        }()
        let updated = startThread {
            container.update {
                $0.set(Fetched.self, to: 7)
                handles.add($0)
                set.open()
                read.wait()
            }
        }
        #expect(await inside == 7)
        await updated.opened()
        let handle = await handles.first(1)[0]
        #expect(try await handle[Fetched.self] == 7)
        container.reset(Fetched.self)
        #expect(try await handle[Fetched.self] == 1)
    }

    @Test("An update's handle says what is there, and keeps what is registered (laws 7 and 28)")
    func updateLooks() async throws {
        let container = Container()
        let log = Log<String>()
        container.update {
            #expect($0.ifLoaded(Plain.self) == nil)
            $0[Plain.self] = "set"
            #expect($0.ifLoaded(Plain.self) == "set")
            $0.onClose { log.add("closed") }
        }
        try await container.close()
        #expect(log.removeAll() == ["closed"])
    }

    @Test("What a rule registers runs when the container closes (laws 21 and 28)")
    func ruleRegisters() async throws {
        let container = Container()
        let log = Log<String>()
        container.configureScopes("/a") { scope in scope.onClose { log.add("closed") } }
        let scope = container.scope("/a")
        _ = scope[Plain.self]
        try await container.close()
        #expect(log.removeAll() == ["closed"])
    }

    @Test("Through an observable, what is there is read without loading, and closers are registered (laws 13, 27, 28)")
    func observable() async throws {
        let container = Container()
        let log = Log<String>()
        let observable = container.observable
        container.set(Fetched.self, to: 3)
        container.set(Parsed.self, to: 4)
        let child = container.child().observable
        #expect(child.loaded(Fetched.self) == 3 && child.loaded(Parsed.self) == 4)
        observable[Plain.self] = "set"
        #expect(observable[Plain.self] == "set" && container[Plain.self] == "set")
        observable.onClose { log.add("closed") }
        try await container.close()
        #expect(log.removeAll() == ["closed"])
    }

    @Test("Keys that are nil unless set are told apart by their ids (law 1)")
    func ids() {
        let container = Container()
        #expect(container.nickname == nil && container.surname == nil)
        container.nickname = "Anna"
        #expect(container.nickname == "Anna" && container.surname == nil)
        container.modify(\.greeting) { $0 += "!" }
        #expect(container.greeting == "hello Anna!")
    }

    @Test("An observer of a value key on the main actor hears each change, the last one with what stays (law 10)")
    @MainActor func mainActor() async {
        let container = Container()
        let heard = Log<String?>()
        container.observe(ContainerKeys().nickname) { @MainActor in heard.add($0) }
        container.nickname = "Anna"
        #expect(await heard.first(1) == ["Anna"])
    }

    @Test("Events are printed, one to a line")
    func printsEvents() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let container = Container()
            container.printEvents()
            _ = container[Plain.self]
        }
        let text = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        #expect(text.contains("Plain"), "\(text)")
    }
}
