// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "StrictPackage",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Fugu", path: "../../..")],
    targets: [
        .target(name: "Weather", dependencies: [.product(name: "Fugu", package: "Fugu")]),
        .target(name: "Early"),
        .executableTarget(name: "Tool", dependencies: ["Weather"]),
        // Neither imports FuguTesting; the process has it, since another target asks for it.
        .testTarget(name: "PlainTests", dependencies: ["Weather"]),
        .testTarget(name: "OldTests", dependencies: ["Weather", .product(name: "FuguTesting", package: "Fugu")]),
        .testTarget(
            name: "TraitTests", dependencies: ["Weather", "Early", .product(name: "FuguTesting", package: "Fugu")]),
    ],
    swiftLanguageModes: [.v6]
)
