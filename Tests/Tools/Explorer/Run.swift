import Footprints
import Fugu

/// An instance of the features, counted from its creation to its release.
final class Instance: Sendable {
    let value: Int

    init(_ value: Int) {
        self.value = value
        unseen { Run.current.made += 1 }
    }
    deinit { unseen { Run.current.gone += 1 } }
}

/// One run of a world: the family, what happened, and what its actors were given.
///
/// Unchecked, since one thread runs at a time.
final class Run: @unchecked Sendable {
    /// The run that is under way.
    static var current: Run {
        get { Box.shared.run! }
        set { Box.shared.run = newValue }
    }
    private final class Box: @unchecked Sendable {
        static let shared = Box()
        var run: Run?
    }

    let world: World
    private var containers: [Container?] = []
    private var tokens: [ObservationToken] = []
    private var tasks: [Task<Void, Never>] = []
    var (made, gone) = (0, 0)
    var loads: [World.Key: Int] = [:]
    private(set) var asyncLoads = 0
    private(set) var opened = 0
    private(set) var closed: [Int] = []
    /// The values that each observer received.
    private(set) var heard: [[Int]] = []
    private var heardKeys: [World.Key] = []
    private var results: [String]
    private var ended = 0
    private(set) var faults: [String] = []
    private var hasWritten = false
    /// The family's reports of mistakes.
    private(set) var reports: [String] = []

    init(_ world: World) {
        self.world = world
        results = world.actors.map { _ in "" }
    }

    // MARK: The keys

    enum P: Property { static var defaultValue: Int { 1 } }

    static let kept = Keys(reloads: false)
    static let reloading = Keys(reloads: true)

    struct Keys: Sendable {
        let f: FeatureKey<Instance>
        let g: FeatureKey<Instance>

        init(reloads: Bool) {
            let f = FeatureKey<Instance>(reloadsWhenInputsChange: reloads, id: reloads) { handle in
                Run.current.load(.F, handle, 10)
            }
            self.f = f
            g = FeatureKey(reloadsWhenInputsChange: reloads, id: reloads) { handle in
                let run = Run.current
                unseen { run.loads[.G, default: 0] += 1 }
                run.pointBeforeRead()
                let inner = handle[f].value
                run.pointBeforeRead()
                let number = handle[P.self]
                run.point()
                return Instance(inner * 1_000 + number)
            }
        }
    }

    struct A: AsyncFeature {
        static func load(in handle: any FeatureContainer) async throws -> Instance {
            let run = Run.current
            unseen { run.asyncLoads += 1 }
            run.open(handle)
            run.pointBeforeRead()
            let number = handle[P.self]
            // Others come first; `Task.yield` goes past the hook.
            await Task.detached {}.value
            try Task.checkCancellation()
            return Instance(number * 7)
        }
    }

    private var keys: Keys { world.reloads ? Self.reloading : Self.kept }

    private func load(_ key: World.Key, _ handle: any FeatureContainer, _ factor: Int) -> Instance {
        unseen { loads[key, default: 0] += 1 }
        open(handle)
        pointBeforeRead()
        let number = handle[P.self]
        point()
        return Instance(number * factor)
    }

    private func open(_ handle: any FeatureContainer) {
        guard world.hasClosers else { return }
        let number = unseen {
            opened += 1
            return opened
        }
        handle.onClose { unseen { Run.current.closed.append(number) } }
    }

    func point() { Scheduler.shared.point() }

    func pointBeforeRead() { Scheduler.shared.point(isShared: true) }

    // MARK: From the beginning to the end

    /// Runs the world; returns what it came to.
    func outcome(_ schedule: Schedule, isFine: Bool) -> String {
        Run.current = self
        footprints_resume(0, false)
        build()
        footprints_pause()
        Jobs.shared.schedules = true
        let fibers = world.actors.enumerated().map { number, ops in
            Scheduler.Fiber("actor \(number)", beginsAlone: world.beginsAlone(ops)) { self.act(number, ops) }
        }
        Scheduler.shared.run(fibers, following: schedule, isFine: isFine)
        Jobs.shared.schedules = false
        if ended < world.actors.count { faults.append("\(world.actors.count - ended) of the actors have not ended") }
        let outcome = results.joined(separator: " | ") + " => " + look()
        takeDown()
        return outcome
    }

    private func build() {
        let root = Container()
        root.handleReports { report in unseen { Run.current.reports.append(report) } }
        containers = [root]
        for parent in world.parents { containers.append(containers[parent]!.child()) }
        if world.observers != .none {
            for key in World.Key.allCases { observe(key, world.last, writes: world.observers == .writing) }
        }
        if world.isWarm, let last = containers[world.last] {
            _ = last[keys.g]
            Jobs.shared.drain(Task { _ = try? await last[A.self] })
        }
    }

    private func observe(_ key: World.Key, _ place: Int, writes: Bool) {
        guard let container = containers[place] else { return }
        let number = unseen {
            heard.append([])
            heardKeys.append(key)
            return heard.count - 1
        }
        let hear: @Sendable (Int) -> Void = { [weak container] value in
            let run = Run.current
            unseen { run.heard[number].append(value) }
            run.point()
            defer { run.point() }
            guard writes, let container else { return }
            if key == .P, !run.hasWritten {
                run.hasWritten = true
                container[P.self] = value + 100
            }
            if key == .F { container.reset { _ in run.keys.g } }
        }
        switch key {
        case .P: tokens.append(container.observe(P.self) { hear($0) })
        case .F: tokens.append(container.observe({ _ in keys.f }) { hear($0.value) })
        case .G: tokens.append(container.observe({ _ in keys.g }) { hear($0.value) })
        }
    }

