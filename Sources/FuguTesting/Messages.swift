import Fugu

/// The messages of this module, as functions that tests read.
///
/// A line sets a feature in the container `$0`.
enum Messages {
    /// What the testing library says of the expectation that a failure, which tests may throw, is for it.
    static let expectation = "the test has a container that sets everything it uses"

    static func adviceForTrait(_ line: String?) -> String { "set it in the test's trait: \(trait(line))" }

    static func adviceByHand(_ line: String?) -> String {
        "set it where the test makes its container: Container.strict { \(line ?? "_ in") }"
    }

    /// Where the present test sets a feature in its own container, or could.
    private static func inOwn(_ line: String?) -> String {
        TestCase.current?.isByHand ?? Audience.isXCTest
            ? "where the test makes its container: Container.strict { \(line ?? "_ in") } operation: { … }"
            : "in the test's trait: \(trait(line))"
    }

    /// A trait that sets a feature, or one that gives its value for tests.
    private static func trait(_ line: String?) -> String { line.map { ".container { \($0) }" } ?? ".container" }

    /// For a container that the program made for itself while a test ran.
    static func adviceForRoot(_ line: String?) -> String {
        "the program made this container with Container(). Let it take one from the test, such as Container.current.child(), and "
            + "\(line == nil ? "give the test a container" : "set the feature") \(inOwn(line)). To use the real feature, run the "
            + "program in Container.live { … }."
    }

    static func changesShared(_ use: ContainerUse, _ key: String?, _ audience: Audience) -> String {
        let fix =
            if case .xctest = audience { "Container.strict { … } operation: { … }" } else { "@Test(.container { … })" }
        return
            "Fugu: \(what(use, key, "Container.shared")), in a test that has no container of its own. Tests that run later see the "
            + "change, too.\nFix: do it in a container of the test: \(fix)."
    }

    static func usesShared(_ use: ContainerUse, _ key: String?, at place: SourcePlace?) -> String {
        return
            "Fugu: \(what(use, key, "Container.shared")), in a test that has its own container. What the test sets isn't there."
            + "\(path(key ?? "Container.shared", at: place))\nFix: use Container.current. It's the test's container in a test, and "
            + "Container.shared in the program."
    }

    /// `inCase`: Whether it's another case of the same test.
    static func usesOther(
        _ use: ContainerUse, _ key: String?, at place: SourcePlace?, of test: String, inCase: Bool
    ) -> String {
        let container = "a container of the test \(test)"
        return
            "Fugu: \(what(use, key, container)), in another \(inCase ? "case of it" : "test").\(path(key ?? container, at: place))\n"
            + "Fix: make anew in each test what keeps that container, or an @Injected made in it, such as a global or a static "
            + "property; or let it read from Container.current. A container that tests share is made in Container.with(.shared) { … }."
    }

    private static func what(_ use: ContainerUse, _ key: String?, _ container: String) -> String {
        let through = key.map { _ in " through \(container)" } ?? ""
        return switch use {
        case .read: "\(key ?? container) was read\(through)"
        case .changed: "\(key ?? container) was changed\(through)"
        case .registered: "a teardown closure was registered with \(container)"
        case .observed: "\(key ?? container) was observed\(through)"
        case .closed: "\(container) was closed"
        case .child: "a child of \(container) was made"
        case .copied: "\(container) was copied"
        }
    }

    private static func path(_ name: String, at place: SourcePlace?) -> String {
        place.map { "\nPath: the test → \(name), in \($0.descriptionWithMember)" } ?? ""
    }

    static func adviceForShared(_ line: String?) -> String {
        adviceForShared(line, TestCase.current.map { .testCase($0) } ?? .present())
    }

    static func adviceForShared(_ line: String?, _ audience: Audience) -> String {
        switch audience {
        case .testCase:
            "read it from Container.current instead of Container.shared, which the test doesn't configure"
                + (line.map { ", and set it \(inOwn($0))" } ?? ".")
        case .test:
            "give the test its own container: @Test(\(trait(line))). To use the real feature, write "
                + "@Test(.liveContainer)."
        case .xctest:
            "run the test in its own container: Container.strict { \(line ?? "_ in") } operation: { … }. To use the real feature, "
                + "write Container.live { … }."
        case .unknownTest:
            "give the test a container, @Test(\(trait(line))), and take it along, because a thread or a detached task "
                + "doesn't know its test: write let container = Container.current before the task, and "
                + "Container.with(container) { … } in it."
        case .nobody:
            "link FuguTesting to test targets only, because this process runs no test, or use the real feature: "
                + "Container.live { … }"
        }
    }

