import Fugu
import Support
import Testing

@Suite("Law 6: circles through handles that were lent") struct Law06LentHandleTests {
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
