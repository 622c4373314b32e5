// This example teaches configuration: a service with 26 settings, from files, the environment, and arguments, which are
// validated and printed with their origins.
//
// Run it with `swift run LayeredSettings FILE… [--name value …] [--validate]`, or without arguments to see its help, five
// mistakes, and the origins of all values.
import Foundation
import FuguConfiguration

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.isEmpty {
    try Tour.run()
} else {
    exit(Program(arguments: arguments, environment: EnvironmentSource.current).run())
}
