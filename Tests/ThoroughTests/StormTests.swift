// The optimizer of Swift 6.3.1 crashes on this target where these tests are in it.
#if DEBUG || UNOPTIMIZED
import Foundation
import Fugu
import FuguConfiguration
import FuguScopes
import Support
import Synchronization
import Testing

// All laws at once, foremost 3, 4, 7, 18 and 20: whatever happens together, nothing hangs, each closer runs once, every
// instance that was opened is closed, and nothing stays alive.
@Suite("Everything at once", .timeLimit(.minutes(5))) struct StormTests {}

extension StormTests {
    /// How long it takes: a moment, unless the environment asks for more.
    private static let seconds = Double(ProcessInfo.processInfo.environment["FUGU_STRESS_SECONDS"] ?? "") ?? 0.3

    @Test("Eight tasks do everything to one family: it closes, and nothing of it is left (laws 3, 4, 7, 18 and 20)")
    func storm() async throws {
        let accounts = Accounts()
        try await finishing {
            let root = Container()
            root.handleReports { _ in }
            root[AccountsProperty.self] = accounts
            let flags = MutableSource(["storm.number": 1], name: "flags")
            try root.apply(flags)
            root.configureScopes("/a/**") { $0[User.self] = $0.numberKey }
            let pool = Locked([root, root.child(), root.child(), root.scope("/a/1"), root.scope("/b")])
            let end = ContinuousClock.now + .seconds(Self.seconds)
            await withTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        var count = 0
                        // A moment is over before anything was done where other tests have the processor.
                        while count < 200 || ContinuousClock.now < end {
                            count += 1
                            let container = pool.withLock { $0.randomElement()! }
                            await step(container, root, flags, pool)
                        }
                    }
                }
            }
            for container in pool.withLock({ $0.reversed() }) { try? await container.close() }
            pool.withLock { $0 = [] }
            flags["storm.number"] = 2
        }
        // Scopes that were closed in tasks of their own may be the last to go.
        for _ in 0..<1_000 where accounts.alive.value > 0 || accounts.opened.value != accounts.closed.value {
            try await Task.sleep(for: .milliseconds(1))
        }
        expect(accounts.opened.value > 0)
        expect(accounts.opened.value, equals: accounts.closed.value)
        expect(accounts.closedTwice.value, equals: 0)
        expect(accounts.alive.value, equals: 0)
    }
}

private struct Accounts: Sendable {
    let opened = Counter()
    let closed = Counter()
    let closedTwice = Counter()
    let alive = Counter()
}
private struct AccountsProperty: Property { static var defaultValue: Accounts { Accounts() } }
extension ContainerKeys {
    fileprivate var numberKey: PropertyKey<Int> { .init("storm.number", defaultValue: 0) }
}
private struct User: Property { static var defaultValue: Int { 0 } }

private final class Live: Sendable {
    let number: Int
    private let accounts: Accounts

    init(_ number: Int, _ accounts: Accounts) {
        self.number = number
        self.accounts = accounts
        accounts.alive.add()
    }

    deinit { accounts.alive.add(-1) }
}

private func open(_ container: any FeatureContainer, _ number: Int) -> Live {
    let (accounts, times) = (container[AccountsProperty.self], Counter())
    accounts.opened.add()
    container.onClose {
        if times.add() > 1 { accounts.closedTwice.add() }
        accounts.closed.add()
    }
    return Live(number, accounts)
}

