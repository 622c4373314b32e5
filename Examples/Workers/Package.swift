// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "Workers",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Fugu", path: "../.."),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.4"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(
            name: "Pipeline",
            dependencies: [
                .product(name: "Fugu", package: "Fugu"),
                .product(name: "FuguFoundation", package: "Fugu"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "Workers",
            dependencies: ["Pipeline", .product(name: "UnixSignals", package: "swift-service-lifecycle")],
            swiftSettings: settings),
        .testTarget(
            name: "PipelineTests",
            dependencies: ["Pipeline", .product(name: "FuguTesting", package: "Fugu")],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
