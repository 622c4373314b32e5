/// The messages of this module, as functions that tests read.
///
/// Each message names the key, the path that led to it, and what to do.
enum Messages {
    /// Returns the path with arrows between its names, abbreviated in the middle if it's long.
    static func way(_ path: [String]) -> String {
        let names = path.count <= 40 ? path : path.prefix(10) + ["… (\(path.count - 30) more) …"] + path.suffix(20)
        return names.map { $0.count <= 120 ? $0 : "\($0.prefix(80))…\($0.suffix(20))" }.joined(separator: " → ")
    }

    static func loadError(_ reason: LoadError.Reason, _ path: [String]) -> String {
        let name = path.last ?? "?"
        return switch reason {
        case .cycle:
            "Fugu: \(name) needs itself to load: \(way(path)). Break the cycle: let one of them read what it needs "
                + "later, through the container that its load(in:) was given, instead of while it loads."
        case .ownReplacement:
            "Fugu: the closure that replaces how \(name) loads reads \(name), which is what it replaces: \(way(path)). To "
                + "wrap what would be loaded without it, write decorate instead of replace: its closure receives that."
        case .tooDeep:
            "Fugu: \(way([name])) is needed by \(path.count - 1) loads within one another, and the stack has no room for more: "
                + "\(way(path)). Load some of them before the others need them, or read what is needed later, "
                + "through the container."
        case .notSupplied(_, let line):
            "Fugu: \(name) is declared without a load, and nothing supplies it: \(way(path)). Supply it before it's read, when "
                + "the program starts: \(line)"
        case .overridden(let feature, let home):
            "Fugu: \(feature) has the home \(home.name), but was read in a child container in which its input \(name) is "
                + "overridden: \(way(path)). Let \(feature) read nothing that children set, and pass \(name) to its functions "
                + "instead; or declare no home, so that each child gets its own instance."
        case .ended:
            "Fugu: \(name) was read from a container that has gone away. Keep the Container as long as features that "
                + "captured it are used, or read \(name) while they load."
        case .closed:
            "Fugu: \(way(path)) can't be loaded: the container is closed. Load it before close(), or use a "
                + "container that is still open."
        case .external(let place, let remedy):
            "Fugu: \(name) reaches outside the process and wasn't swapped for this test. It was read by "
                + "\(path.count > 1 ? way(path) : "the test itself")\(place.map { ", in \($0)" } ?? ""). \(remedy)"
        case .noPreview(let codeName):
            "Fugu: \(name) reaches outside the process and has no preview, so it isn't loaded in an Xcode preview. Declare "
                + "static var preview in \(codeName), or set it in the preview's container: set(\(codeName).self, to: …)."
        }
    }

    /// Returns what names a key in code.
    private static func reference(to key: Key) -> String {
        if !key.isValueKey { return "\(key.codeName).self" }
        return key.name.hasPrefix("\\.") && !key.name.hasSuffix("]") ? key.name : "key"
    }

    /// Returns the line to paste that supplies a feature.
    static func supplyLine(for key: Key) -> String {
        let key = key.decorated ?? key
        return "container.replace(\(key.isValueKey ? key.name : "\(key.codeName).self")) { … }"
    }

    /// Returns the line to paste that swaps a feature in the container `$0`.
    static func swapLine(for key: Key) -> String {
        if let decorated = key.decorated { return swapLine(for: decorated) }
        if key.isValueKey {
            let isMember = key.name.hasPrefix("\\.") && !key.name.hasSuffix("]")
            return isMember ? "$0[\(key.name)] = …" : "$0[key] = … /* key: the \(key.name) */"
        }
        return switch key.kind {
        case .property, .feature: "$0[\(key.codeName).self] = …"
        case .throwingFeature, .asyncFeature: "$0.set(\(key.codeName).self, to: …)"
        }
    }

    static func unimplemented(_ endpoint: String) -> String {
        "Fugu: \(endpoint) was called, but it isn't implemented. Give the double a closure for it."
    }

    static func unimplementedInPreview(_ endpoint: String) -> String {
        "Fugu: \(endpoint) was called in a preview, but it isn't implemented. Declare a preview of the feature that has a closure "
            + "for it: static var preview."
    }

