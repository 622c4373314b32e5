import Fugu
import Support
import Testing

/// Law 9: features of the main actor, read from elsewhere.
struct MainActorAwaitTests {
    private static let source = """
        import Fugu
        final class Screen: MainActorFeature {
            var title = "screen"
            static func load(in container: any FeatureContainer) -> Screen { Screen() }
        }
        extension ContainerKeys {
            nonisolated var screen: MainActorFeatureKey<Screen> { .init(Screen.self) }
            nonisolated var speech: MainActorFeatureKey<String> { .init { _ in "speech" } }
        }
        nonisolated func read(_ container: Container) async -> (Screen, String) {
            await (container.screen, container.speech)
        }
        nonisolated func readByType(_ container: Container) async -> Screen { await container[Screen.self] }
        actor Robot {
            func read(_ container: Container) async -> Screen { await container.screen }
        }
        @MainActor func use(_ container: Container, _ handle: any FeatureContainer) {
            container.screen = Screen()
            container.screen.title += "!"
            handle.speech += handle.speech
            let key = \\ContainerKeys.screen
            _ = container[dynamicMember: key]
        }

        """

    @Test("Code of no actor or of another one awaits a member as it awaits the type (law 9)", arguments: [false, true])
    func byMember(_ isMainActorModule: Bool) throws {
        let flags = isMainActorModule ? Compiler.mainActorModule : []
        guard let found = try Compiler.check(Self.source, flags) else { return print("skipped: no compiler was found") }
        expect(found.isRight, found.output)
    }

    @Test("A member of the main actor, as a module declares it whose default isolation that is, is used there (law 9)")
    func isolatedMember() throws {
        let source = """
            import Fugu
            @MainActor final class Screen { var title = "screen" }
            extension ContainerKeys {
                @MainActor var screen: MainActorFeatureKey<Screen> { .init { _ in Screen() } }
            }
            @MainActor func use(_ container: Container) -> String {
                container.screen.title += "!"
                return container.screen.title
            }
            """
        guard let found = try Compiler.check(source) else { return print("skipped: no compiler was found") }
        expect(found.isRight, found.output)
    }
}

/// Belongs to the main actor, and remembers where it was made.
private final class Stage: MainActorFeature {
    let title: String
    init(title: String) {
        MainActor.assertIsolated()
        self.title = title
    }
    static func load(in container: any FeatureContainer) -> Stage { Stage(title: "stage of \(container.play)") }
}

extension ContainerKeys {
    fileprivate var play: PropertyKey<String> { .init(defaultValue: "Hamlet") }
    fileprivate var stage: MainActorFeatureKey<Stage> { .init(Stage.self) }
    fileprivate var prompter: MainActorFeatureKey<String> { .init { "prompter of \($0.play)" } }
}

extension MainActorAwaitTests {
    @Test("An awaited read by member loads on the main actor, once, with its inputs (laws 3, 9, 15)")
    nonisolated func elsewhere() async {
        let container = Container.program()
        let stage = await container.stage
        await expect(container.stage, is: stage)
        await expect(container[Stage.self], is: stage)
        let child = container.child { $0.play = "Faust" }
        await expect(child.stage.title, equals: "stage of Faust")
        await expect([container.prompter, child.prompter], equals: ["prompter of Hamlet", "prompter of Faust"])
        let handle: any FeatureContainer = child
        await expect(handle.prompter, equals: "prompter of Faust")
    }
}
