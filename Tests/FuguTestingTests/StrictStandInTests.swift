import Foundation
import Fugu
import FuguInspection
import StrictnessCases
import Support
import Testing

@testable import FuguTesting

private protocol Store: Sendable { var name: String { get } }
private struct Named: Store { let name: String }

extension ContainerKeys {
    fileprivate var store: FeatureKey<any Store> { .init(isExternal: true) { _ in Named(name: "real") } }
    fileprivate var cache: FeatureKey<any Store> {
        .init(isExternal: true, testValue: { _ in Named(name: "for tests") }) { _ in Named(name: "real") }
    }
    fileprivate var shelf: MainActorFeatureKey<any Store> { .init(isExternal: true) { _ in Named(name: "real") } }
    fileprivate var shown: FeatureKey<any Store> {
        .init(isExternal: true, preview: { _ in Named(name: "preview") }) { _ in Named(name: "real") }
    }
}

private struct Shop: Feature {
    let name: String
    static func load(in container: any FeatureContainer) -> Shop { Shop(name: container.store.name) }
}

/// Law 29: keys that are external without a stand-in.
struct StrictStandInTests {
    @Test("A read without a stand-in fails the test and stops the process, with the path and the fix (law 29)")
    func refused() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            await printingFailures { _ = Container.strict()[Shop.self] }
        }
        let lines = [
            #"Fugu: \.store reaches outside the process and wasn't set for this test."#,
            #"Path: Shop → \.store"#,
            "Fix: set it where the test makes its container: Container.strict { $0.store = … }",
            "(The process stops, because this read can't throw and has nothing to give. With a testValue, "
                + #"\.store gives that.)"#,
        ]
        let text = lines.joined(separator: "\n")
        expectMessage(of: result, "Failed: \(text)\n", "Fatal error: \(text)")
    }

    @Test("One of the main actor stops the process, too (law 29)")
    func ofMainActor() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            await printingFailures { _ = await Container.strict()[ContainerKeys().shelf] }
        }
        let text = #"Fugu: \.shelf reaches outside"#
        expectMessage(of: result, "Failed: \(text)", "Fatal error: \(text)")
    }

    @Test("Once it's set, replaced, or given a value for tests, the test gets that, and nothing fails (law 29)")
    func given() async throws {
        let found = await issues {
            try await runCase(.container { $0.store = Named(name: "double") }) {
                expect(Container.current[Shop.self].name, equals: "double")
                let child = Container.current.child()
                child.replace(\.store) { _ in Named(name: "replaced") }
                expect(child[Shop.self].name, equals: "replaced")
                expect(Container.current.cache.name, equals: "for tests")
            }
            try await runCase(.liveContainer) { expect(Container.current[Shop.self].name, equals: "real") }
        }
        expect(found.map(\.text), equals: [])
        expect(Container.program()[Shop.self].name, equals: "real")
        expect(Container.program().cache.name, equals: "real")
    }

    @Test("An observation fails the test, and sees no value (law 29)", .timeLimit(.minutes(5)))
    func observed() async {
        let found = await issues {
            let container = Container.strict()
            for await _ in container.values(of: \.store) { Issue.record("there is no value") }
            container.store = Named(name: "set")
            for await store in container.values(of: \.store) {
                expect(store.name, equals: "set")
                break
            }
        }
        expect(found.count, equals: 1)
        expect(found.first?.text.hasPrefix(#"Fugu: \.store reaches outside"#) == true, "\(found)")
    }

    @Test("A warm-up fails the test, and throws (law 29)")
    func warmUp() async {
        let thrown = Log<String>()
        let found = await issues {
            do { try await Container.strict().warmUp { $0.load(\.store) } } catch let error as WarmUpError {
                for failure in error.failures { thrown.add(failure.path.joined(separator: " → ")) }
            }
        }
        expect(found.count, equals: 1)
        expect(thrown.all, equals: [#"\.store"#])
    }

    @Test("A check lists it, without loading it (law 29)")
    func check() async {
        let container = Container.program()
        let check = await container.check { $0.load(\.store) }
        expect(check.unknown.map(\.name), equals: [#"\.store"#])
        expect(check.shared.map(\.name), equals: [])
        _ = container.store
        expect(container.graph.entries.first { $0.name == #"\.store"# }?.isExternal == true)
    }

    @Test("An Xcode preview gives its preview, and without one stops the process with a message")
    func preview() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            setenv("XCODE_RUNNING_FOR_PREVIEWS", "1", 1)
            precondition(Container.program().shown.name == "preview")
            _ = Container.program().store
        }
        expectMessage(
            of: result, #"Fugu: \.store reaches outside the process and has no preview"#, "Fix: give the key a preview")
    }
}
