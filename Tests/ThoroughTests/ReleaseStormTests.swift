import Fugu
import Support
import Testing

@Suite("Laws 3 and 7: releasing much, and meanwhile", .timeLimit(.minutes(5))) struct ReleaseStormTests {}

extension ReleaseStormTests {
    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Name: Property { static var defaultValue: String { "default" } }
    struct Slot: Property { static var defaultValue: Witness? { nil } }
    struct Keeps: Feature {
        let handle: Container
        static func load(in container: any FeatureContainer) -> Keeps { Keeps(handle: .current) }
    }
    /// Holds its handle, and is read through it.
    struct Service: Feature {
        static let ended = Counter()
        let container: any FeatureContainer
        let witness = Witness { ended.add() }
        static func load(in container: any FeatureContainer) -> Service { Service(container: container) }
    }

    @Test("A family of 100,000 generations goes with its last child, without running out of stack (law 7)")
    func deepFamily() {
        let ended = Log<Int>()
        weak var root: Container?
        do {
            var container = Container()
            root = container
            for generation in 1...100_000 {
                container = container.child()
                if generation.isMultiple(of: 50_000) { container[Slot.self] = Witness { ended.add(generation) } }
            }
            expect(root != nil)
            expect(ended.all.isEmpty)
        }
        expect(root == nil && ended.all == [100_000, 50_000])
    }

    @Test("Many short-lived containers with captured handles leave no memory behind (law 7)")
    func memory() async {
        // In a separate process, since other tests allocate and free memory meanwhile.
        await #expect(processExitsWith: .success) {
            func use(_ count: Int) async {
                await onThreads(2) { _ in
                    for number in 0..<count / 2 {
                        let container = Container()
                        container[Name.self] = "this is the name of container \(number)"
                        _ = container[Service.self].container[Name.self]
                    }
                }
            }
            let count = rounds(100_000, few: 15_000)
            await use(count / 5)
            let before = ThisProcess.residentBytes
            await use(count)
            let after = ThisProcess.residentBytes
            precondition(Service.ended.value == count / 5 * 6)
            guard let before, let after else { return }
            // A leak would take 100 bytes for each.
            precondition(ThisProcess.isThreadSanitized || after - before < 40 * count, "\(after - before) bytes more")
        }
    }

    @Test("An instance that kept its handle observes and reads while the last reference to its container goes (3, 7)")
    func lastReference() async throws {
        try await finishing {
            let end = ContinuousClock.now + .milliseconds(rounds(400, few: 150))
            var round = 0
            while ContinuousClock.now < end {
                round += 1
                var container: Container? = Container()
                container!.observe(Number.self) { _ in }
                let child = round % 2 == 0 ? container!.child() : nil
                child?.observe(Number.self) { _ in }
                let handle = (child ?? container!)[Keeps.self].handle
                let reference = Log<Container>()
                reference.add(container!)
                container = nil
                let (started, gone) = (Counter(), Counter())
                let dropping = startThread { [round] in
                    started.add()
                    for _ in 0..<(round * 7) % 300 { _ = started.value }
                    reference.removeAll()
                    gone.add()
                }
                while started.value == 0 {}
                while gone.value == 0 {
                    handle.observe(Number.self) { _ in }
                    _ = handle.ifLoaded(Number.self)
                }
                dropping.wait()
            }
        }
    }

    @Test("Children go away while their parent's value is changed and delivered on other threads (laws 3 and 7)")
    func childrenGo() async throws {
        try await finishing {
            let root = Container()
            let heard = Counter()
            let end = ContinuousClock.now + .milliseconds(rounds(300, few: 100))
            onThreads(3) { number in
                while ContinuousClock.now < end {
                    guard number > 0 else {
                        root[Number.self] &+= 1
                        continue
                    }
                    let child = root.child()
                    child.observe(Number.self) { [weak child] _ in
                        heard.add()
                        _ = child?[Number.self]
                    }
                    _ = child[Number.self]
                }
            }
        }
    }
}
