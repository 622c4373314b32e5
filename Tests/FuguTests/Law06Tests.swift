import Support
import Testing

@testable import Fugu

@Suite("Law 6: cycles end at once") struct Law06CycleTests {}

extension Law06CycleTests {
    static let family = Container()

    struct Direct: Feature {
        static func load(in container: any FeatureContainer) -> Int { container[Direct.self] + 1 }
    }
    struct Session: Feature {
        static func load(in container: any FeatureContainer) -> Int { container[Account.self] + 1 }
    }
    struct Account: Feature {
        static func load(in container: any FeatureContainer) -> Int { container[Audit.self] + 1 }
    }
    struct Audit: Feature {
        static func load(in container: any FeatureContainer) -> Int { container[Session.self] + 1 }
    }

    @Test("A feature that reads itself stops with a message (law 6)")
    func direct() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = Container()[Direct.self]
        }
        expectMessage(of: result, "Direct needs itself to load.", "Path: Direct → Direct", "Fix: let one of them read")
    }

    @Test("A cycle through features lists every key in order (law 6)")
    func throughFeatures() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = Container()[Session.self]
        }
        expectMessage(of: result, "Session → Account → Audit → Session", "Fix: let one of them read")
    }

    @Test("The path to a cycle is given from its beginning (law 6)")
    func wayIn() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            let outside = FeatureKey(fileID: "App/Outside.swift", line: 7) { $0[Session.self] }
            _ = Container()[outside]
        }
        expectMessage(
            of: result, "FeatureKey<Int> (App/Outside.swift:7) → Session → Account → Audit → Session")
    }

    struct Captured: Feature {
        static func load(in container: any FeatureContainer) -> Int { family[Between.self] }
    }
    struct Between: Feature {
        static func load(in container: any FeatureContainer) -> Int { family[Captured.self] }
    }

    @Test("A cycle through a container captured beside the handle is found (law 6)")
    func captured() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = Law06CycleTests.family[Captured.self]
        }
        expectMessage(of: result, "Captured → Between → Captured")
    }

    struct Ambient: Feature {
        static func load(in container: any FeatureContainer) -> Int { Container.current[Ambient.self] }
    }

    @Test("A cycle through Container.current is found (law 6)")
    func current() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = Container()[Ambient.self]
        }
        expectMessage(of: result, "Ambient → Ambient")
    }

    struct Threaded: Feature {
        static func load(in container: any FeatureContainer) -> Int {
            onAnotherThread { container[Helper.self] }
        }
    }
    struct Helper: Feature {
        static func load(in container: any FeatureContainer) -> Int {
            onAnotherThread { container[Threaded.self] }
        }
    }

    @Test("A cycle through the handle on other threads is found (law 6)")
    func otherThreads() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = Container()[Threaded.self]
        }
        expectMessage(of: result, "Threaded → Helper → Threaded")
    }

    struct Lender: Feature {
        static let lent = Log<any FeatureContainer>()
        static func load(in container: any FeatureContainer) -> Int {
            lent.add(container)
            return container[Borrower.self]
        }
    }
    struct Borrower: Feature {
        static func load(in container: any FeatureContainer) -> Int { Lender.lent.all[0][Borrower.self] }
    }

    @Test("A cycle through the handle of a load further out is found (law 6)")
    func borrowedHandle() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = Container()[Lender.self]
        }
        expectMessage(of: result, "Lender → Borrower → Borrower")
    }

    struct Overridden: Property { static var defaultValue: Int { 0 } }
    struct InChild: Feature {
        static func load(in container: any FeatureContainer) -> Int {
            let child = Container.current.child { $0[Overridden.self] = 1 }
            return container[Overridden.self] + child[InChild.self]
        }
    }

    @Test("A cycle through a child is found, whatever the child overrides (law 6)")
    func child() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = Container()[InChild.self]
        }
        expectMessage(of: result, "InChild → InChild")
    }

    struct Default: Property { static var defaultValue: Int { Container.current[Default.self] } }

    @Test("A default that needs itself is a cycle too (law 6)")
    func property() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = Container()[Default.self]
        }
        expectMessage(of: result, "Default → Default")
    }

    struct Left: Feature {
        static let began = Gate()
        static func load(in container: any FeatureContainer) -> Int {
            began.open()
            Right.began.wait()
            return container[Right.self]
        }
    }
    struct Right: Feature {
        static let began = Gate()
        static func load(in container: any FeatureContainer) -> Int {
            began.open()
            Left.began.wait()
            return container[Left.self]
        }
    }

    @Test("Two threads that each load what the other waits for stop with the path (law 6)")
    func twoThreads() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            let container = Container()
            onThreads(2) { _ = $0 == 0 ? container[Left.self] : container[Right.self] }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        expect(text.contains("Left → Right → Left") || text.contains("Right → Left → Right"), "\(text)")
    }

    static let steps: [FeatureKey<Int>] = (0..<20_000).reduce(into: []) { keys, number in
        let previous = keys.last
        keys.append(FeatureKey(id: number, fileID: "App/Step.swift", line: UInt(number)) { $0[previous] + 1 })
    }

    @Test("A hundred nested loads are allowed (law 6)")
    func hundred() {
        expect(Container()[Self.steps[99]], equals: 100)
    }

    @Test("More are allowed where the stack has room for them (law 6)")
    func threeHundred() {
        let result = Log<Int>()
        startThread(stackSize: 64 << 20) { result.add(Container()[Self.steps[299]]) }.wait()
        expect(result.all, equals: [300])
    }

    @Test("Deeper nesting stops with a message (law 6)")
    func tooDeep() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = Container()[Law06CycleTests.steps[19_999]]
        }
        expectMessage(
            of: result, "the stack has no room for more", "(App/Step.swift:19999)[19999] → ", " more) …")
    }
}

