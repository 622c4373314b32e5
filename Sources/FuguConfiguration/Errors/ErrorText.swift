import Fugu

/// The texts of all errors and reports of this module, except syntax errors, which are in `SyntaxProblem.swift`.
///
/// Text from a source or a user comes in only as a parameter, and passes through ``Quoted``.
enum ErrorText {
    // MARK: Tests

    /// `prefix`: That of the variables, with its `_`.
    static func variablesOfProcess(_ prefix: String) -> String {
        let given = prefix.isEmpty ? "" : "prefix: \"\(prefix.dropLast())\", "
        return
            "Fugu: the test applies an EnvironmentSource with the variables of this process, so it depends on the machine.\nFix: pass "
            + "those that it needs: EnvironmentSource(\(given)environment: [\"\(prefix)PORT\": \"80\"]). If the program applies it, give "
            + "that function a parameter to pass on: environment: [String: String] = EnvironmentSource.current."
    }

    static let argumentsOfProcess =
        "Fugu: the test applies an ArgumentsSource with the arguments of this process, so it depends on how it's run.\nFix: pass those "
        + "that it needs: ArgumentsSource([\"--port\", \"80\"]). If the program applies it, give that function a parameter to pass on: "
        + "arguments: [String] = CommandLine.arguments."

    // MARK: Reloads

    static let nothingChanged = "Nothing changed."

    static func changed(_ names: [String], kept: [(feature: String, names: [String])]) -> String {
        func list(_ names: [String]) -> String {
            GraphWords.list(names.map { $0.split(separator: ".").map { Quoted.name("\($0)") }.joined(separator: ".") })
        }
        let keeps = kept.map { " \($0.feature) keeps the old \(list($0.names))." }
        return "Changed: \(list(names))." + keeps.joined()
    }

    // MARK: Values

    static let nestedTooDeep = "nested deeper than \(NodeStore.depthLimit) levels"
    static let decodableDepth = "at most \(LocatedValue.depthLimit) nested levels"

    /// How to give the value of a required key.
    static let requiredFix =
        "set it, or apply a source that has it. A program can learn of everything that is missing or wrong when it starts; for "
        + "that, declare the key, container.declare(\\.…), and call validate()."

    static let notText = "bytes that aren't UTF-8 text"
    static let wordsOfText = "words of UTF-8 text"
    static let bytesNotText = "the bytes aren't UTF-8 text"

    static func mismatch(expected: String, found: String) -> String { "expected \(expected), found \(found)" }

    static func missing(expected: String, similar: String?) -> String {
        "missing; expected \(expected)"
            + (similar.map { "; there's a similar name, \(Quoted.name($0))" } ?? "")
    }

    static func masked(expected: String?) -> String {
        expected.map { "expected \($0), found something else" } ?? "the value is invalid"
    }

    static func oneOf(_ cases: [String]) -> String { "one of \(cases.joined(separator: ", "))" }

    static func needsValue(_ spelling: String, expected: String) -> String {
        "needs a value; expected \(expected), as in \(spelling)=…"
    }

    static let strictBoolean = "Bool (true or false)"

    /// For an argument, whose text may be a word that isn't meant for it.
    static func booleanArgument(_ spelling: String) -> String {
        "Bool (true or false; if the word isn't meant for \(spelling), write \(spelling)=true)"
    }

    static let url = "URL (percent-encode spaces and the like, as in a%20b)"

    static let noLocaleData = " (this program has no data of locales; let it import Foundation)"

    static let listInText = "an array, written a,b or as JSON, [\"a\",\"b\"]"
    static let emptyElement = "an array without empty elements; one is written as JSON, [\"a\",\"\"]"
    static let tableInText = "a table, written as JSON, {\"name\": 1}"

    /// - `problem`: The first mistake in the text.
    /// - `quotesText`: Whether the mistake may quote a character of the text.
    static func json(_ expected: String, _ problem: PropertyError, quotesText: Bool) -> String {
        let place = "line \(problem.line ?? 1), column \(problem.column ?? 1)"
        return "\(expected) (\(quotesText ? "\(place): \(problem.reason)" : "there's a mistake at \(place)"))"
    }

    static func leadingZero(_ type: String) -> String {
        "\(type) without a leading zero (an octal number begins with 0o)"
    }

