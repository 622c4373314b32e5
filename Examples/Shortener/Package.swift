// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

let package = Package(
    name: "Shortener",
    platforms: [.macOS(.v15)],
    // swift run --traits PostgreSQL Shortener --database-url postgres://…; it needs Debian's package libpq-dev, or Homebrew's libpq.
    traits: [.trait(name: "PostgreSQL", description: "Keeps links on a PostgreSQL server, too.")],
    dependencies: [
        .package(name: "Fugu", path: "../.."),
        .package(path: "../Adapters"),
        .package(path: "../Inspector"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .target(
            name: "ShortenerServer",
            dependencies: [
                .target(name: "CPostgres", condition: .when(traits: ["PostgreSQL"])),
                .product(name: "Fugu", package: "Fugu"),
                .product(name: "FuguConfiguration", package: "Fugu"),
                .product(name: "FuguFoundation", package: "Fugu"),
                .product(name: "FuguScopes", package: "Fugu"),
                .product(name: "HummingbirdAdapter", package: "Adapters"),
                .product(name: "LifecycleAdapter", package: "Adapters"),
                .product(name: "LoggingAdapter", package: "Adapters"),
                .product(name: "Inspector", package: "Inspector"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            resources: [
                .embedInCode("Pages/index.html"), .embedInCode("Pages/style.css"), .embedInCode("Pages/links.js"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "Shortener",
            dependencies: [
                "ShortenerServer",
                .product(name: "Fugu", package: "Fugu"),
                .product(name: "FuguConfiguration", package: "Fugu"),
                .product(name: "ArgumentParserAdapter", package: "Adapters"),
                .product(name: "LoggingAdapter", package: "Adapters"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),
        // The same handlers without a container, to compare the two.
        .executableTarget(
            name: "ByHand",
            dependencies: [
                "ShortenerServer",
                .product(name: "Hummingbird", package: "hummingbird"), .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ShortenerTests",
            dependencies: [
                "ShortenerServer", "Shortener",
                .product(name: "FuguFoundation", package: "Fugu"),
                .product(name: "FuguTesting", package: "Fugu"),
                .product(name: "LoopbackClient", package: "Adapters"),
                .product(name: "LoggingAdapter", package: "Adapters"),
                .product(name: "HummingbirdAdapter", package: "Adapters"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