extension FeatureContainer {
    /// Zero without a key.
    fileprivate subscript(key: FeatureKey<Int>?) -> Int { key.map { self[$0] } ?? 0 }
}

@Suite("Law 6: cycles of loads that can throw, and what is no cycle") struct Law06LoadErrorTests {}

extension Law06LoadErrorTests {
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
        let place = "load(in:) at FuguTests/Law06Tests.swift:\(Grammar.line)"
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

@Suite("Law 6: circles through handles that were lent") struct Law06LentHandleTests {}

extension Law06LentHandleTests {
    struct Lender: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { 0 }
    }
    struct Left: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { 1 }
    }
    struct Right: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { 2 }
    }
    struct Plain: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { 3 }
    }

    /// A container with a load under way that lends its handle, and how to end that load.
    private struct Lending {
        let container: Container
        let handle: any FeatureContainer
        private let thread: Gate
        private let goesOn: Gate

        init() {
            let (lent, goesOn) = (Gate(), Gate())
            let handles = Log<any FeatureContainer>()
            let container = Container()
            container.replace(Lender.self) { handle in
                handles.add(handle)
                lent.open()
                goesOn.wait()
                return 0
            }
            thread = startThread { _ = try? container[Lender.self] }
            lent.wait()
            self.container = container
            self.goesOn = goesOn
            handle = handles.removeAll()[0]
        }

        func end() {
            goesOn.open()
            thread.wait()
        }
    }

    /// The one of two loads on two threads that asks through the lent handle.
    enum Borrower: CaseIterable {
        case left, right, both, none
    }

    @Test(
        "Two threads that each wait for what the other loads learn of it, whoever lent them handles (law 6)",
        arguments: Borrower.allCases, [false, true])
    func twoThreads(_ borrower: Borrower, _ throughChild: Bool) {
        let lending = Lending()
        let container = throughChild ? lending.container.child() : lending.container
        let (leftBegan, rightBegan) = (Gate(), Gate())
        let handle = lending.handle
        lending.container.replace(Left.self) { own in
            leftBegan.open()
            rightBegan.wait()
            return try (borrower == .left || borrower == .both ? handle : own)[Right.self]
        }
        lending.container.replace(Right.self) { own in
            rightBegan.open()
            leftBegan.wait()
            return try (borrower == .right || borrower == .both ? handle : own)[Left.self]
        }
        let errors = Log<LoadError>()
        let read: @Sendable (Bool) -> Void = { isLeft in
            do {
                _ = try isLeft ? container[Left.self] : container[Right.self]
            } catch let error as LoadError {
                errors.add(error)
            } catch {}
        }
        for thread in [true, false].map({ isLeft in startThread { read(isLeft) } }) { thread.wait() }
        expect(errors.count, equals: 2)
        let ways = [["Left", "Right", "Left"], ["Right", "Left", "Right"]]
        expect(
            errors.all.allSatisfy { error in ways.contains { error.path.suffix(3) == $0 } }, "\(errors.all.map(\.path))"
        )
        lending.end()
    }

    @Test("Reading through a lent handle is no cycle where there is none, and waits in the reader's name (law 6)")
    func noCycle() throws {
        let lending = Lending()
        let (handle, container) = (lending.handle, lending.container)
        container.replace(Left.self) { _ in try handle[Right.self] + handle[Plain.self] }
        container.replace(Right.self) { own in try own[Plain.self] }
        try expect(container[Left.self], equals: 6)
        try expect(container[Right.self], equals: 3)
        // Somebody waits for the lender meanwhile; those are no circle.
        container.reset(Right.self)
        container.replace(Right.self) { own in try own[Lender.self] }
        let waiting = startThread { _ = try? container[Right.self] }
        container.reset(Plain.self)
        try expect(handle[Plain.self], equals: 3)
        lending.end()
        waiting.wait()
    }

    @Test("A lender that needs who borrowed its handle is given the path (law 6)")
    func throughLender() throws {
        let container = Container()
        let handles = Log<any FeatureContainer>()
        let (lent, waiting) = (Gate(), Gate())
        container.replace(Lender.self) { handle in
            handles.add(handle)
            lent.open()
            waiting.wait()
            return try handle[Left.self]
        }
        container.replace(Left.self) { _ in
            waiting.open()
            return try handles.all[0][Lender.self]
        }
        let errors = Log<any Error>()
        let lender = startThread { do { _ = try container[Lender.self] } catch { errors.add(error) } }
        lent.wait()
        let borrower = startThread { do { _ = try container[Left.self] } catch { errors.add(error) } }
        borrower.wait()
        lender.wait()
        expect(errors.count == 2 && errors.all.allSatisfy { $0 is LoadError }, "\(errors.all)")
    }

    @Test("Two plain features stop with the path (law 6)")
    func plainFeatures() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            let lending = Lending()
            let (leftBegan, rightBegan) = (Gate(), Gate())
            let handle = lending.handle
            let keys = Log<FeatureKey<Int>>()
            keys.add(
                FeatureKey(id: UniqueID(), fileID: "App/Left.swift", line: 1) { _ in
                    leftBegan.open()
                    rightBegan.wait()
                    return handle[keys.all[1]]
                })
            keys.add(
                FeatureKey(id: UniqueID(), fileID: "App/Right.swift", line: 1) { own in
                    rightBegan.open()
                    leftBegan.wait()
                    return own[keys.all[0]]
                })
            onThreads(2) { _ = lending.container[keys.all[$0]] }
        }
        expectMessage(
            of: result, "needs itself to load", "App/Left.swift:1", " → ", "App/Right.swift:1",
            "Fix: let one of them read")
    }
}
