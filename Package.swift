// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// Elsewhere, nothing reads a privacy manifest, and a module with resources would import Foundation to find them.
#if os(macOS)
let privacyManifest: [Resource] = [.copy("PrivacyInfo.xcprivacy")]
let withoutPrivacyManifest: [String] = []
#else
let privacyManifest: [Resource] = []
let withoutPrivacyManifest = ["PrivacyInfo.xcprivacy"]
#endif

let package = Package(
    name: "Fugu",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Fugu", targets: ["Fugu"]),
        .library(name: "FuguConfiguration", targets: ["FuguConfiguration"]),
        .library(name: "FuguFoundation", targets: ["FuguFoundation"]),
        .library(name: "FuguFoundationSources", targets: ["FuguFoundationSources"]),
        .library(name: "FuguLoadStates", targets: ["FuguLoadStates"]),
        .library(name: "FuguScopes", targets: ["FuguScopes"]),
        .library(name: "FuguInspection", targets: ["FuguInspection"]),
        .library(name: "FuguTesting", targets: ["FuguTesting"]),
    ],
    targets: [
        .target(name: "Fugu", exclude: ["Engine/README.md"], swiftSettings: strict),
        .target(
            name: "FuguConfiguration", dependencies: ["Fugu"], exclude: withoutPrivacyManifest,
            resources: privacyManifest, swiftSettings: strict),
        .target(
            name: "FuguFoundation", dependencies: ["Fugu"], exclude: withoutPrivacyManifest,
            resources: privacyManifest, swiftSettings: strict),
        .target(name: "FuguFoundationSources", dependencies: ["FuguConfiguration"], swiftSettings: strict),
        .target(name: "FuguLoadStates", dependencies: ["Fugu"], swiftSettings: strict),
        .target(name: "FuguScopes", dependencies: ["Fugu"], swiftSettings: strict),
        .target(name: "FuguInspection", dependencies: ["Fugu"], swiftSettings: strict),
        .target(name: "FuguTestingStart"),
        .target(
            name: "FuguTesting",
            dependencies: ["Fugu", "FuguConfiguration", "FuguFoundation", "FuguInspection", "FuguTestingStart"],
            swiftSettings: strict),
        .executableTarget(
            name: "QuickStart", dependencies: ["Fugu", "FuguInspection"], path: "Examples/QuickStart",
            exclude: ["README.md", "expected.txt"], swiftSettings: strict),
        .executableTarget(
            name: "Tour", dependencies: ["Fugu", "FuguConfiguration", "FuguInspection", "FuguScopes"],
            path: "Examples/Tour", exclude: ["README.md", "expected.txt"], swiftSettings: strict),
        .target(name: "TrapCounts", path: "Tests/Support/TrapCounts"),
        .target(
            name: "Support", dependencies: ["Fugu", "TrapCounts"], path: "Tests/Support",
            exclude: ["KeyLibrary", "StrictnessCases", "TrapCounts"], swiftSettings: strict),
        .testTarget(
            name: "FuguTests", dependencies: ["Fugu", "FuguInspection", "FuguScopes", "Support"],
            swiftSettings: strict),
        .testTarget(
            name: "FuguFamilyTests", dependencies: ["Fugu", "FuguInspection", "FuguScopes", "Support"],
            swiftSettings: strict),
        .testTarget(
            name: "FuguScopesTests",
            dependencies: ["Fugu", "FuguConfiguration", "FuguInspection", "FuguScopes", "FuguTesting", "Support"],
            swiftSettings: strict),
        .testTarget(
            name: "FuguConfigurationTests",
            dependencies: [
                "Fugu", "FuguConfiguration", "FuguInspection", "FuguLoadStates", "FuguScopes", "FuguTesting", "Support",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FuguAsyncTests",
            dependencies: ["Fugu", "FuguInspection", "FuguLoadStates", "FuguScopes", "FuguTesting", "Support"],
            swiftSettings: strict),
        .testTarget(
            name: "FuguFoundationTests",
            dependencies: [
                "Fugu", "FuguConfiguration", "FuguFoundation", "FuguFoundationSources", "FuguTesting", "Support",
            ],
            swiftSettings: strict),
        .target(
            name: "StrictnessCases", dependencies: ["Fugu", "FuguConfiguration", "FuguScopes", "FuguTesting"],
            path: "Tests/Support/StrictnessCases", swiftSettings: strict),
        .testTarget(
            name: "FuguTestingTests",
            dependencies: [
                "Fugu", "FuguConfiguration", "FuguFoundation", "FuguScopes", "FuguTesting", "KeyLibrary",
                "StrictnessCases", "Support",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FuguTestingXCTests", dependencies: ["Fugu", "FuguTesting", "StrictnessCases"],
            swiftSettings: strict),
        .target(
            name: "KeyLibrary", dependencies: ["Fugu", "FuguConfiguration"], path: "Tests/Support/KeyLibrary",
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

// Random models, storms, and measured growth search for what nobody thought of. They would make `swift test` a quarter slower, so
// only `FUGU_THOROUGH=1 swift test` builds and runs them, as `.ci/run` does.
if Context.environment["FUGU_THOROUGH"] != nil {
    package.targets.append(
        .testTarget(
            name: "ThoroughTests",
            dependencies: ["Fugu", "FuguConfiguration", "FuguInspection", "FuguScopes", "FuguTesting", "Support"],
            swiftSettings: strict))
}
