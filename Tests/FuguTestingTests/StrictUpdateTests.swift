import Fugu
import FuguScopes
import FuguTesting
import StrictnessCases
import Support
import Testing

// Laws 7 and 29: a strict container never loads an external feature that was not set: inside an update, where a key that it
// resets or replaces gives what's published, or afterward.
struct StrictUpdateTests {
    /// Counts its real loads.
    private enum RealLoads {
        static let counter = Counter()
    }
    struct Real: Feature, External {
        let text: String
        static func load(in container: any FeatureContainer) -> Real {
            RealLoads.counter.add()
            return Real(text: "real")
        }
        static var placeholder: Real { Real(text: "placeholder") }
    }
    struct RealThrowing: ThrowingFeature, External {
        static func load(in container: any FeatureContainer) throws -> Int {
            RealLoads.counter.add()
            return 1
        }
    }
    struct Through: Feature {
        let text: String
        static func load(in container: any FeatureContainer) -> Through { Through(text: container[Real.self].text) }
    }

    /// The kind of update, and the origin of the container.
    enum Place: CaseIterable {
        case made, child, scope, copy, closed, shared

        func container() async throws -> Container {
            switch self {
            case .made: return .strict { $0[Real.self] = Real(text: "set") }
            case .child: return Container.strict { $0[Real.self] = Real(text: "set") }.child()
            case .scope: return Container.strict { $0[Real.self] = Real(text: "set") }.scope("/a")
            case .copy: return Container(copying: .strict { $0[Real.self] = Real(text: "set") })
            case .closed:
                let container = Container.strict { $0[Real.self] = Real(text: "set") }
                try await container.close()
                return container
            case .shared: return .shared
            }
        }
    }

    @Test(
        "An external feature that an update resets is there until the end, and refused afterward (laws 7, 29)",
        arguments: Place.allCases)
    func reset(_ place: Place) async throws {
        let text = Log<String>()
        let all = await issues {
            let container = try await place.container()
            container.update { changes in
                changes[Real.self] = Real(text: "pending")
                changes.reset(Real.self)
                text.add(changes[Real.self].text)
            }
            text.add(container[Real.self].text)
        }
        // Only a warning.
        let found = all.filter { !$0.text.hasPrefix("Fugu: Container.shared was changed") }
        let wasSet = place != .shared && place != .closed
        // The reset uncovers the value that an ancestor set.
        let isUncovered = place == .child || place == .scope
        expect(text.all, equals: [wasSet ? "set" : "placeholder", isUncovered ? "set" : "placeholder"])
        expect(found.isEmpty, equals: isUncovered)
        expect(found.allSatisfy { $0.text.contains("Real reaches outside the process") })
        expect(RealLoads.counter.value, equals: 0)
    }

    @Test("So is a throwing one, which throws, and one behind a key (laws 7 and 29)")
    func otherKinds() async throws {
        let found = await issues {
            let container = Container.strict {
                $0.set(RealThrowing.self, to: 5)
                $0.printer = "set"
            }
            container.update { changes in
                changes.reset(RealThrowing.self)
                changes.reset(\.printer)
                expect(try? changes[RealThrowing.self], equals: 5)
                expect(changes.printer, equals: "set")
            }
            #expect(throws: (any Error).self) { try container[RealThrowing.self] }
            expect(container.printer, equals: "no printer")
        }
        expect(found.count, equals: 2)
        expect(RealLoads.counter.value, equals: 0)
    }

    @Test("One that a feature needs which is loaded there is refused, with the way to it (laws 7 and 29)")
    func through() async throws {
        let found = await issues {
            let container = Container.strict { $0[Real.self] = Real(text: "set") }
            container.update { changes in
                changes.reset(Real.self)
                expect(changes[Through.self].text, equals: "set")
            }
            container.reset(Through.self)
            container.update { changes in
                changes.reset(Through.self)
                expect(changes[Through.self].text, equals: "placeholder")
            }
        }
        expect(found.count == 1 && found.first?.text.contains("Through → Real") == true, "\(found)")
        expect(RealLoads.counter.value, equals: 0)
    }

    @Test("A double that replaces it in the update is loaded afterward, and once (laws 7 and 29)")
    func replaced() async {
        let doubles = Counter()
        let found = await issues {
            let container = Container.strict()
            container.update { changes in
                changes.replace(Real.self) { _ in
                    doubles.add()
                    return Real(text: "double")
                }
            }
            expect(container[Real.self].text, equals: "double")
            expect(container[Real.self].text, equals: "double")
        }
        expect(found.isEmpty)
        expect(doubles.value, equals: 1)
    }
}
