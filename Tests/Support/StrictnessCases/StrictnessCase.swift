package import Fugu
import FuguConfiguration
import FuguScopes
import FuguTesting

/// Something that a test does in a strict container, what it gets, and which failures that makes.
///
/// Whatever runs tests must show the same.
package struct StrictnessCase: Sendable, CustomStringConvertible {
    package let description: String
    /// The test's operation and its result.
    package let run: @Sendable (Container) async throws -> String
    /// The value that it should receive.
    package let answer: String
    /// The texts of the failures, in order, in a container that a trait made.
    ///
    /// They leave out where something was read.
    package let failures: [String]

    /// The same in a container that was made by hand.
    package var failuresByHand: [String] { failures.map(Self.byHand) }

    /// The text of a failure in a container that was made by hand.
    package static func byHand(_ text: String) -> String {
        text.replacing(
            "in the test's trait: .container {", with: "where the test makes its container: Container.strict {")
    }

    /// Leaves out where something was read.
    package static func withoutPlace(_ text: String) -> String {
        text.replacing(/(, in [^ ]+)? at \w+\/\w+\.swift:\d+/, with: "")
    }

    private init(
        _ description: String, gives answer: String, failing failures: String...,
        run: @escaping @Sendable (Container) async throws -> String
    ) {
        self.description = description
        self.answer = answer
        self.failures = failures
        self.run = run
    }

    /// The failure of a feature.
    package static func refusal(of name: String, through way: String? = nil, line: String) -> String {
        "Fugu: \(name) reaches outside the process and wasn't set for this test.\n"
            + "Path: \(way ?? "the test → \(name)")\nFix: set it in the test's trait: .container { \(line) }"
    }

    private static func unimplemented(_ endpoint: String) -> String {
        "Fugu: \(endpoint) was called, but it isn't implemented.\nFix: give the double a closure for it."
    }

    private static let mailerLine = "$0[Mailer.self] = …"
    private static let mailer = refusal(of: "Mailer", line: mailerLine)
    private static let socket = refusal(of: "Socket", line: "$0.set(Network.Socket.self, to: …)")
    private static let database = refusal(of: "Database", line: "$0.set(Database.self, to: …)")

    /// All of them.
    package static let all = reads + families + others

    private static let reads = [
        StrictnessCase(
            "a plain feature gives its placeholder at every read", gives: "placeholder", failing: mailer, mailer
        ) {
            container in
            _ = container[Mailer.self]
            return container[Mailer.self].name
        },
        StrictnessCase(
            "the failure names the feature that needed it", gives: "placeholder",
            failing: refusal(of: "Mailer", through: "Account → Signup → Mailer", line: mailerLine)
        ) { $0[Account.self].signup.mailer.name },
        StrictnessCase("a feature that was set is given", gives: "double") {
            $0[Mailer.self] = Mailer(name: "double")
            return $0[Account.self].signup.mailer.name
        },
        StrictnessCase("a replaced feature is made", gives: "made with 5") {
            $0[Number.self] = 5
            $0.replace(Mailer.self) { Mailer(name: "made with \($0[Number.self])") }
            return $0[Mailer.self].name
        },
        StrictnessCase("a throwing feature throws the failure", gives: socket, failing: socket) {
            do { return try $0[Network.Socket.self].name } catch { return withoutPlace("\(error)") }
        },
        StrictnessCase("an async feature throws the failure", gives: database, failing: database) {
            do { return try await $0[Database.self].name } catch { return withoutPlace("\(error)") }
        },
        StrictnessCase("throwing and async features can be set", gives: "a b") {
            $0.set(Network.Socket.self, to: Network.Socket(name: "a"))
            $0.set(Database.self, to: Database(name: "b"))
            return try await "\($0[Network.Socket.self].name) \($0[Database.self].name)"
        },
        StrictnessCase(
            "a feature by key gives its placeholder", gives: "no printer",
            failing: refusal(
                of: #"\.printer"#, line: "$0.printer = …")
        ) { $0.printer },
    ]

    private static let families = [
        StrictnessCase("a child is strict", gives: "placeholder", failing: mailer) {
            $0.child().child()[Mailer.self].name
        },
        StrictnessCase("a scope is strict", gives: "placeholder", failing: mailer) { $0.scope("/a")[Mailer.self].name },
        StrictnessCase("a copy is strict", gives: "placeholder", failing: mailer) {
            Container(copying: Container(), $0)[Mailer.self].name
        },
        StrictnessCase(
            "a child that sets it has its own of what was made with the placeholder", gives: "double placeholder",
            failing: refusal(of: "Mailer", through: "Signup → Mailer", line: mailerLine)
        ) {
            let placeholder = $0[Signup.self].mailer.name
            let child = $0.child { $0[Mailer.self] = Mailer(name: "double") }
            return "\(child[Signup.self].mailer.name) \(placeholder)"
        },
    ]

    private static let others = [
        StrictnessCase(
            "a wrong value from a source fails", gives: "80",
            failing: "server: strictness.port: expected Int, found string \"http\""
        ) {
            try $0.apply(DictionarySource(["strictness.port": "http"], name: "server"))
            return "\($0.port)"
        },
        StrictnessCase(
            "endpoints without a closure fail and give their placeholders", gives: "true 7 nil",
            failing: unimplemented("Sender.check"), unimplemented("Sender.count"), unimplemented("Sender.note"),
            unimplemented("Sender.wait"), unimplemented("Sender.ask")
        ) { _ in
            let sender = Sender()
            let (check, count) = (sender.check("a"), sender.count())
            sender.note("a", 1, 2)
            await sender.wait(1)
            return "\(check) \(count) \(await sender.ask(1).map { "\($0)" } ?? "nil")"
        },
        StrictnessCase(
            "endpoints without a closure that can throw, throw",
            gives: "thrown thrown thrown",
            failing: unimplemented("Sender.send"), unimplemented("Sender.flush"), unimplemented("Sender.fetch")
        ) { _ in
            let sender = Sender()
            var answers: [String] = []
            // Which error that is depends on what runs the test, so that it does not fail twice.
            do { _ = try sender.send("a", 1) } catch { answers.append("thrown") }
            do { try sender.flush() } catch { answers.append("thrown") }
            do { _ = try await sender.fetch(1) } catch { answers.append("thrown") }
            return answers.joined(separator: " ")
        },
    ]
}
