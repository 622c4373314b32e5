import Support
import Testing

@testable import Fugu

/// Law 5: cycles end at once.
struct CycleTests {}

extension CycleTests {
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

    struct Captured: Feature {
        static func load(in container: any FeatureContainer) -> Int { family[Between.self] }
    }
    struct Between: Feature {
        static func load(in container: any FeatureContainer) -> Int { family[Captured.self] }
    }

    struct Ambient: Feature {
        static func load(in container: any FeatureContainer) -> Int { Container.current[Ambient.self] }
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

    struct Overridden: Property { static var defaultValue: Int { 0 } }
    struct InChild: Feature {
        static func load(in container: any FeatureContainer) -> Int {
            let child = Container.current.child { $0[Overridden.self] = 1 }
            return container[Overridden.self] + child[InChild.self]
        }
    }

    struct Default: Property { static var defaultValue: Int { Container.current[Default.self] } }

    static let outside = FeatureKey(fileID: "App/Outside.swift", line: 7) { $0[Session.self] }

    /// What needs itself, by which way, and the path that the message has.
    enum Need: String, CaseIterable, Codable {
        case itself, others, fromOutside, capturedContainer, currentContainer
        case otherThreads, borrowedHandle, child, aDefault

        func read(in container: Container) -> Int {
            switch self {
            case .itself: container[Direct.self]
            case .others: container[Session.self]
            case .fromOutside: container[outside]
            case .capturedContainer: family[Captured.self]
            case .currentContainer: container[Ambient.self]
            case .otherThreads: container[Threaded.self]
            case .borrowedHandle: container[Lender.self]
            case .child: container[InChild.self]
            case .aDefault: container[Default.self]
            }
        }

        var path: String {
            switch self {
            case .itself: "Direct → Direct"
            case .others: "Session → Account → Audit → Session"
            case .fromOutside: "FeatureKey<Int> (App/Outside.swift:7) → Session → Account → Audit → Session"
            case .capturedContainer: "Captured → Between → Captured"
            case .currentContainer: "Ambient → Ambient"
            case .otherThreads: "Threaded → Helper → Threaded"
            case .borrowedHandle: "Lender → Borrower → Borrower"
            case .child: "InChild → InChild"
            case .aDefault: "Default → Default"
            }
        }
    }

    @Test(
        "A plain load that needs itself, by whatever way, stops with the path and a fix (law 5)",
        arguments: Need.allCases)
    func stops(_ need: Need) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [need] in
            ThisProcess.mustStopSoon()
            _ = need.read(in: Container())
        }
        expectMessage(of: result, " needs itself to load.", "Path: \(need.path)", "Fix: let ")
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

    @Test("Two threads that each load what the other waits for stop with the path (law 5)")
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

    @Test(
        "Fifty nested loads are allowed, and more where each is loaded before; deeper nesting stops with a message (law 5)"
    )
    func fifty() async {
        // Fifty nested loads are allowed.
        do {
            expect(Container()[Self.steps[49]], equals: 50)
        }
        // More are allowed where each is loaded before the next one needs it.
        do {
            let container = Container()
            for step in [49, 99, 149] { expect(container[Self.steps[step]], equals: step + 1) }
        }
        // Deeper nesting stops with a message.
        do {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                ThisProcess.mustStopSoon()
                _ = Container()[CycleTests.steps[19_999]]
            }
            expectMessage(
                of: result, "needed by 50 loads within one another", "(App/Step.swift:19999)[19999] → ", " more) …")
        }
    }
}

extension FeatureContainer {
    /// Zero without a key.
    fileprivate subscript(key: FeatureKey<Int>?) -> Int { key.map { self[$0] } ?? 0 }
}

/// Law 5: cycles of loads that can throw, and what is no cycle.
struct CycleErrorTests {}