    /// For the names of a table that are decoded as the keys of a dictionary.
    static func wrongName(expected: String) -> String { "the name must be \(expected)" }

    static func sameKey(as other: String) -> String {
        "the name is the same key as \(Quoted.string(other, limit: 40)); remove one of them"
    }

    static let noElements = "the array has no elements"

    static func updateInUpdate(_ source: String) -> String {
        "Fugu: the update of the source \(source) changes the source itself. Change the values that its closure receives."
    }

    // MARK: Names

    static func foreignKey(_ type: String) -> String {
        "Fugu: \(type) conforms to ConfigurationKey, which only PropertyKey can. Pass a PropertyKey."
    }

    static func unknownName(suggestion: String?) -> String {
        "unknown name" + (suggestion.map { "; did you mean \($0)?" } ?? "")
    }

    /// - `name`: The element's list.
    /// - `whole`: The spelling of the list.
    static func element(of name: String, whole: String) -> String {
        "\(name) is a list, which is given as a whole, in JSON: \(whole)='[…, …]'"
    }

    /// - `patterns`: Patterns for the names of all variables of the service.
    static func serviceLink(_ patterns: [String]) -> String {
        "unknown name; Kubernetes sets it, and others, for a service: set enableServiceLinks: false for the pod, or let the program "
            + "ignore them with \(ignoring(patterns))"
    }

    private static func ignoring(_ patterns: [String]) -> String {
        "ignoringNames(\(patterns.map { Quoted.string($0) }.joined(separator: ", ")))"
    }

    static func unknownFile(_ name: String) -> String {
        "no key has this name; if the file is for another program, ignore it: \(ignoring([name]))"
    }

    static func fileOfFormat(source: String) -> String {
        "a folder has one value in each file; to read this one, apply \(source)(path:)"
    }

    static func folderInside(_ name: String) -> String {
        "folders in a folder aren't read; apply FolderSource(path:) for it, or ignore it: \(ignoring([name]))"
    }

    /// Returns the names with "or" between them, or `nil` if there are none.
    static func alternatives(_ names: [String]) -> String? {
        guard names.count > 2 else { return names.isEmpty ? nil : names.joined(separator: " or ") }
        return names.dropLast().joined(separator: ", ") + ", or " + names.last!
    }

    static func more(_ count: Int) -> String { count == 1 ? "and one more error" : "and \(count) more errors" }

    static func expectedTable(members: [String], found: String) -> String {
        let shown = members.prefix(4).joined(separator: ", ") + (members.count > 4 ? ", …" : "")
        return mismatch(expected: "a table (\(shown))", found: found)
    }

    static func declaredTwice(_ first: (type: String, place: String), _ second: (type: String, place: String)) -> String
    {
        "declared as \(first.type) (\(first.place)) and as \(second.type) (\(second.place)); a name has one type"
    }

    static func twoDefaults(_ first: (text: String, place: String), _ second: (text: String, place: String)) -> String {
        "has two defaults, \(first.text) (\(first.place)) and \(second.text) (\(second.place)); whoever reads first decides"
    }

    static func twoForms(_ first: (text: String, place: String), _ second: (text: String, place: String)) -> String {
        "has two forms, \(first.text) (\(first.place)) and \(second.text) (\(second.place)); whoever reads first decides"
    }

    /// `secret`, `open`: The places of the declarations.
    static func secretAndOpen(secret: String, open: String) -> String {
        "is a secret (\(secret)), but isn't declared as one (\(open)); declare both with isSecret: true"
    }

    static func sameSpelling(as other: String, variable: String, argument: String) -> String {
        "has the same variable and argument as \(other), \(variable) and \(argument); rename one of them"
    }

    static let unknownMember = "the table contains a name that its type doesn't have"

    static func lostMember(hiddenAt place: String) -> String {
        "isn't used, because the table at \(place) replaces the whole table; write it there"
    }

    static func givenTwice(firstLine: Int?) -> String {
        "the name appears twice, dotted and nested" + (firstLine.map { "; the first is on line \($0)" } ?? "")
    }

    /// - `whole`: The spelling of the table.
    static func insideTable(_ table: String, whole: String) -> String {
        "nothing reads this name: \(table) is given as a whole, in a file or as JSON: \(whole)='{…}'"
    }

