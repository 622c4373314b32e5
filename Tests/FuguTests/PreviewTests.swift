import Foundation
import Fugu
import Support
import Testing

private struct Weather: Feature, External {
    let text: String
    static func load(in container: any FeatureContainer) -> Weather { Weather(text: "live") }
    static var placeholder: Weather { Weather(text: "placeholder") }
    static var preview: Weather { Weather(text: "preview") }
}
private struct Mail: Feature, External {
    let text: String
    static func load(in container: any FeatureContainer) -> Mail { Mail(text: "live") }
    static var placeholder: Mail { Mail(text: "placeholder") }
}
private struct Archive: ThrowingFeature, External {
    let text: String
    static func load(in container: any FeatureContainer) throws -> Archive { Archive(text: "live") }
    static var preview: Archive { Archive(text: "preview") }
}
private struct Ledger: ThrowingFeature, External {
    static func load(in container: any FeatureContainer) throws -> String { "live" }
}
private struct Server: AsyncFeature, External {
    let text: String
    static func load(in container: any FeatureContainer) async throws -> Server { Server(text: "live") }
    static var preview: Server { Server(text: "preview") }
}
private struct Queue: AsyncFeature, External {
    static func load(in container: any FeatureContainer) async throws -> String { "live" }
}
private struct Radio: Feature, External {
    var volume: @Sendable () -> Int
    var play: @Sendable (String) throws -> Void
    static func load(in container: any FeatureContainer) -> Radio { Radio(volume: { 11 }, play: { _ in }) }
    static var placeholder: Radio {
        Radio(volume: unimplemented("Radio.volume", placeholder: 3), play: unimplemented("Radio.play"))
    }
}
private struct Radar: Feature, External {
    let text: String
    static func load(in container: any FeatureContainer) -> Radar { Radar(text: "live") }
    static func testValue(in container: any FeatureContainer) -> Radar { Radar(text: container.plain + " for tests") }
}
private struct Depot: AsyncFeature, External {
    static func load(in container: any FeatureContainer) async throws -> String { "live" }
    static func testValue(in container: any FeatureContainer) async throws -> String { "for tests" }
    static var preview: String { "preview" }
}
private struct Window: MainActorFeature {
    static func load(in container: any FeatureContainer) -> String { "live" }
    static func testValue(in container: any FeatureContainer) -> String { "for tests" }
}
extension ContainerKeys {
    fileprivate var plotter: FeatureKey<String> {
        .init(preview: { "preview of \($0.plain)" }, testValue: { _ in "for tests" }) { _ in "live" }
    }
    fileprivate var scanner: FeatureKey<String> {
        .init(placeholder: { "none" }, testValue: { _ in "for tests" }) { _ in "live" }
    }
    fileprivate var easel: MainActorFeatureKey<String> { .init(preview: { "preview of \($0.plain)" }) { _ in "live" } }
    fileprivate var frame: MainActorFeatureKey<String> { .init(testValue: { _ in "for tests" }) { _ in "live" } }
}
extension ContainerKeys {
    fileprivate var printer: FeatureKey<String> { .init(placeholder: { "no printer" }) { _ in "live" } }
    fileprivate var plain: FeatureKey<String> { .init { _ in "live" } }
}

/// Features that reach outside the process, in previews.
struct PreviewTests {}

