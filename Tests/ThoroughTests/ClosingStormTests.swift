import Fugu
import Support
import Testing

/// Trees that are closed from outside, from loads, and from closers, while containers are dropped and features load and reset.
///
/// Whatever meets whatever, law 18 says what the order of events can't be. A seed repeats what's done, not how tasks take turns;
/// `FUGU_SEED=… FUGU_SEEDS=1000` goes on from a seed.
@Suite("Closings that meet anything", .timeLimit(.minutes(5))) struct ClosingStormTests {}

extension ClosingStormTests {
    @Test("Whoever closes what and when, each closer runs once, in order, and before close() returns (laws 7 and 18)")
    func storm() async throws {
        for seed in seeds(100, for: "closing storm") {
            let round = Round(seed)
            let violations = (try? await finishing { await round.run() }) ?? ["a call doesn't return"]
            if violations.isEmpty { continue }
            Issue.record("seed \(seed): \(violations.joined(separator: "\n"))\n\(round.story)")
            return
        }
    }
}

/// A family, and what chance does to it.
private final class Round: Sendable {
    private let state = Locked(Course())
    private let seed: UInt64

    init(_ seed: UInt64) { self.seed = seed }

    var story: String { state.withLock { $0.events.joined(separator: "\n") } }
    @discardableResult private func note(_ event: String) -> Int { state.withLock { $0.note(event) } }
    private func container(_ box: Int) -> Container? { state.withLock { $0.boxes[box].container } }

    /// Returns what contradicts the law.
    func run() async -> [String] {
        var random = SeededGenerator(seed: seed)
        let (count, steps) = (3 + random.below(6), 5 + random.below(40))
        for box in 0..<count { grow(box, &random) }
        await withTaskGroup { group in
            for seed in (0..<6).map({ _ in random.next() }) {
                group.addTask { [self] in
                    var random = SeededGenerator(seed: seed)
                    for _ in 0..<steps { await step(random.below(count), &random) }
                }
            }
        }
        for box in 0..<count {
            guard let container = container(box) else { continue }
            do { _ = try await container[TenantD.self] } catch {
                state.withLock { $0.closed.append((box, $0.note("\(box) is closed: \(error)"))) }
            }
        }
        // The second call runs what closers have loaded elsewhere since the first one came there.
        for _ in 0..<2 { await close(0, from: nil, "the end") }
        defer { for box in 0..<count { drop(box) } }
        return state.withLock { $0.violations }
    }

    /// Makes a container, also from a handle that a feature keeps.
    private func grow(_ box: Int, _ random: inout SeededGenerator) {
        // Deep trees, rather than wide ones.
        let parent = random.happens(50) ? box - 1 : random.below(max(box, 1))
        let above = box == 0 ? nil : container(parent)!
        let handle = random.happens(50) ? above?[Plain.self].handle : above
        let made = handle?.child() ?? Container().unreported
        if box == 0 { made[RoundKey.self] = self }
        made[BoxKey.self] = box
        if box == 0 || random.happens(50) { made[TenantKey.self] = box }
        state.withLock { state in
            let path = [box] + (box == 0 ? [] : state.boxes[parent].path)
            state.boxes.append(Course.Box(path: path, container: made, kept: made))
            state.note("container \(path)")
        }
        if random.happens(50) { add("\(box)'s own closer", to: made, box, nil, random.next()) }
    }

    private func drop(_ box: Int) {
        let dropped = state.withLock { $0.boxes[box].kept.take() }
        withExtendedLifetime(dropped) {}
    }

    private func step(_ box: Int, _ random: inout SeededGenerator) async {
        guard let container = container(box) else { return }
        switch random.below(100) {
        case 0..<6: _ = container[Plain.self]
        case 6..<14: _ = try? container[TenantB.self]
        case 14..<24: _ = try? container[LocalC.self]
        case 24..<36: _ = try? await container[TenantD.self]
        case 36..<44: _ = try? await container[LocalE.self]
        case 44..<50: container.reset(Plain.self)
        case 50..<58: container.reset(TenantB.self)
        case 58..<66: container.reset(LocalC.self)
        case 66..<74: container.reset(LocalE.self)
        case 74..<78 where box > 0:
            note("\(box) is dropped")
            drop(box)
        case 78..<82 where box > 0 || random.happens(20): await close(box, from: nil, "outside")
        case 82..<88: _ = await operate(in: container, box, &random)
        default: await Task.yield()
        }
    }

