import Foundation
import Inspector
import Logging
import ServiceLifecycle
import UnixSignals

// swift run Demo [port]: a program that loads, fails and overrides for as long as it runs, to be looked at.
let port = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 8080
let office = Office()
let inspector = Inspector(office.container)
print("http://127.0.0.1:\(port)/")
try await ServiceGroup(
    services: [inspector.service(port: port), office], gracefulShutdownSignals: [.sigint, .sigterm],
    logger: Logger(label: "demo")
).run()
