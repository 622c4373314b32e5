import Fugu

/// The messages of this module, as functions that tests read.
enum Messages {
    static let evictAllFirst =
        "call evictAll() before you release the children by key: it closes their containers."

    static func scopeNeedsItself(_ path: String) -> String {
        "Fugu: a rule for scope \(path) reads that scope while it is being configured.\nFix: read from the container that the rule "
            + "receives: it has what earlier rules set and what the scope's parent has."
    }

    static func ruleChangesRules(_ path: String) -> String {
        "Fugu: a rule for scope \(path) adds rules or invalidates scopes, which would configure that scope again without "
            + "end.\nFix: add rules before scopes are read, and set values through the container that the rule receives."
    }

    static func evictionFailed(of key: Key, _ error: any Error) -> String {
        "Fugu: closing the child of a value of \(key.name) failed: \(error)"
    }

    static func unequalToItself(valueOf key: Key) -> String {
        "Fugu: a value of \(key.name) doesn't equal itself, so its child couldn't be found again.\nFix: pass a value that equals "
            + "itself to withChild(for:operation:); Double.nan, for example, never does."
    }
}