extension CycleErrorTests {
    struct Parser: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { try container[Grammar.self] }
    }
    struct Grammar: ThrowingFeature {
        static let line: UInt = #line + 1
        static func load(in container: any FeatureContainer) throws -> Int { try container[Parser.self] }
    }

    @Test("A throwing feature throws the path with the line that closes it, and lists every kind on the way (law 5)")
    func throwing() async throws {
        // A throwing feature throws the path with the line that closes it; the container stays usable.
        do {
            let container = Container()
            let error = #expect(throws: LoadError.self) { try container[Parser.self] }
            expect(error?.code, equals: .cycle)
            expect(error?.path, equals: ["Parser", "Grammar", "Parser"])
            let place = "load(in:) at FuguTests/CycleTests.swift:\(Grammar.line)"
            expect(
                error?.description.contains("Parser → Grammar → Parser, in \(place)\nFix: let one of them read"),
                equals: true)
            container.set(Grammar.self, to: 5)
            try expect(container[Parser.self], equals: 5)
        }
        // A cycle through kinds lists them all.
        do {
            let container = Container()
            let key = FeatureKey(fileID: "App/Key.swift", line: 3) { (try? $0[Parser.self]) ?? -1 }
            container.replace(Client.self) { try await $0[Token.self] }
            container.replace(Token.self) { try $0[Parser.self] + $0[key] }
            container.replace(Parser.self) { try $0[Grammar.self] }
            let error = await #expect(throws: LoadError.self) { try await container[Client.self] }
            expect(error?.path, equals: ["Client", "Token", "Parser", "Grammar", "Parser"])
        }
    }

    struct Client: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Int { try await container[Token.self] }
    }
    struct Token: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Int { try await container[Client.self] }
    }

    @Test(
        "Two threads that each load what the other waits for, also in different children, get errors and do not hang (law 5)",
        arguments: [false, true])
    func twoThreads(inChildren: Bool) {
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
                let reader = inChildren ? container.child() : container
                _ = try thread == 0 ? reader[Parser.self] : reader[Grammar.self]
            } catch let error as LoadError {
                errors.add(error)
            } catch {}
        }
        expect(errors.count, equals: 2)
        let ways = [["Parser", "Grammar", "Parser"], ["Grammar", "Parser", "Grammar"]]
        expect(errors.all.allSatisfy { ways.contains($0.path) }, "\(errors.all.map(\.path))")
    }

    struct Lexer: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { 1 }
    }

    @Test("Three threads in a ring get errors and do not hang (law 5)")
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

    @Test("Nesting without end is reported instead of overflowing the stack (law 5)")
    func endless() {
        let error = #expect(throws: LoadError.self) { try Container()[Level<Int>.self] }
        expect(error?.path.count, equals: 51)
        expect(error?.code, equals: .nestedTooDeep)
        expect(error?.path.first, equals: "Level<Int>")
        expect(error?.description.contains("a stack may have no room for more"), equals: true)
    }

    struct Bottom: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { 1 }
    }

    @Test("Layers of one feature need no deeper stack, however many there are (law 5)")
    func layers() {
        let container = Container()
        for _ in 0..<10_000 { container.decorate(Bottom.self) { value, _ in value + 1 } }
        startThread(stackSize: 512 << 10) {
            #expect(throws: Never.self) { expect(try container[Bottom.self], equals: 10_001) }
        }.wait()
    }

    @Test("A load within a load takes little of the stack, so that fifty fit a small one (laws 5 and 20)")
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
        let limit = 3_200
        #endif
        expect(each > 500 && each <= limit, "\(each) bytes")
    }

    struct Name: Feature {
        static func load(in container: any FeatureContainer) -> String { "own" }
    }

    @Test("Containers that delegate to each other have a cycle only if there is one, on one thread or two (law 5)")
    func unrelated() async throws {
        // The same key in unrelated containers that delegate to each other is no cycle.
        do {
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
        // Two threads in unrelated containers that delegate to each other do not hang.
        do {
            for _ in 0..<200 {
                let (left, right) = (Container(), Container())
                let base = FeatureKey { _ in 1 }
                left.replace(Name.self) { "\($0[base])\(right[base])" }
                right.replace(Name.self) { "\($0[base])\(left[base])" }
                await onThreads(2) { expect($0 == 0 ? left[Name.self] == "11" : right[Name.self] == "11") }
            }
        }
        // A real cycle through two families is found and reported.
        do {
            let (left, right) = (Container(), Container())
            left.replace(Parser.self) { _ in try right[Grammar.self] }
            right.replace(Grammar.self) { _ in try left[Parser.self] }
            let error = #expect(throws: LoadError.self) { try left[Parser.self] }
            expect(error?.path, equals: ["Parser", "Grammar", "Parser"])
        }
    }

    @Test("An instance's reads after its load aren't part of the load (law 5)")
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

/// Law 5: circles through handles that were lent.
struct CycleLentHandleTests {}

extension CycleLentHandleTests {
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
            let container = Container().unreported
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
        "Two threads that each wait for what the other loads learn of it, whoever lent them handles (law 5)",
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

    @Test("Reading through a lent handle is no cycle where there is none, and waits in the reader's name (law 5)")
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

    @Test("A lender that needs who borrowed its handle is given the path (law 5)")
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

    @Test("Two plain features stop with the path (law 5)")
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
