/// The texts of all errors and reports of this module, except syntax errors, which are in `SyntaxText.swift`.
///
/// Text from a source or a user comes in only as a parameter, and passes through ``Quoted``.
enum ErrorText {
    // MARK: Tests

    /// `prefix`: That of the variables, with its `_`.
    static func variablesOfProcess(_ prefix: String) -> String {
        let given = prefix.isEmpty ? "" : "prefix: \"\(prefix.dropLast())\", "
        return
            "Fugu: the test applies an EnvironmentSource with the variables of this process, so it depends on the machine.\nFix: pass "
            + "those that it needs: EnvironmentSource(\(given)environment: [\"\(prefix)PORT\": \"80\"])."
    }

    static let argumentsOfProcess =
        "Fugu: the test applies an ArgumentsSource with the arguments of this process, so it depends on how it's run.\nFix: pass those "
        + "that it needs: ArgumentsSource([\"--port\", \"80\"])."

    // MARK: Values

    static let nestedTooDeep = "nested deeper than \(NodeStore.depthLimit) levels"
    static let noStackLeft = "nested too deeply for the remaining stack of this thread"

    static func mismatch(expected: String, found: String) -> String { "expected \(expected), found \(found)" }

    static func missing(expected: String, similar: String?) -> String {
        "missing; expected \(expected)"
            + (similar.map { "; there's a similar name, \(Quoted.name($0))" } ?? "")
    }

    static func masked(expected: String?) -> String {
        expected.map { "expected \($0), found something else" } ?? "the value is invalid"
    }

    static func oneCase(of type: String) -> String { "one case of \(type)" }

    static func given(times: Int) -> String { "\(times) values, because the argument occurs \(times) times" }

    static func needsValue(_ spelling: String, expected: String) -> String {
        "needs a value; expected \(expected), as in \(spelling)=…"
    }

    static func arrayInOneWord(_ spelling: String) -> String {
        "an array in one word, as in \(spelling)=a,b, because words follow an option behind it"
    }

    static let strictBoolean = "Bool (true or false; a key with form: .anyBoolean takes yes, on, and 1, too)"

    /// For an argument, whose text may be a word that isn't meant for it.
    static func booleanArgument(_ spelling: String) -> String {
        "Bool (true or false; if the word isn't meant for \(spelling), write \(spelling)=true)"
    }

    static let url = "URL (percent-encode spaces and the like, as in a%20b)"

    static let listInText = "an array, written a,b or as JSON, [\"a\",\"b\"]"

    static let noElements = "the array has no elements"

    static func noSuchDay(_ year: Int, _ month: Int, _ day: Int) -> String {
        "Fugu: the date \(year)-\(month)-\(day) doesn't exist. For text that can be wrong, use LocalDate(_:)."
    }

    static func noSuchTime(_ hour: Int, _ minute: Int, _ second: Int, _ nanosecond: Int) -> String {
        "Fugu: the time \(hour):\(minute):\(second) and \(nanosecond) ns doesn't exist. For text that can be wrong, use "
            + "LocalTime(_:)."
    }

    static func noSuchOffset(_ minutes: Int) -> String {
        "Fugu: the offset of \(minutes) minutes from UTC doesn't exist: it must be less than a day."
    }

    // MARK: Names

    static func foreignKey(_ type: String) -> String {
        "Fugu: \(type) conforms to ConfigurationKey, which only PropertyKey can. Pass a PropertyKey."
    }

    /// - `isMember`: Whether a table's type would have the name, not a key.
    static func unknownName(suggestion: String?, isMember: Bool = false) -> String {
        let advice = isMember ? "" : "; if the program has such a key, declare it: container.declare(\\.…)"
        return "unknown name" + (suggestion.map { "; did you mean \($0)?" } ?? advice)
    }

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

    /// - `canMerge`: Whether both tables are of one container, so that the key could merge them.
    static func lostMember(hiddenAt place: String, canMerge: Bool) -> String {
        canMerge
            ? "isn't used, because the table at \(place) replaces the whole table; write it there, or merge the tables with form: "
                + ".merged"
            : "isn't used, because the table at \(place) replaces the whole table; write it there"
    }

    static func givenTwice(firstLine: Int?) -> String {
        "the name appears twice, dotted and nested" + (firstLine.map { "; the first is on line \($0)" } ?? "")
    }

    /// - `canMerge`: Whether its members have names that the key could read one by one.
    static func insideTable(_ table: String, canMerge: Bool) -> String {
        "nothing reads this name: \(table) is read as a whole table, which only a file can provide; set it there, "
            + "\(canMerge ? "give \(table) the form: .merged, " : "")or declare a key for it"
    }

    static func swallowedByFlag(after spelling: String) -> String {
        "unknown name; if it's the value of \(spelling), write \(spelling)=…"
    }

    static func withoutDashes(meant: String?) -> String {
        "an argument begins with --" + (meant.map { "; did you mean \($0)?" } ?? "")
    }

    static let argumentWithoutName = "an argument that begins with --= has no name"

    // MARK: Sources

    static let notATableAtTop = "the top level of a configuration file must be an object"

    static func unreadable(_ problem: String) -> String { "can't be read: \(problem)" }

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

    static func integerOutOfRange(_ type: String) -> String { "the \(type) is out of range for Int64" }

    // MARK: Containers

    /// Returns the message for a required value that nothing provides.
    ///
    /// - `sources`: The sources that were searched.
    /// - `places`: The places where the value could be set, such as `APP_URL`.
    static func required(sources: [String], places: [String]) -> String {
        guard !sources.isEmpty else {
            return "a value is required, but code doesn't set one, and no source is applied"
        }
        return "a value is required, but neither code nor \(sources.joined(separator: " nor ")) provides one"
            + (places.isEmpty ? "" : "; set " + places.joined(separator: " or "))
    }

    static let requiredIsNull = "a value is required, and this is null"

    static func source(_ snapshot: PropertySnapshot) -> String {
        Quoted.line(snapshot.source) + (snapshot.isMissing ? " (optional, missing)" : "")
    }

    static func restless(_ source: String, looks: Int) -> String {
        "Fugu: \(Quoted.line(source)) hasn't rested for the last \(looks) polls, so it isn't reloaded; its last good values stay "
            + "in effect until it rests."
    }

    static func notReloaded(_ errors: String) -> String {
        "Fugu: the sources changed but couldn't be reloaded; the last good values stay in effect:\n" + errors
    }
}
