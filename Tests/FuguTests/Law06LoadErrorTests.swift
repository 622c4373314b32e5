@testable import Fugu
import Support
import Testing

@Suite("Law 6: cycles of loads that can throw, and what is no cycle") struct Law06LoadErrorTests {
    static let cases: [Case<Law06LoadErrorTests>] = [
        Case(
            "A throwing feature throws the path with the line that closes it; the container stays usable (law 6)",
            throwing),
        Case("An async feature throws the path (law 6)", async),
        Case("A cycle through tasks that a load started is found (law 6)", startedTasks),
        Case("A cycle through kinds lists them all (law 6)", kinds),
        Case("The same key in unrelated containers that delegate to each other is no cycle (law 6)", unrelated),
        Case("A real cycle through two families is found and reported (law 6)", twoFamilies),
        Case("Reading a key again that was read before is no cycle (law 6)", diamond),
        Case("An instance's reads after its load aren't part of the load (law 6)", later),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law06LoadErrorTests>) async throws {
        try await stated.run(self)
    }

    struct Parser: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { try container[Grammar.self] }
    }
    struct Grammar: ThrowingFeature {
        static let line: UInt = #line + 1
        static func load(in container: any FeatureContainer) throws -> Int { try container[Parser.self] }
    }

    func throwing() throws {
        let container = Container()
        let error = #expect(throws: LoadError.self) { try container[Parser.self] }
        expect(error?.code, equals: .cycle)
        expect(error?.path, equals: ["Parser", "Grammar", "Parser"])
        let place = "load(in:) at FuguTests/Law06LoadErrorTests.swift:\(Grammar.line)"
        expect(
            error?.description.contains("Parser → Grammar → Parser, in \(place)\nFix: let one of them read"),
            equals: true)
        container.set(Grammar.self, to: 5)
        try expect(container[Parser.self], equals: 5)
    }

    struct Client: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Int { try await container[Token.self] }
    }
    struct Token: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Int { try await container[Client.self] }
    }

    func async() async {
        let error = await #expect(throws: LoadError.self) { try await Container()[Client.self] }
        expect(error?.path, equals: ["Client", "Token", "Client"])
    }

    func startedTasks() async {
        let container = Container()
        container.replace(Client.self) { _ in
            try await withThrowingTaskGroup(of: Int.self) { group in
                group.addTask { try await Task { try await container[Token.self] }.value }
                return try await group.next() ?? 0
            }
        }
        container.replace(Token.self) { _ in try await container[Client.self] }
        let error = await #expect(throws: LoadError.self) { try await container[Client.self] }
        expect(error?.path, equals: ["Client", "Token", "Client"])
    }

    func kinds() async {
        let container = Container()
        let key = FeatureKey(fileID: "App/Key.swift", line: 3) { (try? $0[Parser.self]) ?? -1 }
        container.replace(Client.self) { try await $0[Token.self] }
        container.replace(Token.self) { try $0[Parser.self] + $0[key] }
        container.replace(Parser.self) { try $0[Grammar.self] }
        let error = await #expect(throws: LoadError.self) { try await container[Client.self] }
        expect(error?.path, equals: ["Client", "Token", "Parser", "Grammar", "Parser"])
    }

    @Test("Two threads that each load what the other waits for get errors and do not hang (law 6)")
    func twoThreads() {
        let container = Container()
        let (parserBegan, grammarBegan) = (Gate(), Gate())
        container.replace(Parser.self) { handle in
            parserBegan.open()
            grammarBegan.wait()
            return try handle[Grammar.self]
        }
        container.replace(Grammar.self) { handle in
            grammarBegan.open()
            parserBegan.wait()
            return try handle[Parser.self]
        }
        let errors = Log<LoadError>()
        onThreads(2) { thread in
            do {
                _ = try thread == 0 ? container[Parser.self] : container[Grammar.self]
            } catch let error as LoadError {
                errors.add(error)
            } catch {}
        }
        expect(errors.count, equals: 2)
        let ways = [["Parser", "Grammar", "Parser"], ["Grammar", "Parser", "Grammar"]]
        expect(errors.all.allSatisfy { ways.contains($0.path) }, "\(errors.all.map(\.path))")
    }

    @Test("Two tasks that each load what the other waits for get errors and do not hang (law 6)")
    func twoTasks() async {
        let container = Container()
        let (clientBegan, tokenBegan) = (Gate(), Gate())
        container.replace(Client.self) { handle in
            clientBegan.open()
            await tokenBegan.opened()
            return try await handle[Token.self]
        }
        container.replace(Token.self) { handle in
            tokenBegan.open()
            await clientBegan.opened()
            return try await handle[Client.self]
        }
        let first = Task { try await container[Client.self] }
        let second = Task { try await container[Token.self] }
        for result in [await first.result, await second.result] {
            let error = #expect(throws: LoadError.self) { try result.get() }
            expect(
                error.map { $0.path.count == 3 && $0.path.first == $0.path.last }, equals: true,
                "\(String(describing: error))")
        }
    }

    struct Lexer: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { 1 }
    }

    @Test("Three threads in a ring get errors and do not hang (law 6)")
    func ring() {
        let container = Container()
        let barrier = Barrier(of: 3)
        let first = Log<Void>()
        // A load that is begun again to find the way does not meet the others again.
        let meet = { @Sendable in
            first.add(())
            if first.count <= 3 { barrier.wait() }
        }
        container.replace(Parser.self) { handle in
            meet()
            return try handle[Grammar.self]
        }
        container.replace(Grammar.self) { handle in
            meet()
            return try handle[Lexer.self]
        }
        container.replace(Lexer.self) { handle in
            meet()
            return try handle[Parser.self]
        }
        let errors = Log<LoadError>()
        onThreads(3) { thread in
            do {
                _ =
                    try thread == 0
                    ? container[Parser.self] : thread == 1 ? container[Grammar.self] : container[Lexer.self]
            } catch let error as LoadError {
                errors.add(error)
            } catch {}
        }
        expect(errors.count, equals: 3)
        expect(
            errors.all.allSatisfy { $0.path.count == 4 && $0.path.first == $0.path.last }, "\(errors.all.map(\.path))")
    }

    struct Level<Inner>: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { try container[Level<Level<Inner>>.self] }
    }

    @Test("Nesting without end is reported instead of overflowing the stack (law 6)")
    func endless() {
        let error = #expect(throws: LoadError.self) { try Container()[Level<Int>.self] }
        expect((error?.path.count ?? 0) > 100)
        expect(error?.code, equals: .nestedTooDeep)
        expect(error?.path.first, equals: "Level<Int>")
        expect(error?.description.contains("the stack has no room for more"), equals: true)
    }

    struct Bottom: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { 1 }
    }

    @Test("So it is on a stack that a hundred loads would overflow (law 6)", arguments: [128, 256, 512])
    func stackTooSmall(kilobytes: Int) {
        // Layers, because the runtime prints the name of types within one another with as many calls.
        let container = Container()
        for _ in 0..<1_000 { container.decorate(Bottom.self) { value, _ in value } }
        let errors = Log<LoadError?>()
        startThread(stackSize: kilobytes << 10) {
            errors.add(#expect(throws: LoadError.self) { try container[Bottom.self] })
        }.wait()
        expect(errors.all.count == 1 && errors.all[0]?.code == .nestedTooDeep)
        expect(errors.all[0].map { $0.path.count } ?? 0 > 4)
    }

    @Test("A load within a load takes little of the stack, so that hundreds fit a small one (laws 6 and 30)")
    func stackFootprint() {
        let addresses = Log<UInt>()
        @Sendable func nested(_ level: Int) -> FeatureKey<Int> {
            FeatureKey(id: level) { handle in
                var here = level
                addresses.add(withUnsafePointer(to: &here) { UInt(bitPattern: $0) })
                return level == 0 ? 0 : handle[nested(level - 1)] + 1
            }
        }
        expect(Container()[nested(20)], equals: 20)
        let steps = zip(addresses.all, addresses.all.dropFirst()).map { $0 > $1 ? $0 - $1 : $1 - $0 }
        let each = steps.sorted()[steps.count / 2]
        #if DEBUG
        let limit = 8_192
        #else
        let limit = 3_072
        #endif
        expect(each > 500 && each <= limit, "\(each) bytes")
    }

    struct Name: Feature {
        static func load(in container: any FeatureContainer) -> String { "own" }
    }

    func unrelated() {
        let chain = (0..<50).map { _ in Container() }
        for (container, next) in zip(chain, chain.dropFirst()) {
            container.replace(Name.self) { _ in next[Name.self] + "!" }
        }
        expect(chain[0][Name.self], equals: "own" + String(repeating: "!", count: 49))
        let (left, right) = (Container(), Container())
        let base = FeatureKey { _ in "base" }
        left.replace(Name.self) { _ in right[Name.self] + " of left" }
        right.replace(Name.self) { _ in left[base] + " of right" }
        expect(left[Name.self], equals: "base of right of left")
    }

    @Test("Two threads in unrelated containers that delegate to each other do not hang (law 6)")
    func unrelatedThreads() async {
        for _ in 0..<200 {
            let (left, right) = (Container(), Container())
            let base = FeatureKey { _ in 1 }
            left.replace(Name.self) { "\($0[base])\(right[base])" }
            right.replace(Name.self) { "\($0[base])\(left[base])" }
            await onThreads(2) { expect($0 == 0 ? left[Name.self] == "11" : right[Name.self] == "11") }
        }
    }

    func twoFamilies() throws {
        let (left, right) = (Container(), Container())
        left.replace(Parser.self) { _ in try right[Grammar.self] }
        right.replace(Grammar.self) { _ in try left[Parser.self] }
        let error = #expect(throws: LoadError.self) { try left[Parser.self] }
        expect(error?.path, equals: ["Parser", "Grammar", "Parser"])
    }

    func diamond() {
        let base = FeatureKey { _ in 1 }
        let left = FeatureKey { $0[base] + 1 }
        let right = FeatureKey { $0[base] + $0[left] }
        let top = FeatureKey { $0[left] + $0[right] + $0[base] }
        expect(Container()[top], equals: 6)
    }

    func later() {
        struct Lazy: Sendable {
            let container: any FeatureContainer
            let key: Log<FeatureKey<Lazy>>
            var again: Lazy { container[key.all[0]] }
        }
        let keys = Log<FeatureKey<Lazy>>()
        let key = FeatureKey { Lazy(container: $0, key: keys) }
        keys.add(key)
        let container = Container()
        expect(container[key].again.again.container, is: container[key].container)
    }
}
