// This example teaches configuration: it layers files, the environment, and arguments, validates them, and prints each
// value with its origin.
//
// Run it with `swift run LayeredSettings FILE… [--name value …] [--validate]`.
import Foundation
import FuguConfiguration

exit(Program(arguments: Array(CommandLine.arguments.dropFirst()), environment: EnvironmentSource.current).run())
