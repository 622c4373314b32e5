@testable import Fugu
import Support
import Testing

@Suite("Law 6: cycles end at once") struct Law06CycleTests {
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
