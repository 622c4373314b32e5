import Counting
import DebugRows
// Makes roots strict.
import FuguTesting

@main enum StrictInstructions {
    static func main() { perform(debugRows("strict")) }
}