    /// Reads in an operation, which may have others inside, and end with a reader of a load without end, while others reset and close.
    ///
    /// Returns the instances that have been read, without those that live in the operation's child.
    private func operate(in container: Container, _ box: Int, _ random: inout SeededGenerator) async -> [Int] {
        let (isDeep, hasReader, pauses) = (random.happens(50), random.happens(50), random.below(4))
        let (inner, shared) = (random.happens(40) ? random.next() : nil, Log<Int>())
        let (readers, kept) = (Log<Task<Bool, Never>>(), Log<Container>())
        do {
            try await container.withChild { child in
                let reader = isDeep ? child.child() : child
                // One that's released before it's closed runs no closers.
                kept.add(reader)
                let plain = reader[Plain.self].instance.number
                let (tenant, slow) = (try? reader[TenantB.self], try? await reader[TenantD.self])
                for member in [tenant, slow] { member.map { shared.add($0.instance.number) } }
                if let inner {
                    var random = SeededGenerator(seed: inner)
                    for number in await operate(in: reader, box, &random) { shared.add(number) }
                }
                let read = [plain] + shared.all
                note("an operation has read \(read)")
                if hasReader {
                    readers.add(
                        Task {
                            do { _ = try await reader[EndlessF.self] } catch {
                                return error is LoadError || error is CancellationError
                            }
                            return false
                        })
                }
                for _ in 0..<pauses { await Task.yield() }
                // The last reader of a load ends it, so that the closing has nothing to wait for.
                for reader in readers.all { reader.cancel() }
                state.withLock { state in
                    let end = state.note("the operation that has read \(read) ends")
                    state.operations.append((box, read, end))
                }
            }
        } catch { note("an operation's closing failed: \(error)") }
        for reader in readers.all where await !reader.value { state.withLock { $0.strayReaders += 1 } }
        return withExtendedLifetime(kept) { shared.all }
    }

    /// Makes an instance with one or two closers.
    func member(_ key: Any.Type, in box: Int, _ inputs: [Member], _ handle: Container) -> Member {
        let inputs = inputs.map(\.instance.number)
        let number = note("\(key) loads in \(box), from \(inputs)")
        let instance = Instance(number: number, inputs: inputs, isPlain: key == Plain.self)
        var random = SeededGenerator(seed: seed ^ UInt64(number) << 32)
        for place in 0...random.below(2) {
            add("\(key) \(number)'s closer \(place)", to: handle, box, instance, random.next())
        }
        return Member(instance, handle)
    }

    /// Adds a closer that does what its seed says.
    private func add(_ name: String, to handle: Container, _ box: Int, _ instance: Instance?, _ seed: UInt64) {
        let number = state.withLock { state in
            state.closers.append(Course.Closer(name: name, box: box, instance: instance))
            return state.closers.count - 1
        }
        let member = instance.map { Member($0, handle) }
        handle.onClose { [self] in
            let begin = note("\(name) begins")
            defer { state.withLock { $0.closers[number].runs.append(begin..<$0.note("\(name) ends")) } }
            var random = SeededGenerator(seed: seed)
            for _ in 0..<random.below(4) { await Task.yield() }
            switch random.below(10) {
            case 0..<4: await close(anything(around: box, &random), from: box, name)
            case 4: throw Failure(member: member)
            case 5: _ = try? await container(box)?[LocalE.self]
            case 6 where instance?.isPlain != true: _ = container(box)?[Plain.self]
            default: break
            }
            for _ in 0..<random.below(4) { await Task.yield() }
        }
    }

