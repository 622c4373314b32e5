// Layers configuration files, the environment and the arguments, and tells every effective value and where it came
// from: `swift run Config FILE… [--name value …] [--validate]`.
import Foundation
import FuguConfiguration

exit(Program(arguments: Array(CommandLine.arguments.dropFirst()), environment: EnvironmentSource.current).run())
