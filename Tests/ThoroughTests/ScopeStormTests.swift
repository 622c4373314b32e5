import Fugu
import Support
import Testing

@testable import FuguScopes

@Suite("Many threads use scopes at once (law 14)", .timeLimit(.minutes(5))) struct ScopeStormTests {}

extension ScopeStormTests {
    struct Timeout: Property { static var defaultValue: Int { 30 } }
    struct Label: Property { static var defaultValue: String { "" } }

    @Test("Threads that ask for one path together get one scope (law 14)")
    func manyThreads() {
        for _ in 0..<50 {
            let container = Container()
            let scopes = Log<Container>()
            onThreads(8) { _ in scopes.add(container.scope("/a")) }
            expect(Set(scopes.all.map(ObjectIdentifier.init)).count, equals: 1)
        }
    }

    @Test("A scope that is made and dropped while others do the same leaves nothing behind (law 14)")
    func manyComingAndGoing() {
        let container = Container()
        container.configureScopes { $0[Timeout.self] = 5 }
        onThreads(4) { _ in
            for number in 0..<500 {
                let scope = container.scope("/\(number % 3)")
                expect(scope[Timeout.self], equals: 5)
                if number % 50 == 0 { container.invalidateScopes() }
            }
        }
        expect(container.scopesInMemory, equals: 0)
    }

    @Test("Threads that ask for a new scope together get the same one, with what its rules set (law 14)")
    func together() {
        for _ in 0..<20 {
            let container = Container()
            container.configureScopes { $0[Timeout.self] = 5 }
            let scopes = Log<Container>()
            onThreads(8) { number in
                let scope = container.scope("/a")
                scopes.add(scope)
                expect((number % 2 == 0 ? scope : scope.child())[Timeout.self], equals: 5)
            }
            expect(Set(scopes.all.map(ObjectIdentifier.init)).count, equals: 1)
        }
    }

    @Test("A scope that two threads invalidate and read is never seen without its rules (law 14)")
    func torn() {
        let container = Container()
        let turn = Counter()
        container.configureScopes { handle in
            let turn = turn.add()
            handle[Timeout.self] = turn
            handle[Label.self] = "\(turn)"
        }
        let scope = container.scope("/a")
        onThreads(3) { number in
            for _ in 0..<300 {
                if number == 0 {
                    container.invalidateScopes()
                } else {
                    let before = scope[Timeout.self]
                    let label = Int(scope[Label.self]) ?? -1
                    expect(before <= label && label <= turn.value, "one new value was seen and then an old one")
                }
            }
        }
    }
}

extension Container {
    /// How many scopes this container and its family still know of.
    fileprivate var scopesInMemory: Int {
        attachmentsBelow.compactMap { $0 as? ScopeTable }.reduce(0) { $0 + $1.scopes.withLock { $0.count } }
    }
}