    /// The container itself, one above, or a later one: closers that close only these never wait for each other.
    func anything(around box: Int, _ random: inout SeededGenerator) -> Int {
        state.withLock { state in
            if random.happens(30), box + 1 < state.boxes.count {
                return box + 1 + random.below(state.boxes.count - box - 1)
            }
            return state.boxes[box].path.randomElement(using: &random)!
        }
    }

    /// Closes a container.
    func close(_ box: Int, from caller: Int?, _ name: String) async {
        guard let container = container(box) else { return }
        var code: CloseError.Code?
        let begin = note("\(name) calls close() of \(box)")
        let deadline: Duration? = begin.isMultiple(of: 3) ? .seconds(250) : nil
        do { try await container.close(deadline: deadline) } catch { code = (error as? CloseError)?.code }
        let isRefused = code == .waitsForItself
        state.withLock { state in
            let end = state.note("\(isRefused ? "refused" : "closed") \(box), as of \(begin)")
            state.calls.append(Course.Call(box: box, caller: caller, time: begin..<end, isRefused: isRefused))
        }
        await Task.yield()
    }
}

/// What happened, in order.
private struct Course {
    struct Box {
        /// The containers from this one to the root.
        let path: [Int]
        weak var container: Container?
        /// The same, until it's dropped.
        var kept: Container?
    }
    struct Closer {
        let name: String
        let box: Int
        /// The instance that has it, or `nil` if the container has.
        let instance: Instance?
        var runs: [Range<Int>] = []
    }
    struct Call {
        let box: Int
        /// The container whose closer or load made the call, or `nil` if it came from outside.
        let caller: Int?
        let time: Range<Int>
        let isRefused: Bool
    }
    var boxes: [Box] = []
    var closers: [Closer] = []
    var calls: [Call] = []
    /// The containers in which operations ran, the instances that they have read, and their ends.
    var operations: [(box: Int, read: [Int], end: Int)] = []
    /// The readers that got something else than the error of a closed container.
    var strayReaders = 0
    /// The containers that refused a load in the end.
    var closed: [(box: Int, time: Int)] = []
    var events: [String] = []

    /// Notes an event and returns its time.
    @discardableResult mutating func note(_ event: String) -> Int {
        events.append("\(events.count) \(event)")
        return events.count - 1
    }

    /// What contradicts the law.
    var violations: [String] {
        var violations: [String] = []
        func isWithin(_ box: Int, _ above: Int) -> Bool { boxes[box].path.contains(above) }
        // A plain feature loads in a closed container, too, and is never closed then, unless a closer has loaded it.
        func isLate(_ closer: Closer, _ time: Int) -> Bool {
            closer.instance.map { $0.isPlain && $0.number > time } ?? false
        }
        func mayBeLate(_ closer: Closer) -> Bool {
            calls.contains { isWithin(closer.box, $0.box) && isLate(closer, $0.time.lowerBound) }
        }
        for closer in closers
        where closer.runs.count > 1 || closer.runs.isEmpty && boxes[closer.box].kept != nil && !mayBeLate(closer) {
            violations.append("\(closer.name) ran \(closer.runs.count) times")
        }
        for (closer, run) in closers.compactMap({ closer in closer.runs.first.map { (closer, $0) } }) {
            let closings = calls.filter { !$0.isRefused && isWithin(closer.box, $0.box) }
            let closing = calls.filter { isWithin(closer.box, $0.box) }.map(\.time.lowerBound).min() ?? .max
            // Dependents come before what they depend on, and a container's own closers last.
            func isEarlier(_ other: Closer) -> Bool {
                if let instance = closer.instance { return other.instance?.inputs.contains(instance.number) ?? false }
                return isWithin(other.box, closer.box) && !isLate(other, closing)
            }
            for other in closers where other.runs.first?.upperBound ?? 0 > run.lowerBound && other.name != closer.name {
                if isEarlier(other) { violations.append("\(closer.name) began before \(other.name) ended") }
            }
            for call in closings where run.upperBound > call.time.upperBound && !isLate(closer, call.time.lowerBound) {
                violations.append("close() of \(call.time.lowerBound) returned before \(closer.name) ended")
            }
        }
        if strayReaders > 0 { violations.append("\(strayReaders) readers got something else than the error") }
        for (box, read, end) in operations {
            for closer in closers where closer.instance.map({ read.contains($0.number) }) == true {
                guard let run = closer.runs.first, run.lowerBound < end else { continue }
                // Another call may close the operation's child, or the instance, before.
                let isClosed = calls.contains { call in
                    (isWithin(closer.box, call.box) || isWithin(box, call.box))
                        && call.time.lowerBound < run.lowerBound
                }
                if !isClosed {
                    violations.append("\(closer.name) began before the operation of \(end) ended")
                }
            }
        }
        for call in calls {
            let isOwn = call.caller.map { isWithin($0, call.box) } ?? false
            if isOwn != call.isRefused {
                violations.append(
                    "close() of \(call.time.lowerBound) \(isOwn ? "by what it waits for succeeded" : "was refused")")
            }
        }
        let closings = calls.filter { !$0.isRefused }
        for (box, time) in closed
        where !closings.contains(where: { isWithin(box, $0.box) && $0.time.lowerBound < time }) {
            violations.append("\(box) is closed, but no call has closed it")
        }
        return violations
    }
}

