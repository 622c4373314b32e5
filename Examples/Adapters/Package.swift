// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let fugu = Target.Dependency.product(name: "Fugu", package: "Fugu")
let fuguConfiguration = Target.Dependency.product(name: "FuguConfiguration", package: "Fugu")
let fuguInspection = Target.Dependency.product(name: "FuguInspection", package: "Fugu")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

// `Scripts/forgotten` compiles these, once with the responder and once without it.
let forgotten = Context.environment["ADAPTERS_CASE"].map { name in
    Target.executableTarget(
        name: "Forgotten",
        dependencies: ["HummingbirdAdapter", fugu, .product(name: "Hummingbird", package: "hummingbird")],
        path: "Tests/Forgotten", swiftSettings: settings + [.define(name)])
}

// One small target for each library that is adapted, so that a program builds only what it uses.
let package = Package(
    name: "Adapters",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "HummingbirdAdapter", targets: ["HummingbirdAdapter"]),
        .library(name: "LifecycleAdapter", targets: ["LifecycleAdapter"]),
        .library(name: "LoggingAdapter", targets: ["LoggingAdapter"]),
        .library(name: "EventsAdapter", targets: ["EventsAdapter"]),
        .library(name: "ConfigurationAdapter", targets: ["ConfigurationAdapter"]),
        .library(name: "ArgumentParserAdapter", targets: ["ArgumentParserAdapter"]),
        .library(name: "YamlAdapter", targets: ["YamlAdapter"]),
        .library(name: "LoopbackClient", targets: ["LoopbackClient"]),
    ],
    dependencies: [
        .package(name: "Fugu", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        .target(
            name: "HummingbirdAdapter",
            dependencies: [
                fugu, logging, .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .target(
            name: "LifecycleAdapter",
            dependencies: [
                fugu, fuguConfiguration, logging,
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .target(name: "LoggingAdapter", dependencies: [fugu, fuguConfiguration, logging], swiftSettings: settings),
        .target(
            name: "EventsAdapter",
            dependencies: [
                fugu, fuguInspection, logging, .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings),
        .target(
            name: "ConfigurationAdapter",
            dependencies: [fugu, fuguConfiguration, .product(name: "Configuration", package: "swift-configuration")],
            swiftSettings: settings),
        .target(
            name: "ArgumentParserAdapter",
            dependencies: [
                fugu, fuguConfiguration, .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),
        .target(
            name: "YamlAdapter",
            dependencies: [fuguConfiguration, .product(name: "Yams", package: "Yams")],
            swiftSettings: settings),
        .target(
            name: "LoopbackClient",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AdaptersTests",
            dependencies: [
                "HummingbirdAdapter", "LifecycleAdapter", "LoggingAdapter", "EventsAdapter", "ConfigurationAdapter",
                "ArgumentParserAdapter", "YamlAdapter", "LoopbackClient", fugu, fuguConfiguration,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "FuguTesting", package: "Fugu"),
                .product(name: "ConfigurationTesting", package: "swift-configuration"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
    ] + (forgotten.map { [$0] } ?? []),
    swiftLanguageModes: [.v6]
)
