// swift-tools-version: 6.2
import PackageDescription

// As Xcode makes the modules of a new app.
let settings: [SwiftSetting] = [
    .defaultIsolation(MainActor.self),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]
let strict = ["ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault", "NonisolatedNonsendingByDefault"]
let fugu = Target.Dependency.product(name: "Fugu", package: "Fugu")

let package = Package(
    name: "Shop",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Fugu", path: "../../../..")],
    targets: [
        .target(name: "ShopInterface", dependencies: [fugu], swiftSettings: settings),
        .target(name: "ShopApp", dependencies: ["ShopInterface", fugu], swiftSettings: settings),
        .testTarget(
            name: "ShopTests",
            dependencies: [
                "ShopApp", "ShopInterface", .product(name: "FuguInspection", package: "Fugu"),
                .product(name: "FuguLoadStates", package: "Fugu"),
                .product(name: "FuguScopes", package: "Fugu"),
                .product(name: "FuguTesting", package: "Fugu"),
            ],
            swiftSettings: settings),
        // An app as people write it who come from another library; `Before` has their wiring.
        .target(name: "Harbor", dependencies: [fugu]),
        .target(name: "HarborApp", dependencies: ["Harbor", fugu], swiftSettings: settings),
        .target(name: "HarborServer", dependencies: ["Harbor", fugu]),
        .testTarget(
            name: "HarborTests",
            dependencies: ["Harbor", "HarborApp", "HarborServer", .product(name: "FuguTesting", package: "Fugu")],
            swiftSettings: settings),
        // What the pages of Fugu say and print. It isn't part of Fugu's own tests, which everybody builds.
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "Fugu", "FuguConfiguration", "FuguFoundation", "FuguFoundationSources", "FuguInspection",
                "FuguLoadStates", "FuguScopes", "FuguTesting",
            ].map { .product(name: $0, package: "Fugu") },
            swiftSettings: strict.map { .enableUpcomingFeature($0) }),
    ],
    swiftLanguageModes: [.v6]
)