private struct RoundKey: Property { static var defaultValue: Round? { nil } }
private struct BoxKey: Property { static var defaultValue: Int { 0 } }
private struct TenantKey: Property { static var defaultValue: Int { 0 } }

private struct Instance {
    /// The time when it's loaded.
    let number: Int
    let inputs: [Int]
    let isPlain: Bool
}
/// Uses the family when it's released.
private final class Member: Sendable {
    let instance: Instance
    let handle: Container

    init(_ instance: Instance, _ handle: Container) { (self.instance, self.handle) = (instance, handle) }
    deinit { _ = handle[TenantKey.self] }
}
private struct Failure: Error { let member: Member? }

extension FeatureContainer {
    fileprivate func member(of key: Any.Type, in box: Int, from inputs: Member...) -> Member {
        self[RoundKey.self]!.member(key, in: box, inputs, self as! Container)
    }
}
private struct Plain: Feature {
    static var home: Home { .local }
    static func load(in container: any FeatureContainer) -> Member {
        container.member(of: Self.self, in: container[BoxKey.self])
    }
}
private struct TenantB: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Member {
        container.member(of: Self.self, in: container[TenantKey.self])
    }
}
private struct LocalC: ThrowingFeature {
    static var home: Home { .local }
    static func load(in container: any FeatureContainer) throws -> Member {
        let (plain, tenant) = (container[Plain.self], try container[TenantB.self])
        return container.member(of: Self.self, in: container[BoxKey.self], from: plain, tenant)
    }
}
private struct TenantD: AsyncFeature {
    static var reloadsWhenInputsChange: Bool { true }
    static func load(in container: any FeatureContainer) async throws -> Member {
        let tenant = try container[TenantB.self]
        await Task.yield()
        return container.member(of: Self.self, in: container[TenantKey.self], from: tenant)
    }
}
private struct EndlessF: AsyncFeature {
    static var home: Home { .local }
    static func load(in container: any FeatureContainer) async throws -> Int {
        try await Gate().openedUnlessCancelled()
        return 0
    }
}
private struct LocalE: AsyncFeature {
    static var home: Home { .local }
    static func load(in container: any FeatureContainer) async throws -> Member {
        let (round, box) = (container[RoundKey.self]!, container[BoxKey.self])
        let (tenant, local) = (try await container[TenantD.self], try container[LocalC.self])
        let member = container.member(of: Self.self, in: box, from: tenant, local)
        var random = SeededGenerator(seed: UInt64(member.instance.number))
        switch random.below(6) {
        case 0: await round.close(round.anything(around: box, &random), from: box, "LocalE \(member.instance.number)")
        case 1: throw Failure(member: member)
        default: await Task.yield()
        }
        return member
    }
}
