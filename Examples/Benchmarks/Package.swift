// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Fugu", path: "../.."),
        // Without its traits, which count allocations by replacing malloc; only times are measured here.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-service-context", from: "1.5.1"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    ],
    targets: [
        .target(name: "CHeap"),
        .target(
            name: "OtherModule", dependencies: [.product(name: "Fugu", package: "Fugu")], swiftSettings: settings),
        .target(
            name: "Workloads",
            dependencies: [
                "CHeap", "OtherModule",
                .product(name: "Fugu", package: "Fugu"),
                .product(name: "ServiceContextModule", package: "swift-service-context"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(name: "Ratios", dependencies: ["Workloads"], swiftSettings: settings),
        .executableTarget(
            name: "Growth",
            dependencies: [
                "CHeap", .product(name: "Fugu", package: "Fugu"), .product(name: "FuguConfiguration", package: "Fugu"),
                .product(name: "FuguScopes", package: "Fugu"),
            ],
            swiftSettings: settings),
        .target(name: "Counting", swiftSettings: settings),
        .executableTarget(
            name: "Instructions", dependencies: ["Counting", .product(name: "Fugu", package: "Fugu")],
            swiftSettings: settings),
        .target(
            name: "DebugRows", dependencies: ["Counting", .product(name: "Fugu", package: "Fugu")],
            swiftSettings: settings),
        .executableTarget(name: "DebugInstructions", dependencies: ["DebugRows"], swiftSettings: settings),
        .executableTarget(
            name: "StrictInstructions", dependencies: ["DebugRows", .product(name: "FuguTesting", package: "Fugu")],
            swiftSettings: settings),
        .executableTarget(
            name: "SourceInstructions",
            dependencies: [
                "Counting", .product(name: "Fugu", package: "Fugu"),
                .product(name: "FuguConfiguration", package: "Fugu"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "ConfigurationSpeed",
            dependencies: [
                .product(name: "Fugu", package: "Fugu"), .product(name: "FuguConfiguration", package: "Fugu"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "Endurance",
            dependencies: [
                "CHeap", .product(name: "Fugu", package: "Fugu"),
                .product(name: "FuguConfiguration", package: "Fugu"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "Costs",
            dependencies: ["Workloads", .product(name: "Benchmark", package: "benchmark")],
            path: "Benchmarks/Costs",
            swiftSettings: settings,
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
