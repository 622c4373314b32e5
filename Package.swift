// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "Fugu",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Fugu", targets: ["Fugu"]),
        .library(name: "FuguConfiguration", targets: ["FuguConfiguration"]),
        .library(name: "FuguFoundation", targets: ["FuguFoundation"]),
        .library(name: "FuguFoundationSources", targets: ["FuguFoundationSources"]),
        .library(name: "FuguInspection", targets: ["FuguInspection"]),
        .library(name: "FuguTesting", targets: ["FuguTesting"]),
    ],
    targets: [
        .target(name: "Fugu", exclude: ["Engine/README.md"], swiftSettings: strict),
        .target(name: "FuguConfiguration", dependencies: ["Fugu"], swiftSettings: strict),
        .target(name: "FuguFoundation", dependencies: ["Fugu"], swiftSettings: strict),
        .target(name: "FuguFoundationSources", dependencies: ["FuguConfiguration"], swiftSettings: strict),
        .target(name: "FuguInspection", dependencies: ["Fugu"], swiftSettings: strict),
        .target(name: "FuguTestingStart"),
        .target(
            name: "FuguTesting", dependencies: ["Fugu", "FuguConfiguration", "FuguFoundation", "FuguTestingStart"],
            swiftSettings: strict),
        .executableTarget(
            name: "QuickStart", dependencies: ["Fugu", "FuguFoundation"], path: "Examples/QuickStart",
            exclude: ["expected.txt"], swiftSettings: strict),
        .executableTarget(
            name: "Scopes", dependencies: ["Fugu"], path: "Examples/Scopes", exclude: ["expected.txt"],
            swiftSettings: strict),
        .executableTarget(
            name: "Inspect", dependencies: ["Fugu", "FuguInspection"], path: "Examples/Inspect",
            exclude: ["expected.txt"],
            swiftSettings: strict),
        .executableTarget(
            name: "Config", dependencies: ["Fugu", "FuguConfiguration", "FuguFoundationSources"],
            path: "Examples/Config",
            exclude: ["expected.txt"], swiftSettings: strict),
        .executableTarget(
            name: "ConfigurationSpeed", dependencies: ["FuguConfiguration"], path: "Examples/ConfigurationSpeed",
            swiftSettings: strict),
        .target(name: "TrapCounts", path: "Tests/TrapCounts"),
        .target(name: "Support", dependencies: ["Fugu", "TrapCounts"], path: "Tests/Support", swiftSettings: strict),
        .testTarget(
            name: "FuguTests", dependencies: ["Fugu", "FuguInspection", "Support"], swiftSettings: strict),
        .testTarget(
            name: "FuguConfigurationTests",
            dependencies: ["Fugu", "FuguConfiguration", "FuguInspection", "FuguTesting", "Support"],
            swiftSettings: strict),
        .testTarget(name: "FuguAsyncTests", dependencies: ["Fugu", "Support"], swiftSettings: strict),
        .testTarget(
            name: "FuguFoundationTests",
            dependencies: ["Fugu", "FuguConfiguration", "FuguFoundation", "FuguFoundationSources", "FuguTesting"],
            swiftSettings: strict),
        .target(
            name: "StrictnessCases", dependencies: ["Fugu", "FuguConfiguration", "FuguTesting"],
            path: "Tests/StrictnessCases", swiftSettings: strict),
        .testTarget(
            name: "FuguTestingTests",
            dependencies: ["Fugu", "FuguConfiguration", "FuguFoundation", "FuguTesting", "StrictnessCases", "Support"],
            swiftSettings: strict),
        .testTarget(
            name: "FuguTestingXCTests", dependencies: ["Fugu", "FuguTesting", "StrictnessCases"],
            swiftSettings: strict),
        .testTarget(
            name: "ExamplesTests",
            dependencies: [
                "Fugu", "FuguConfiguration", "FuguFoundation", "FuguTesting", "QuickStart", "Scopes", "Config",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ApiTests",
            dependencies: [
                "Fugu", "FuguConfiguration", "FuguFoundation", "FuguFoundationSources", "FuguInspection", "FuguTesting",
                "Support",
            ],
            swiftSettings: strict),
        .target(name: "KeyLibrary", dependencies: ["Fugu"], path: "Tests/KeyLibrary", swiftSettings: strict),
        .testTarget(
            name: "TwoModulesTests", dependencies: ["Fugu", "FuguTesting", "KeyLibrary", "Support"],
            swiftSettings: strict),
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "Fugu", "FuguConfiguration", "FuguFoundation", "FuguFoundationSources", "FuguInspection", "FuguTesting",
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

// Tries out how threads can take turns (`Tests/Explorer/check`): the engine is compiled differently for it.
if Context.environment["FUGU_EXPLORE"] != nil {
    package.targets.first { $0.name == "Fugu" }?.swiftSettings?.append(.define("FUGU_EXPLORE"))
    package.targets += [
        .target(name: "Footprints", path: "Tests/Explorer/Footprints"),
        .executableTarget(
            name: "Explorer", dependencies: ["Fugu", "Footprints"], path: "Tests/Explorer",
            exclude: ["check", "README.md", "Footprints"], swiftSettings: strict),
    ]
}

// Builds these test targets alone and no examples: what a sanitizer does not run need not be built for it.
if let wanted = Context.environment["FUGU_TEST_TARGETS"]?.split(separator: " ").map(String.init) {
    package.targets.removeAll { $0.type == .executable || $0.type == .test && !wanted.contains($0.name) }
}