    private func act(_ number: Int, _ ops: [World.Op]) {
        if ops.contains(where: \.isAsync) {
            tasks.append(
                Task.detached { [self] in
                    for op in ops {
                        let result = await perform(op, number)
                        unseen { results[number] += result }
                    }
                    unseen { ended += 1 }
                })
        } else {
            for op in ops {
                point()
                let result = performNow(op, number)
                unseen { results[number] += result }
            }
            unseen { ended += 1 }
        }
    }

    private func perform(_ op: World.Op, _ number: Int) async -> String {
        switch op {
        case .close(let place):
            guard let container = containers[place] else { return "" }
            do { try await container.close() } catch { return "\(error)" }
            return "closed"
        case .readAsync(let place):
            guard let container = containers[place] else { return "" }
            do { return "\(try await container[A.self].value)" } catch { return "\(type(of: error))" }
        default: return performNow(op, number)
        }
    }

    private func performNow(_ op: World.Op, _ number: Int) -> String {
        let value = number + 2
        switch op {
        case .read(let key, let place): return containers[place].map { "\(read(key, $0))" } ?? ""
        case .set(.P, let place): containers[place]?[P.self] = value
        case .set(let key, let place): containers[place]?[key == .F ? keys.f : keys.g] = Instance(value)
        case .reset(.P, let place): containers[place]?.reset(P.self)
        case .reset(let key, let place):
            let chosen = key == .F ? keys.f : keys.g
            containers[place]?.reset { _ in chosen }
        case .replace(let place):
            containers[place]?.replace({ _ in keys.f }) { handle in Run.current.load(.F, handle, 10 + value) }
        case .modify(let place):
            containers[place]?.modify(P.self) { number in
                self.point()
                number += 50
                self.point()
            }
        case .update(let place):
            let f = keys.f
            containers[place]?.update { handle in
                handle[P.self] = value
                self.point()
                handle[f] = Instance(value * 10)
                self.point()
            }
        case .observe(let key, let place): observe(key, place, writes: false)
        case .cancelToken: tokens.last?.cancel()
        case .cancelReaders: for task in tasks { Scheduler.shared.whole { task.cancel() } }
        case .drop:
            // Counts that aren't recorded decide which thread releases a container last.
            footprints_use_everything()
            containers[world.last] = nil
        case .close, .readAsync: break
        }
        return ""
    }

    private func read(_ key: World.Key, _ container: Container) -> Int {
        switch key {
        case .P: container[P.self]
        case .F: container[keys.f].value
        case .G: container[keys.g].value
        }
    }

    // MARK: What must hold in the end

    /// The values that everyone sees now.
    private func look() -> String {
        var seen: [String] = []
        for container in containers {
            guard let container else { continue }
            let values = World.Key.allCases.map { read($0, container) }
            let before = loads
            if container.ifLoaded({ _ in keys.g }) != nil {
                let again = World.Key.allCases.map { read($0, container) }
                if again != values || loads != before { faults.append("reading \(values) again gives \(again)") }
            }
            checkMade(values)
            seen.append(values.map { "\($0)" }.joined(separator: ","))
        }
        checkHeard()
        checkOnce()
        return seen.joined(separator: " ")
    }

    /// A feature that reloads was made from the values that are seen beside it.
    private func checkMade(_ values: [Int]) {
        guard world.reloads, !world.actors.joined().contains(where: \.givesFeatures) else { return }
        let (number, inner, outer) = (values[0], values[1], values[2])
        if inner != 10 * number || outer != inner * 1_000 + number {
            faults.append("P, F and G are \(values), but G and F reload with P")
        }
    }

    /// Where nothing changes, nothing is loaded twice.
    private func checkOnce() {
        guard world.observers != .writing, world.actors.joined().allSatisfy(\.changesNothing) else { return }
        for (key, count) in loads where count > 1 { faults.append("\(key) was loaded \(count) times") }
    }

    /// The last value that each observer received is the one that stays, and two observers of one key receive the same.
    private func checkHeard() {
        guard let container = containers[world.last], world.observers != .none else { return }
        let isClosing = world.actors.joined().contains { if case .close = $0 { true } else { false } }
        let isCancelled = world.actors.joined().contains(.cancelToken)
        for number in 0..<3 where !isClosing && !(isCancelled && number == heard.count - 1) {
            guard let last = heard[number].last else { continue }
            let now = read(heardKeys[number], container)
            if last != now {
                faults.append("the observer of \(heardKeys[number]) heard \(heard[number]), it is \(now)")
            }
        }
    }

    private func takeDown() {
        let root = containers[0]!
        if world.hasClosers {
            Jobs.shared.drain(
                Task {
                    do { try await root.close() } catch { self.faults.append("closing: \(error)") }
                })
        }
        containers = []
        Jobs.shared.drain(nil)
        tokens = []
        tasks = []
        checkEnd()
    }

    private func checkEnd() {
        // Nobody closed the container that was dropped.
        if !world.hasClosers || world.actors.joined().contains(.drop) { return }
        let lost = reports.count { $0.contains("closures that its load registered don't run") }
        if Set(closed).count != closed.count || closed.count + lost != opened {
            faults.append("\(opened) closers were registered, \(lost) reported as lost; those that ran: \(closed)")
        }
    }

    /// Once nothing holds the containers any more.
    func checkReleased() {
        if made != gone { faults.append("\(made) instances were made, \(gone) released") }
    }
}
