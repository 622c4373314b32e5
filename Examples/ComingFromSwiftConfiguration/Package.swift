// swift-tools-version: 6.2
import PackageDescription

// Every row of the page "Coming from swift-configuration", compiled and run with both libraries: `swift test`.
let package = Package(
    name: "ComingFromSwiftConfiguration",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Fugu", path: "../.."),
        .package(
            url: "https://github.com/apple/swift-configuration", from: "1.4.0",
            traits: ["JSON", "CommandLineArguments", "PropertyList"]),
    ],
    targets: [
        .testTarget(
            name: "RowsTests",
            dependencies: [
                .product(name: "Fugu", package: "Fugu"),
                .product(name: "FuguConfiguration", package: "Fugu"),
                .product(name: "FuguFoundationSources", package: "Fugu"),
                .product(name: "Configuration", package: "swift-configuration"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
