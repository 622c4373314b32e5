// A small real program: a journal in a file. `swift run Journal --help` prints how it is used.
import Dispatch
import Foundation
import Fugu

let work = Task { await Program(container: .shared).run(Array(CommandLine.arguments.dropFirst())) }

// Ctrl-C ends the work in order; a second one ends the program at once.
signal(SIGINT, SIG_IGN)
let interrupts = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
interrupts.setEventHandler {
    signal(SIGINT, SIG_DFL)
    work.cancel()
}
interrupts.resume()

exit(await work.value)