extension PreviewTests {
    @Test("In a preview, containers give previews; values that were set still win")
    func preview() async {
        await #expect(processExitsWith: .success) {
            setenv("XCODE_RUNNING_FOR_PREVIEWS", "1", 1)
            let container = Container.program()
            precondition(container[Weather.self].text == "preview")
            precondition(container.child()[Mail.self].text == "placeholder")
            precondition(container.printer == "no printer" && container.plain == "live")
            container[Weather.self] = Weather(text: "set")
            precondition(container[Weather.self].text == "set")
        }
    }

    @Test("Throwing and async features behave the same")
    func otherKinds() async {
        await #expect(processExitsWith: .success) {
            setenv("XCODE_RUNNING_FOR_PREVIEWS", "1", 1)
            let container = Container.program()
            let archive = try container[Archive.self]
            precondition(archive.text == "preview")
            let server = try await container[Server.self]
            precondition(server.text == "preview")
            try await container.warmUp { $0.load(Server.self) }
            container.set(Archive.self, to: Archive(text: "set"))
            let set = try container[Archive.self]
            precondition(set.text == "set")
            container.replace(Queue.self) { _ in "replaced" }
            let queue = try await container[Queue.self]
            precondition(queue == "replaced")
        }
    }

    @Test("A preview is what is declared for it, or else the value for tests, of types and of value keys")
    func testValues() async {
        await #expect(processExitsWith: .success) { @MainActor in
            setenv("XCODE_RUNNING_FOR_PREVIEWS", "1", 1)
            let container = Container.program()
            precondition(container[Radar.self].text == "live for tests")
            let depot = try await container[Depot.self]
            precondition(depot == "preview")
            precondition(container[Window.self] == "for tests")
            precondition(container.plotter == "preview of live" && container.scanner == "for tests")
            precondition(container.easel == "preview of live" && container.frame == "for tests")
        }
        let container = Container.program()
        expect(container.plotter == "live" && container[Radar.self].text == "live")
    }

    @Test("A decoration wraps the preview of its feature")
    func decorated() async {
        await #expect(processExitsWith: .success) {
            setenv("XCODE_RUNNING_FOR_PREVIEWS", "1", 1)
            let container = Container.program()
            container.decorate(Weather.self) { inner, _ in Weather(text: "around " + inner.text) }
            precondition(container[Weather.self].text == "around preview")
            container.decorate(Archive.self) { inner, _ in Archive(text: "around " + inner.text) }
            let archive = try container[Archive.self]
            precondition(archive.text == "around preview")
            container.decorate(Server.self) { inner, _ in Server(text: "around " + inner.text) }
            let server = try await container[Server.self]
            precondition(server.text == "around preview")
        }
    }

    @Test("One that declares no preview is not loaded there, and the error says what to declare")
    func noPreview() async {
        await #expect(processExitsWith: .success) {
            setenv("XCODE_RUNNING_FOR_PREVIEWS", "1", 1)
            let container = Container.program()
            func text(_ read: () async throws -> String) async -> String {
                do { return try await read() } catch { return "\(error)" }
            }
            let ledger = await text { try container[Ledger.self] }
            precondition(ledger.hasPrefix("Fugu: Ledger reaches outside the process and has no preview"), ledger)
            precondition(ledger.contains("static var preview"), ledger)
            let queue = await text { try await container[Queue.self] }
            precondition(queue.hasPrefix("Fugu: Queue reaches outside the process and has no preview"), queue)
            do { _ = try container[Ledger.self] } catch { precondition((error as? LoadError)?.code == .noPreview) }
        }
    }

    @Test("A part that isn't implemented is reported there, and gives its placeholder or throws")
    func parts() async {
        await #expect(processExitsWith: .success) {
            setenv("XCODE_RUNNING_FOR_PREVIEWS", "1", 1)
            let (container, reports) = (Container.program(), Log<String>())
            container.handleReports { reports.add($0) }
            Container.with(container) {
                let radio = container[Radio.self]
                precondition(radio.volume() == 3)
                do { try radio.play("a song") } catch { reports.add("thrown: \(type(of: error))") }
            }
            precondition(reports.all.count == 3, "\(reports.all)")
            precondition(reports.all[0].hasPrefix("Fugu: Radio.volume was called in a preview"), reports.all[0])
            precondition(reports.all[1].hasPrefix("Fugu: Radio.play was called in a preview"), reports.all[1])
            precondition(reports.all[2] == "thrown: UnimplementedError", reports.all[2])
        }
    }

    @Test("Elsewhere they are loaded")
    func elsewhere() async throws {
        let container = Container.program()
        expect(container[Weather.self].text, equals: "live")
        expect(container[Mail.self].text, equals: "live")
        expect(container.printer, equals: "live")
        try expect(container[Archive.self].text, equals: "live")
        let server = try await container[Server.self]
        expect(server.text, equals: "live")
    }
}