    static func readAfterEnd(of key: Key) -> String {
        "Fugu: \(key.name) was read from a container that has gone away; it gives its default. Keep the Container as long "
            + "as features that captured it are used."
    }

    static func changeAfterEnd(of key: Key) -> String {
        "Fugu: \(key.name) was changed in a container that has gone away; nothing happens. Keep the Container as long as "
            + "features that captured it are used."
    }

    static func notLoaded(_ way: [Key]) -> String {
        let (key, path) = (way[way.count - 1], self.way(way.map(\.name)))
        return
            "Fugu: \(path): there is no loaded instance of \(key.name). Load it first, with "
            + "try await container.warmUp { $0.load(\(key.codeName).self) }, in this container or above; or set it, with "
            + "container.set(\(key.codeName).self, to: …)."
    }

    static func loadedAfterClosing(_ way: [Key], closers: Int) -> String {
        let name = way.last?.name ?? "?"
        let lost = closers == 0 ? "" : " Teardown closures that its load registered don't run: close it yourself."
        return
            "Fugu: \(self.way(way.map(\.name))) was read after its container was closed. \(name) was loaded for this read "
            + "alone and isn't kept.\(lost) Read \(name) before close(), or use a container that is still open."
    }

    static func writeInLoad(of loading: Key, _ written: Key?) -> String {
        let what = written?.name ?? "values"
        return "Fugu: \(loading.name) changes \(what) while it loads. The container that load(in:) receives can only "
            + "be read until the load ends: change \(what) before, or later through the container that was kept."
    }

    static func unrecordedRead(of key: Key, by loading: Key) -> String {
        "Fugu: \(loading.name) reads \(key.name) while it loads from a container that it captured, so it "
            + "isn't recorded as an input. Read it from the container that load(in:) receives."
    }

    static func madeAgain(_ key: Key, _ way: [Key]) -> String {
        let names = way.map(\.name)
        return
            "Fugu: \(key.name) loads again for a child container, because that overrides \(names.last ?? "something"): "
            + "\(self.way(names)). This can be expensive: \(key.name) reaches outside the process or registers teardown "
            + "closures. Declare `static var home: Home { .shared }` for one instance in all, and let it read nothing that "
            + "children set; `{ .local }` for one in each child; or `{ .with(…) }` for one where a key is set."
    }

    /// `way`: From the instance that was read to the input that was set.
    static func outdated(_ way: [Key]) -> String {
        let (name, input) = (way[0].name, way[way.count - 1])
        let (did, cure) = input.kind == .property ? ("set", "Set") : ("swapped", "Swap")
        let resets = way.dropLast().reversed().map { "reset(\(reference(to: $0)))" }
        return "Fugu: \(name) was loaded before \(input.name) was \(did), and keeps what it was made from: "
            + "\(self.way(way.map(\.name))). \(cure) \(input.name) earlier, or call \(GraphWords.list(resets)) afterward. An instance that should follow "
            + "its inputs declares reloadsWhenInputsChange."
    }

    static func lateRead(of key: Key, by feature: Key) -> String {
        "Fugu: \(feature.name) reads \(key.name) after its load, through the container of that load, so it ignores the "
            + "\(key.name) of Container.current, a child container. Read it with `@Injected` or from Container.current to follow "
            + "the caller, or during the load, so that the child gets its own \(feature.name)."
    }

    static func readBeside(_ key: Key, at place: ReadPlace?) -> String {
        "Fugu: \(key.name) was read by @Injected\(place.map { " at \($0.fileID):\($0.line)" } ?? "") from the container in which "
            + "its owner was made, but Container.current, beside that container, has another \(key.name). Make the owner where \(key.name) is set, or set it where the owner is made."
    }

    static func circleOfWaits(_ key: Key, _ waiter: Frame?) -> String {
        let chain = waiter.map { Array($0.chain.compactMap(\.key?.name).reversed()) } ?? []
        return "Fugu: \(key.name) is written while modify changes it, and modify waits for this write: "
            + "\(way(chain + [key.name])). Change the value that modify's body receives instead, or write after it."
    }

