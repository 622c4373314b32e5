/// The messages of this module, as functions that tests read.
///
/// A message has a line for what happened, one for the path that led to the key, and one for the fix.
package enum Messages {
    /// Returns the path with arrows between its names, abbreviated in the middle if it has more than a number of them.
    package static func way(_ path: [String], atMost limit: Int = 40) -> String {
        let (first, last) = (limit / 4, limit / 2)
        let names =
            path.count <= limit
            ? path : path.prefix(first) + ["… (\(path.count - first - last) more) …"] + path.suffix(last)
        return names.map { $0.count <= 120 ? $0 : "\($0.prefix(80))…\($0.suffix(20))" }.joined(separator: " → ")
    }

    /// Returns the line with the path and the place of the read, or only a line break if the line would say nothing new.
    package static func pathLine(_ path: [String], _ place: String? = nil) -> String {
        if path.count < 2, place == nil { return "\n" }
        return "\nPath: \(way(path))\(place.map { ", in \($0)" } ?? "")\n"
    }

    static func loadError(_ reason: LoadError.Reason, _ path: [String], _ place: String? = nil) -> String {
        let name = path.last ?? "?"
        let way = pathLine(path, place)
        return switch reason {
        case .cycle(let isDefault):
            "Fugu: \(name) needs itself to load.\(way)Fix: "
                + (isDefault
                    ? "let the default of \(name) read nothing that reads \(name)."
                    : "let one of them read what it needs later, through the container that its load(in:) received.")
        case .ownReplacement:
            "Fugu: the closure that replaces or decorates \(name) reads \(name) itself.\(way)Fix: to wrap what would be loaded "
                + "without the closure, call decorate, and use the instance that its closure receives."
        case .tooDeep:
            "Fugu: \(Self.way([name])) is needed by \(path.count - 1) loads within one another, and a stack may have no room for "
                + "more.\(way)Fix: load some of them before the others need them, or read what is needed later, through the "
                + "container."
        case .notSupplied(_, let line):
            "Fugu: \(name) is declared without a load, and nothing supplies it.\(way)Fix: supply it when the program starts: "
                + line
        case .overridden(let feature, let home, true):
            "Fugu: \(feature) has the home \(home.name), but is made from \(name), which has the home .local: each container has "
                + "its own.\(way)Fix: let \(feature) not read \(name), and pass \(name) to its functions; or declare no home for "
                + "\(feature), so that each container gets its own instance."
        case .overridden(let feature, let home, false):
            "Fugu: \(feature) has the home \(home.name), but was read in a child container that overrides its input "
                + "\(name).\(way)Fix: let \(feature) read nothing that children set, and pass \(name) to its functions; or "
                + "declare no home, so that each child gets its own instance."
        case .ended:
            "Fugu: \(name) was read after its container was released.\(way)Fix: keep the Container as long as features that "
                + "captured it are used, or read \(name) while they load."
        case .closed:
            "Fugu: \(name) can't be loaded: the container is closed.\(way)Fix: load it before close(), or use "
                + "a container that is still open."
        case .external(let isRequired, let hasTestValue, let remedy):
            "Fugu: \(name) \(missing(isRequired, hasTestValue)).\(pathLine(path.count > 1 ? path : ["the test", name], place))"
                + "Fix: \(remedy)"
        case .noPreview(let codeName):
            "Fugu: \(name) reaches outside the process and has no preview, so it isn't loaded in an Xcode preview.\nFix: declare "
                + "static var preview in \(codeName), or set it in the preview's container: set(\(codeName).self, to: …)."
        }
    }

    private static func missing(_ isRequired: Bool, _ hasTestValue: Bool) -> String {
        if hasTestValue { return "has a value for tests, which only a container of the test's own gives" }
        return "\(isRequired ? "has to be supplied" : "reaches outside the process") and wasn't set for this test"
    }

    /// Returns what names a key in code.
    private static func reference(to key: Key) -> String {
        if !key.isValueKey { return "\(key.codeName).self" }
        return key.name.hasPrefix("\\.") && !key.name.hasSuffix("]") ? key.name : "key"
    }

    /// Returns the line to paste that supplies a feature.
    static func supplyLine(for key: Key) -> String {
        return "container.replace(\(key.isValueKey ? key.name : "\(key.codeName).self")) { … }"
    }

    /// The doubles of the features that come with the library.
    private static let doubles = [
        "clock": ".immediate",
        "date": ".constant(Date(timeIntervalSince1970: 0))",
        "randomness": ".linearCongruential(withSeed: 0)",
        "uuid": ".incrementing",
        "fileAccess": ".inMemory",
        "keyValueStore": ".inMemory",
        "environment": "[:]",
        "locale": "Locale(identifier: \"en_US_POSIX\")",
        "timeZone": ".gmt",
    ]

    /// Returns the line to paste that sets a feature in the container `$0`.
    package static func setLine(for key: Key) -> String {
        if key.isValueKey {
            let isMember = key.name.hasPrefix("\\.") && !key.name.hasSuffix("]")
            if let double = doubles[String(key.name.dropFirst(2))] {
                return "$0\(key.name.dropFirst()) = \(double) /* or, for all of them, $0.useStandardDoubles() */"
            }
            return isMember ? "$0\(key.name.dropFirst()) = …" : "$0[key] = … /* key: the \(key.name) */"
        }
        return switch key.kind {
        case .property, .feature: "$0[\(key.codeName).self] = …"
        case .throwingFeature, .asyncFeature: "$0.set(\(key.codeName).self, to: …)"
        }
    }

    static func placeholderOfFailable(_ name: String) -> String {
        "Fugu: \(name) has no placeholder, because its load can fail, and strict containers throw instead of giving one.\n"
            + "Fix: set it in the container: set(\(name).self, to: …)."
    }

    static func noPreview(_ key: String) -> String {
        "Fugu: \(key) reaches outside the process and has no preview, so it isn't loaded in an Xcode preview.\nFix: give the key a "
            + "preview, or set it in the preview's container."
    }

    static func noPlaceholder(_ name: String) -> String {
        "Fugu: \(name) has no placeholder, because it has a value for tests."
    }

    static func noTestValue(_ name: String) -> String { "Fugu: \(name) has no value for tests." }

    static func wrongTestValue(_ name: String, _ type: String, _ instance: String) -> String {
        "Fugu: \(name) is a feature of type \(instance), but its value for tests is of type \(type).\n"
            + "Fix: declare static func testValue(in container: any FeatureContainer) -> \(instance)."
    }

    static func unusedTestValue(_ key: Key, _ way: [Key]) -> String {
        "Fugu: \(key.name) was loaded for real, since its testValue isn't used.\(pathLine(way.map(\.name)))Fix: declare it as static func "
            + "testValue(in container: any FeatureContainer)."
    }

    static func forgottenExternal(_ key: Key, _ variable: String, _ way: [Key]) -> String {
        let name = key.codeName
        return
            "Fugu: \(key.name) was loaded for real, since it isn't External, so its static \(variable) isn't used."
            + "\(pathLine(way.map(\.name)))Fix: conform \(name) to External, so that tests that don't set it fail; or, if it doesn't "
            + "reach outside the process, rename the variable."
    }

    static func unimplemented(_ endpoint: String) -> String {
        // It's no closure of a double.
        if endpoint == "date.now" {
            return
                "Fugu: \(endpoint) was read, but nothing has set the date.\nFix: set it first: $0.date.now = … /* or, for all doubles, "
                + "$0.useStandardDoubles() */"
        }
        return "Fugu: \(endpoint) was called, but it isn't implemented.\nFix: give the double a closure for it."
    }

    static func unimplementedInPreview(_ endpoint: String) -> String {
        "Fugu: \(endpoint) was called in a preview, but it isn't implemented.\nFix: declare static var preview with a closure for "
            + "it."
    }

    static func readAfterEnd(_ way: [Key]) -> String {
        "Fugu: \(way[way.count - 1].name) was read after its container was released, so it gave its default."
            + "\(pathLine(way.map(\.name)))Fix: keep the Container as long as "
            + "features that captured it are used."
    }

    /// A change that comes after the release of its container; that of a key has the path to it.
    enum LateChange { case key([Key]), supplier, attachment(String), closer }

    static func changeAfterEnd(_ change: LateChange) -> String {
        let (what, way) =
            switch change {
            case .key(let way): ("\(way[way.count - 1].name) was changed after its", pathLine(way.map(\.name)))
            case .supplier: ("sources were applied after their", "\n")
            case .attachment(let change): ("\(change) after its", "\n")
            case .closer: ("a teardown closure was added after its", "\n")
            }
        return "Fugu: \(what) container was released; nothing happens.\(way)Fix: keep the Container as long as "
            + "features that captured it are used."
    }

    /// `input`: What the container sets, so that an instance above isn't its own.
    static func notLoaded(_ way: [Key], because input: Key?) -> String {
        let key = way[way.count - 1]
        let (why, place) =
            if let input { (" for a container that sets \(input.name), from which it's made", "") } else {
                ("", ", or above if this one sets nothing that it's made from")
            }
        let path = way.map(\.name) + (input.map { [$0.name] } ?? [])
        return
            "Fugu: there is no loaded instance of \(key.name)\(why).\(pathLine(path))Fix: load it in this container, with "
            + "try await container.warmUp { $0.load(\(key.codeName).self) }\(place); or set it, with "
            + "container.set(\(key.codeName).self, to: …)."
    }

    static func loadedAfterClosing(_ way: [Key]) -> String {
        let name = way.last?.name ?? "?"
        return
            "Fugu: \(name) was loaded through a container after close() was called on it, or on one above."
            + "\(pathLine(way.map(\.name)))Fix: read \(name) before close(), such as in the load of what needs it in its teardown "
            + "closure, or use a container that is still open."
    }

    static func writeInLoad(of loading: Key, _ written: Key?) -> String {
        let what = written?.name ?? "values"
        return "Fugu: \(loading.name) changes \(what) while it loads, when its container can only be read.\n"
            + "Fix: change \(what) before the load, or later through the container that was kept."
    }

    static func homeUnset(_ key: Key, _ home: [Key]) -> String {
        let names = home.map(\.name)
        let either = names.joined(separator: " or ")
        return
            "Fugu: \(key.name) was read in a child container and has the home .with(\(names.joined(separator: ", "))), but neither that "
            + "child nor a container above it sets \(either), so it lives in the root, and all who don't set it share one.\nFix: set "
            + "\(either) in the child; or in the root, if they are meant to share one."
    }

    static func madeAgain(_ key: Key, _ way: [Key], in container: String) -> String {
        let names = way.map(\.name)
        let isValueKey = key.isValueKey
        let shared = isValueKey ? "pass `home: .shared` to the key" : "declare `static var home: Home { .shared }`"
        let (local, with) = isValueKey ? (".local", ".with(…)") : ("{ .local }", "{ .with(…) }")
        return
            "Fugu: \(key.name) loads again for a child container that overrides \(names.last ?? "something"), \(container). This can be "
            + "expensive, because it reaches outside the process or registers teardown closures.\nPath: \(self.way(names))\n"
            + "Fix: \(shared) for one instance in all, and let it read nothing that children set; `\(local)` for one "
            + "in each child; or `\(with)` for one where a key is set."
    }

    static func openedAgain(_ key: Key, _ home: [Key], in container: String) -> String {
        let names = home.map(\.name).joined(separator: " and ")
        return
            "Fugu: \(key.name) lives where \(names) \(home.count == 1 ? "is" : "are") set, and one container after the other sets that to "
            + "an equal value, so it's opened again for each, as in \(container). This can be expensive, because it reaches outside the "
            + "process or registers teardown closures.\nPath: \(key.name) → \(names)\nFix: set \(names) once, in a container that these "
            + "have in common, such as one of children(by:)."
    }

    /// What code did to a key after an instance was made from it, and what it should have done before.
    typealias ChangeWords = (did: String, imperative: String)

    /// `way`: From the instance to the input that was set.
    ///
    /// `place`: Where the instance lives.
    ///
    /// `isHere`: Whether that's where the input was set.
    ///
    /// `isReplaced`: Whether a reset would remove what a replacement has given.
    static func kept(
        _ way: [Key], _ place: String, by change: ChangeWords, isHere: Bool, isReplaced: Bool
    ) -> String {
        let (name, input, key) = (way[0].name, way[way.count - 1].name, reference(to: way[0]))
        let declares =
            way[0].isValueKey
            ? "passes `reloadsWhenInputsChange: true` to its key"
            : "declares `static var reloadsWhenInputsChange: Bool { true }`"
        let reset =
            isReplaced
            ? ""
            : isHere
                ? ", or reset it with the change: update { …; $0.reset(\(key)) }"
                : ", or first call reset(\(key))\(place)"
        return
            "Fugu: \(input) was \(change.did), and \(name), which was loaded\(place) before, keeps the old value.\nPath: "
            + "\(self.way(way.map(\.name), atMost: 8))\nFix: \(change.imperative) \(input) before \(name) is loaded\(reset). "
            + "An instance that should follow its inputs \(declares)."
    }

    /// `way`: From the instance to the setting.
    static func keptAtReload(_ way: [Key], _ place: String) -> String {
        let (key, input) = (way[0], way[way.count - 1])
        let declares =
            key.isValueKey
            ? "pass `reloadsWhenInputsChange: true` to its key"
            : "declare `static var reloadsWhenInputsChange: Bool { true }`"
        return
            "Fugu: a source changed \(input.name), and \(key.name), which was loaded\(place) before, keeps the old value.\nPath: "
            + "\(self.way(way.map(\.name), atMost: 8))\nFix: to let \(key.name) follow, \(declares), or call "
            + "reset(\(reference(to: key))) after the reload. If the change needs a restart, say so by what reload() returns."
    }

    /// `other`: The root that the program uses.
    static func fellBack(_ other: String) -> String {
        "Fugu: Container.current was read where no container is bound, so it gives "
            + "Container.shared, in which nothing is set, while the program uses \(other).\nFix: configure Container.shared when the "
            + "program starts, and use it in place of that container; or bind that one: Container.with(container) { … }."
    }

    static func modifiesAgain(_ key: Key) -> String {
        "Fugu: modify of \(key.name) has called its body 1,000 times, and each time something had changed the value meanwhile.\nFix: "
            + "change the value that the body receives, rather than the key in the container; or do the slow part before."
    }

    static func changeAfterRule(of key: Key) -> String {
        "Fugu: \(key.name) was set through the container of a rule after the rule had run; nothing happens.\nFix: set it while "
            + "the rule runs, or set it in the scope itself."
    }

    /// `name`: That of the container.
    static func neverClosed(
        _ keys: [Key?], _ name: String, _ origin: (way: ContainerOrigin, place: SourcePlace)?
    ) -> String {
        let names = keys.map { $0?.name ?? closedName }.sorted()
        let first =
            names.prefix(20).joined(separator: ", ") + (names.count > 20 ? ", and \(names.count - 20) more" : "")
        let fix =
            switch origin?.way {
            case .with: "call withChild in place of with: it closes the container at the end of the operation."
            case .keyed(let fix?): fix
            default: "call close() before you release the container."
            }
        let made = origin?.place.outsideLibrary.map { " (made at \($0))" } ?? ""
        return
            "Fugu: \(name)\(made) was released without close(), so teardown closures of these never ran: \(first).\nFix: \(fix)"
    }

    static let closerAfterClosing =
        "Fugu: a teardown closure was added to a container after close(), so only another close() runs it.\nFix: call onClose "
        + "before close(), or close the container again."

    /// The name of a container in messages about its closing.
    static let closedName = "the container itself"

    /// Returns the text of an error that is an element of a list, whose later lines stand below its first.
    @inline(never) private static func indented(_ error: any Error) -> String {
        "\(error)".reduce(into: "") { $0 += $1 == "\n" ? "\n    " : String($1) }
    }

    static let requiredFix = "set it in this container, or in one above, before it's read."

    /// `fixed`: The innermost feature on the way that declares its home.
    static func requiredIsMissing(_ key: Key?, _ way: [Key], in fixed: Key?, _ fix: String) -> String {
        let name = key?.naming?.name ?? key?.name ?? "a property"
        let hint = fixed.map { " \($0.name) declares its home, so it sees nothing that's set below that." } ?? ""
        return
            "Fugu: \(name) is required, and nothing gives a value for it.\(hint)\(pathLine(way.map(\.name)))"
            + "Fix: \(fix)"
    }

    static func warmUpFailed(_ failures: [WarmUpError.Failure]) -> String {
        let lines = failures.map { "\n  \(way($0.path)): \(indented($0.error))" }.joined()
        return "Fugu: \(failures.count) feature\(failures.count == 1 ? "" : "s") couldn't be loaded:" + lines
    }

    static func closeFailed(_ failures: [CloseError.Failure]) -> String {
        let lines = failures.map { "\n  \($0.name): \(indented($0.error))" }.joined()
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

    static func closingWaitsForItself(_ feature: String?, _ caller: CloseError.Caller) -> String {
        let caller = "\(caller.rawValue) of \(feature ?? closedName)"
        return
            "Fugu: \(caller) waits for close() of a container which in turn waits for it.\nFix: call close() from outside, "
            + "for example at the program's end; a teardown closure only ends what its own feature opened."
    }

    static func closerFailed(of key: Key, _ error: any Error) -> String {
        "Fugu: a teardown closure of a former instance of \(key.name) failed: \(error)"
    }

    static func reloadFailed(of key: Key, _ error: any Error) -> String {
        "Fugu: \(key.name) failed to reload after an input changed: \(error). It loads at its next read."
    }

    static func notReloaded(_ key: Key, without input: Key) -> String {
        "Fugu: \(key.name) wasn't loaded again for its observers after an input changed, because \(input.name), which it reads "
            + "with loaded(_:), isn't loaded anymore.\nPath: \(way([key.name, input.name]))\nFix: warm up \(input.name) after the "
            + "change, and then read \(key.name)."
    }

    static func changesItsInputs(_ key: Key) -> String {
        "Fugu: \(key.name) was loaded for its observers ten times in a row, and each time an input changed before the load ended. They "
            + "wait for the next change.\nFix: if the load itself sets what it reads, let it only read, and set those values elsewhere."
    }

    static func changesWithoutEnd(_ key: Key) -> String {
        "Fugu: observers, such as those of \(key.name), have been called for 10,000 changes in a row, and there are more.\nFix: if they "
            + "set what they observe, let them set a value only if it's different, or set it where it changes first. What other "
            + "threads set this often is better read with values(of:), which skips to the newest value."
    }

    static func keyOfFunction(_ descriptor: some ValueKeyDescriptor) -> String {
        let place = descriptor.place
        return
            "Fugu: \(place.member) makes a key without an id at \(place.fileID):\(place.line), so it would be one key "
            + "for all arguments.\nFix: give it an id: \(descriptor.typeName)(…, id: …). If each member that calls it is a key, give it "
            + "the parameters member: StaticString = #function, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = "
            + "#column instead, and pass them on."
    }
}
