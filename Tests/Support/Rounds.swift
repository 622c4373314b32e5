import Foundation

/// How often a test repeats what it does: `all` where `FUGU_THOROUGH` is set, as in the steps `release`, `optimized`, `address`,
/// and `thread-…` of `.ci/run`, and `few` in a plain `swift test`, which somebody waits for.
package func rounds(_ all: Int, few: Int) -> Int {
    ProcessInfo.processInfo.environment["FUGU_THOROUGH"] == nil ? few : all
}
