// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "Journal",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Fugu", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .executableTarget(
            name: "Journal",
            dependencies: [
                .product(name: "Fugu", package: "Fugu"),
                .product(name: "FuguFoundation", package: "Fugu"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "JournalTests",
            dependencies: ["Journal", .product(name: "FuguTesting", package: "Fugu")],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
