// A small real program: a journal in a file. `swift run Journal` prints how it is used.
import Foundation
import Fugu

exit(Program(container: .shared).run())
