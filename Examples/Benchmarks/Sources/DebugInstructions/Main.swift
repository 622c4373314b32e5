import Counting
import DebugRows

@main enum DebugInstructions {
    static func main() { perform(debugRows("debug")) }
}