private struct Failure: Error {}
private struct Connection: AsyncFeature {
    static var home: Home { .shared }
    static func load(in container: any FeatureContainer) async throws -> Live {
        if Bool.random() { await Task.yield() }
        let number = container.numberKey
        if number % 7 == 3 { throw Failure() }
        return open(container, number)
    }
}
private struct Session: AsyncFeature {
    static var reloadsWhenInputsChange: Bool { true }
    static func load(in container: any FeatureContainer) async throws -> Live {
        let connection = try await container[Connection.self]
        if Bool.random() { await Task.yield() }
        if Int.random(in: 0..<10) == 0 { try await Task.sleep(for: .microseconds(50)) }
        return open(container, connection.number + container[User.self])
    }
}
private struct Cache: AsyncFeature {
    static var home: Home { .local }
    static func load(in container: any FeatureContainer) async throws -> Live {
        let session = try await container[Session.self]
        return open(container, session.number + container[Plain.self].number)
    }
}
private struct Plain: Feature {
    static var reloadsWhenInputsChange: Bool { true }
    static func load(in container: any FeatureContainer) -> Live {
        Live(container.numberKey, container[AccountsProperty.self])
    }
}
private struct Throwing: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Live {
        let plain = container[Plain.self]
        if plain.number % 5 == 0 { throw Failure() }
        return open(container, plain.number)
    }
}

/// Does one thing of many, as chance has it.
private func step(
    _ container: Container, _ root: Container, _ flags: MutableSource, _ pool: Locked<[Container]>
) async {
    switch Int.random(in: 0..<24) {
    case 0...5: await read(container)
    case 6: container.numberKey = .random(in: 0..<20)
    case 7: container[User.self] = .random(in: 0..<20)
    case 8:
        container.reset(\.numberKey)
        container.reset(User.self)
    case 9: container.reset(Connection.self)
    case 10:
        container.reset(Session.self)
        container.reset(Cache.self)
    case 11:
        container.update {
            $0.numberKey = 4
            $0[User.self] = 5
            if Bool.random() { $0.reset(Plain.self) }
        }
    case 12: pool.withLock { if $0.count < 40 { $0.append(container.child { $0[User.self] = 1 }) } }
    case 13:
        let gone = pool.withLock { $0.count > 8 ? $0.remove(at: .random(in: 5..<$0.count)) : nil }
        try? await gone?.close()
    case 14:
        try? await container.withChild {
            $0[User.self] = 7
        } operation: { child in
            _ = try await child[Cache.self]
            _ = child[Plain.self]
        }
    case 15: await observe(container)
    case 16: flags["storm.number"] = .integer(.random(in: 0..<20))
    case 17: container.modify(User.self) { $0 &+= 1 }
    case 18: root.invalidateScopes()
    case 19:
        let copy = Container(copying: container)
        copy.handleReports { _ in }
        _ = try? await copy[Session.self]
        try? await copy.close()
    case 20:
        let scope = container.scope("/a/\(Int.random(in: 0..<4))")
        _ = (scope[Plain.self], try? await scope[Session.self])
        try? await scope.close()
    case 21:
        try? await container.warmUp {
            $0.load(Session.self)
            $0.load(Throwing.self)
            $0.load(Cache.self)
        }
    default:
        container.replace(Session.self) { open($0, $0.numberKey) }
        if Bool.random() { await Task.yield() }
        container.reset(Session.self)
    }
}

/// Reads one of the features, and sometimes gives up.
private func read(_ container: Container) async {
    let which = Int.random(in: 0..<5)
    let task = Task {
        switch which {
        case 0: _ = try await container[Connection.self]
        case 1: _ = try await container[Session.self]
        case 2: _ = try await container[Cache.self]
        case 3: _ = container[Plain.self]
        default: _ = try container[Throwing.self]
        }
    }
    if Int.random(in: 0..<3) == 0 {
        if Bool.random() { await Task.yield() }
        task.cancel()
    }
    _ = await task.result
}

/// Observes for a moment, in one way or another.
private func observe(_ container: Container) async {
    guard Bool.random() else {
        let first = container.observe(Session.self) { _ in }
        let second = container.observe(Plain.self) { [weak container] _ in _ = container?[User.self] }
        await Task.yield()
        first.cancel()
        second.cancel()
        return
    }
    let task = Task {
        var count = 0
        for await _ in container.values(of: Session.self) {
            count += 1
            if count > 3 { break }
        }
    }
    if Bool.random() { await Task.yield() } else { try? await Task.sleep(for: .microseconds(200)) }
    task.cancel()
    await task.value
}
#endif