    static func swallowedByFlag(after spelling: String) -> String {
        "unknown name; if it's the value of \(spelling), write \(spelling)=…"
    }

    static func withoutDashes(meant: String?) -> String {
        "an argument begins with --" + (meant.map { "; did you mean \($0)?" } ?? "")
    }

    static func switchWithValue(_ name: String) -> String { "takes no value; write --\(name)=false" }

    static func notSwitch(_ name: String) -> String {
        "unknown name; only what is true or false can be switched off; did you mean --\(name)=…?"
    }

    static func sameSwitch(_ name: String, _ argument: String) -> String {
        "\(argument) switches \(name) off, too; rename one of them"
    }

    static let argumentWithoutName = "an argument that begins with --= has no name"

    // MARK: Sources

    static let notATableAtTop = "the top level of a configuration file must be an object"

    static func unreadable(_ problem: String) -> String { "can't be read: \(problem)" }

    static func unreadableNamed(_ problem: String) -> String { "the file that it names can't be read: \(problem)" }

    static let noPath = "expected the path of a file"

    static func givenTwice(at origin: PropertyOrigin) -> String {
        "the value is also given itself, by \(origin); remove one of them"
    }

    static let noSuchFile = "the file doesn't exist"
    static let noDirectory = "a component of the path isn't a directory"
    static let noPermission = "permission denied"
    static let isDirectory = "it's a directory"
    static let notFolder = "it isn't a directory"
    static let notRegular = "it's a pipe or a device, not a regular file"
    static let zeroInPath = "the path contains a null character"
    static let tooLargeFile = "it's larger than \(NodeStore.sizeLimit >> 20) MB"

    static let vanished =
        "has vanished since it was last read; to give up its values, leave an empty document there, {} in JSON"

    static func sameName(as other: String) -> String { "has the same name as \(other), spelled differently" }

    static func cycle(_ way: [String]) -> String {
        "an instance refers back to itself (\(way.joined(separator: " → "))); break the reference cycle or leave the member out"
    }

    static func notConfiguration(_ type: String) -> String {
        "\(type) can't be a configuration value; use numbers, strings, arrays, dictionaries, and structs of them"
    }

    static func integerOutOfRange(_ type: String) -> String { "the \(type) is out of range for Int128" }

    // MARK: Containers

    /// Returns the message for a required value that nothing provides.
    ///
    /// - `sources`: The sources that were searched.
    /// - `places`: The places where the value could be set, such as `APP_URL`.
    /// - `isEmpty`: Whether a source has an empty value.
    static func required(sources: [String], places: [String], isEmpty: Bool) -> String {
        guard !sources.isEmpty else {
            return "a value is required, but code doesn't set one, and no source is applied"
        }
        return "a value is required, but neither code nor \(sources.joined(separator: " nor ")) provides one"
            + (isEmpty ? " that isn't empty" : "") + (places.isEmpty ? "" : "; set " + places.joined(separator: " or "))
    }

    static let requiredIsNull = "a value is required, and this is null"

    static func source(_ snapshot: PropertySnapshot) -> String {
        Quoted.line(snapshot.source) + (snapshot.isMissing ? " (optional, missing)" : "")
    }

    /// - `place`: The new name where the value belongs.
    /// - `isUsed`: Whether the source doesn't have the new name, too.
    static func renamed(_ old: String, at origin: String, to place: String, isUsed: Bool) -> String {
        isUsed
            ? "Fugu: \(origin): \(Quoted.line(old)) is an old name; use \(place)."
            : "Fugu: \(origin): \(Quoted.line(old)) is an old name, and isn't used, since there's also \(place); remove it."
    }

    static func formerNameInUse(by name: String, at place: String) -> String {
        "is a name, and also an old name of \(name) (\(place)); one value would count for both"
    }

    static func restless(_ source: String, looks: Int) -> String {
        "Fugu: \(Quoted.line(source)) hasn't rested for the last \(looks) polls, so it isn't reloaded; its last good values stay "
            + "in effect until it rests."
    }

    static func notReloaded(_ errors: String) -> String {
        "Fugu: the sources changed but couldn't be reloaded; the last good values stay in effect:\n" + errors
    }
}
