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
        .library(name: "FuguFoundation", targets: ["FuguFoundation"]),
    ],
    targets: [
        .target(name: "Fugu", swiftSettings: strict),
        .target(name: "FuguFoundation", dependencies: ["Fugu"], swiftSettings: strict),
        .testTarget(name: "FuguTests", dependencies: ["Fugu"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
