import Fugu
import FuguConfiguration
import FuguTesting
import StrictnessCases
import Support
import Testing

@Suite struct Law29StrictTests {
    @Test(
        "Every failure of a strict container has its text and the test's own place (law 29)",
        arguments: StrictnessCase.all)
    func failures(test: StrictnessCase) async throws {
        let place = try #require(Test.current?.sourceLocation)
        let answer = Log<String>()
        let found = await issues {
            try await runCase(.container) { answer.add(try await test.run(.current)) }
        }
        #expect(answer.all == [test.answer])
        #expect(found.map(\.text) == test.failures)
        #expect(found.allSatisfy { $0.place == place }, "\(found)")
    }

    @Test("A strict container made by hand fails in the same way (law 29)", arguments: StrictnessCase.all)
    func failuresByHand(test: StrictnessCase) async throws {
        let place = try #require(Test.current?.sourceLocation)
        let answer = Log<String>()
        let found = await issues { answer.add(try await test.run(.strict())) }
        #expect(answer.all == [test.answer])
        #expect(found.map(\.text) == test.failures)
        #expect(found.allSatisfy { $0.place == place }, "\(found)")
    }

    @Test("Who reads a feature shares its placeholder (law 29)")
    func sharedPlaceholder() async {
        let found = await issues {
            let container = Container.strict()
            #expect(container[Kept.self] === container.child()[Kept.self])
        }
        #expect(found.count == 2)
    }

    final class Kept: ExternalFeature, Sendable {
        static func load(in container: any FeatureContainer) -> Kept { Kept() }
        static var placeholder: Kept { Kept() }
    }

    @Test("Failures met on a thread of its own or in a detached task are recorded when the case ends (law 29)")
    func offTask() async throws {
        let place = try #require(Test.current?.sourceLocation)
        let during = Log<Int>()
        let seen = Log<String>()
        try await withKnownIssue {
            try await runCase(.container) {
                let (container, sender) = (Container.current, Sender())
                try container.apply(DictionarySource(["server.port": "http"], name: "server"))
                _ = container[Mailer.self]
                during.add(seen.count)
                await onThreads(2) { _ in _ = container[Mailer.self] }
                await Task.detached { _ = (container[Account.self], sender.count(), container[\.port]) }.value
                during.add(seen.count)
            }
        } matching: { issue in
            seen.add(issue.comments.first?.rawValue ?? "")
            return issue.sourceLocation == place
        }
        #expect(during.all == [1, 1])
        let own = StrictnessCase.refusal(of: "Mailer", line: "container[Mailer.self] = …")
        let other = StrictnessCase.refusal(
            of: "Mailer", through: "Account → Signup → Mailer", line: "container[Mailer.self] = …")
        let endpoint =
            "Fugu: Sender.count was called, but the test has not said what it is to do. "
            + "Give the double a closure for it."
        let wrong = "server: server.port: expected Int, found string \"http\""
        #expect(seen.all == [own, own, own, other, endpoint, wrong])
    }

    @Test("A failure that comes after the end of its case says so (law 29)")
    func late() async throws {
        let (ended, read) = (Gate(), Gate())
        let found = await issues {
            try await runCase(.container) {
                Task {
                    await ended.opened()
                    _ = Container.current[Mailer.self]
                    read.open()
                }
            }
            ended.open()
            await read.opened()
        }
        #expect(found.count == 1)
        #expect(found.first?.text.contains("after its test case had ended") == true)
    }

    @Test("In a process that uses the trait, Container.shared is strict (law 29)")
    func shared() async throws {
        let found = await issues {
            try await runCase(.container) {
                #expect(Container.shared[Mailer.self].name == "placeholder")
                #expect(Container.shared.child()[Mailer.self].name == "placeholder")
            }
        }
        #expect(found.count == 2)
        #expect(
            found.first?.text.hasPrefix(StrictnessCase.refusal(of: "Mailer", line: "container[Mailer.self] = …"))
                == true)
        #expect(found.first?.text.contains("Met in Container.shared") == true)
    }

    @Test("What was made before a container became strict is strict too (law 29)")
    func existingChildren() {
        let root = Container()
        let child = root.child().child()
        let refused = Log<String>()
        root.makeStrict(Strictness { refused.add($0.error.path.joined(separator: " ")) })
        #expect(child[Signup.self].mailer.name == "placeholder")
        #expect(refused.all == ["Signup Mailer"])
    }

    @Test("Outside of tests, a failure stops the program with its text (law 29)")
    func trap() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Container.strict()[Signup.self]
        }
        expectMessage(
            of: result, "FuguTestingTests/Law29StrictTests.swift:", "Mailer reaches outside the process",
            "Signup → Mailer", "container[Mailer.self] = …")
        let endpoint = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Sender().count()
        }
        expectMessage(of: endpoint, "Sender.count was called")
    }
}
