import Fugu

/// The messages of this module, as functions that tests read.
enum Messages {
    static func evictionFailed(of key: Key, _ error: any Error) -> String {
        "Fugu: closing the child of a value of \(key.name) failed: \(error)"
    }

    static func unequalToItself(valueOf key: Key) -> String {
        "Fugu: a value of \(key.name) doesn't equal itself, so its child couldn't be found again.\nFix: pass a value that equals "
            + "itself to withChild(for:operation:); Double.nan, for example, never does."
    }
}