    /// The last line about a key that a strict container refuses and has nothing to give for.
    static func withoutStandIn(_ key: Key) -> String {
        key.kind == .property
            ? "\n(The process stops, because this read can't throw, and its type has no empty value. With a testValue, \(key.name) gives "
                + "that.)"
            : "\n(The test goes on with the real one, since this read can't throw. With a testValue, \(key.name) gives that.)"
    }

    /// The last line about an external type that a strict container refuses.
    static let testValueIsUnused =
        "\n(Its testValue isn't used: declare it as static func testValue(in container: any FeatureContainer).)"

    static func madeExternal(_ key: Key, _ type: Key, _ way: [Key]) -> String {
        "Fugu: the load of \(key.name) has made a real \(type.name), which is external."
            + "\(Fugu.Messages.pathLine(way.map(\.name)))Fix: declare the key as FeatureKey(\(type.codeName).self), or let its load read "
            + "container[\(type.codeName).self]; or set \(key.name) in the test."
    }

    static func twoCopies(_ path: String?, _ other: String?) -> String {
        "Fugu: this process has two copies of Fugu, in \(path ?? "one file") and in \(other ?? "another"). Each copy has its own "
            + "Container.shared and Container.current, so one doesn't see what the other sets or what a test binds.\nFix: link "
            + "Fugu into one of these files only, or into a dynamic library that both of them use."
    }

    static func late(_ text: String, _ test: String) -> String {
        text
            + "\n(This happened after the test \(test) ended: something that it started is still running. Make the test wait for it.)"
    }

    static func withoutPlace(_ text: String, _ type: String?) -> String {
        text + "\n(The place isn't known, because this was read by member."
            + "\(type.map { " A read by type, container[\($0).self], has a place." } ?? ""))"
    }

    static func inTest(_ text: String, _ test: String) -> String { text + "\n(This happened in the test \(test).)" }

    static func beforeTest(_ text: String, _ test: String) -> String {
        text
            + "\n(This happened in an argument or a condition of the test \(test), before it has a container. Pass what that needs, or "
            + "use it in the test itself.)"
    }

    static func outsideOfXCTest(_ text: String) -> String {
        text
            + "\n(This happened while no test ran, such as in a property of an XCTestCase, which XCTest makes before the first "
            + "test, so it fails none. Read from the container in the test itself.)"
    }

    static func of(_ text: String, _ test: String) -> String {
        text + "\n(This happened on a thread or in a detached task of the test \(test).)"
    }

    static func ofUnknown(_ text: String, _ tests: [String]) -> String {
        if tests.isEmpty { return text }
        let names = once(tests)
        return text
            + "\n(Which test this belongs to isn't known. Of those with a container, \(GraphWords.list(names)) "
            + "\(names.count == 1 ? "was" : "were") running; it may also belong to one without, or to one that has ended.)"
    }

    /// Each name once, since the cases of a parameterized test have one name.
    private static func once(_ names: [String]) -> [String] {
        var known: Set<String> = []
        return names.filter { known.insert($0).inserted }
    }

    static func shared(_ text: String) -> String {
        text
            + "\n(This happened in Container.shared, which no test configures. Let the code read from Container.current, or pass "
            + "it the test's container.)"
    }

    static func clockGoesBack(_ duration: Duration) -> String {
        "Fugu: a ManualClock can't go back.\nFix: pass a duration of zero or more, not \(duration)."
    }

    static func clockMovesForNobody(_ place: SourcePlace) -> String {
        "Fugu: the ManualClock was advanced at \(place), but no task sleeps on it.\nFix: before this call, start the task that "
            + "sleeps, and give its code this clock: $0.clock = AnyClock(clock). To move the clock where no task "
            + "sleeps, write clock.move(by: …)."
    }

    static func clockIsNeverAsked(_ place: SourcePlace) -> String {
        "Fugu: the ManualClock was moved at \(place), but nothing has ever read it or slept on it.\nFix: before this call, give it to "
            + "the tested code: $0.clock = AnyClock(clock). After useStandardDoubles(), move container.manualClock instead."
    }

    static func clockMissesSleepers(_ place: SourcePlace, _ count: Int, _ found: Int) -> String {
        let tasks = count == 1 ? "a task" : "\(count) tasks"
        let sleep = found == 0 ? "none does" : found == 1 ? "only 1 does" : "only \(found) do"
        return
            "Fugu: the test waits at \(place) until \(tasks) sleep\(count == 1 ? "s" : "") on the ManualClock, and \(sleep).\n"
            + "Fix: before this call, start the code that sleeps, and give it this clock: $0.clock = AnyClock(clock)."
    }

    static func clockRunsOn(_ place: SourcePlace, _ count: Int) -> String {
        "Fugu: run() at \(place) has advanced the ManualClock to \(count) deadlines, and a task sleeps still.\nFix: for a task "
            + "that repeats, call advance(by:) instead, or cancel the task first."
    }
}
