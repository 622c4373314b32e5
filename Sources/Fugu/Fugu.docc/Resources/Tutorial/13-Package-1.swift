// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Ferry",
    platforms: [.macOS(.v15)],
    dependencies: [.package(path: "../Fugu")],
    targets: [
        .executableTarget(
            name: "Ferry",
            dependencies: [.product(name: "Fugu", package: "Fugu")]),
        .testTarget(
            name: "FerryTests",
            dependencies: ["Ferry", .product(name: "FuguTesting", package: "Fugu")]),
    ]
)