    static func scopeNeedsItself(_ path: String) -> String {
        "Fugu: a rule for scope \(path) reads that scope while it is being configured. Read from the container that the rule "
            + "receives: it has what earlier rules set and what the scope's parent has."
    }

    static func ruleChangesRules(_ path: String) -> String {
        "Fugu: a rule for scope \(path) adds rules or invalidates scopes while that scope is being configured, which would "
            + "configure it again without end. Add rules before scopes are read, and set values through the container "
            + "that the rule is given."
    }

    static func changeAfterRule(of key: Key) -> String {
        "Fugu: \(key.name) was set through the container of a rule after the rule had run; nothing happens. Set it while "
            + "the rule runs, or set it in the scope itself."
    }

    static func neverClosed(_ keys: [Key?]) -> String {
        let names = keys.map { $0?.name ?? "the container itself" }.joined(separator: ", ")
        return "Fugu: a container went away without close(), so teardown closures of these never ran: \(names). "
            + "Call close() before you let the container go."
    }

    static func warmUpFailed(_ failures: [WarmUpError.Failure]) -> String {
        let lines = failures.map { "\n  \(way($0.path)): \($0.error)" }.joined()
        return "Fugu: \(failures.count) feature\(failures.count == 1 ? "" : "s") couldn't be loaded:" + lines
    }

    static func closeFailed(_ failures: [CloseError.Failure]) -> String {
        let lines = failures.map { "\n  \($0.feature ?? "the container itself"): \($0.error)" }.joined()
        return
            "Fugu: closing a container failed in \(failures.count) place\(failures.count == 1 ? "" : "s"); everything else "
            + "was closed:" + lines
    }

    static func deadlineExceeded(_ deadline: Duration) -> String {
        "didn't finish within \(deadline) and was abandoned"
    }

    static func closeFailed(_ closing: any Error, after error: any Error) -> String {
        "Fugu: closing the container of withChild failed, too, after its operation had thrown \(error): \(closing)"
    }

    static func closingWaitsForItself(_ feature: String?, isLoad: Bool) -> String {
        let caller =
            isLoad ? "the load of \(feature ?? "?")" : "a teardown closure of \(feature ?? "the container itself")"
        return
            "Fugu: \(caller) waits for close() of a container which in turn waits for it. Call close() from outside, "
            + "for example at the program's end; a teardown closure only ends what its own feature opened."
    }

    static func closerFailed(of key: Key, _ error: any Error) -> String {
        "Fugu: a teardown closure of a former instance of \(key.name) failed: \(error)"
    }

    static func evictionFailed(of key: Key, _ error: any Error) -> String {
        "Fugu: closing the child of a value of \(key.name) failed: \(error)"
    }

    static func reloadFailed(of key: Key, _ error: any Error) -> String {
        "Fugu: \(key.name) failed to reload after an input changed: \(error). It loads at its next read."
    }

    static func keyOfFunction(_ descriptor: some ValueKeyDescriptor) -> String {
        let place = descriptor.place
        return
            "Fugu: \(place.member) makes a key without an id at \(place.fileID):\(place.line), so it would be one key "
            + "for all arguments. Give it an id: \(descriptor.typeName)(…, id: …). A function that makes the keys of its callers takes "
            + "their member, fileID, line, and column instead, and passes them on."
    }

    static func twoCopies(_ path: String?, _ other: String?) -> String {
        "Fugu: this process has two copies of Fugu, in \(path ?? "one file") and in \(other ?? "another"). Each copy has its own "
            + "Container.shared and Container.current, so one doesn't see what the other sets or what a test binds. Link Fugu "
            + "into one of these files only, or into a dynamic library that both of them use."
    }

    static func clockGoesBack(_ duration: Duration) -> String {
        "Fugu: a ManualClock can't go back. Pass advance(by:) a duration of zero or more, not \(duration)."
    }

    static func drawsForEver(_ value: UInt64) -> String {
        "Fugu: Randomness.constant(\(value)) was drawn 16 million times at a stretch: the standard library refuses this number, since "
            + "it would bias the result, and draws again forever. Use .constant(1), which draws the lower bound of a range, or "
            + ".linearCongruential(withSeed:)."
    }
}
