import Foundation
import Fugu
import Inspector
import Logging
import ServiceLifecycle
import UnixSignals

// swift run Demo [port]: a program that loads, fails and overrides for as long as it runs, to be looked at.
let port = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 8080
let office = Office()
let inspector = Inspector(office.container)
print("http://127.0.0.1:\(port)/")
try await ServiceGroup(
    services: [inspector.service(port: port), office], gracefulShutdownSignals: [.sigint, .sigterm],
    logger: Logger(label: "demo")
).run()

extension ContainerKeys {
    var letter: PropertyKey<Int> { .init(defaultValue: 0) }
    var tone: PropertyKey<String> { .init(defaultValue: "polite") }
    var password: PropertyKey<String> { .init(defaultValue: "swordfish", isSecret: true) }
}

/// Work that takes a while, as access to the outside does.
private func work(_ milliseconds: Int) async throws { try await Task.sleep(for: .milliseconds(milliseconds)) }

struct Archive: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Archive {
        _ = container.password
        try await work(300)
        return Archive()
    }
}

struct Dictionary: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Dictionary {
        _ = try await container[Archive.self]
        try await work(150)
        return Dictionary()
    }
}

struct Stamps: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Stamps {
        try await work(220)
        return Stamps()
    }
}

struct Style: AsyncFeature {
    static var reloadsWhenInputsChange: Bool { true }
    static func load(in container: any FeatureContainer) async throws -> Style {
        _ = (container.tone, try await container[Dictionary.self])
        try await work(60)
        return Style()
    }
}

struct Draft: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Draft {
        _ = (container.letter, try await container[Style.self])
        try await work(80)
        return Draft()
    }
}

struct Post: AsyncFeature {
    struct NoStamp: Error, CustomStringConvertible {
        let description: String
    }

    static func load(in container: any FeatureContainer) async throws -> Post {
        async let stamps = container[Stamps.self]
        async let draft = container[Draft.self]
        _ = try await (stamps, draft)
        guard container.letter % 4 != 3 else {
            throw NoStamp(description: "letter \(container.letter) is too heavy, says \(container.password)")
        }
        try await work(40)
        return Post()
    }
}

/// An office that writes a letter every second, two at a time.
struct Office: Service {
    let container = Container()

    func run() async throws {
        var open: [Container] = []
        for number in 1... {
            let letter = container.child {
                $0.containerName = "letter \(number)"
                $0.letter = number
            }
            open.append(letter)
            async let first = try? letter[Post.self]
            async let second = try? letter[Draft.self]
            _ = await (first, second)
            if number.isMultiple(of: 5) { container.tone = number.isMultiple(of: 2) ? "polite" : "brisk" }
            if open.count > 4 { try await open.removeFirst().close() }
            do { try await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(1)) } } catch { break }
        }
        for letter in open { try await letter.close() }
        try await container.close(deadline: .seconds(5))
    }
}
