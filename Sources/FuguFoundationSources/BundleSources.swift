public import Foundation
public import FuguConfiguration

extension JSONSource {
    /// The file `resource.json` of a bundle, in the user's language where the bundle has several.
    ///
    /// - Parameters:
    ///   - resource: The name of the file without `.json`.
    ///   - bundle: Where the file is looked for, now.
    ///   - isOptional: Whether a file that does not exist is as good as an empty one.
    public init(resource: String, in bundle: Bundle, isOptional: Bool = false) {
        self.init(path: bundle.configurationPath(resource, "json"), isOptional: isOptional)
    }
}

extension TOMLSource {
    /// The file `resource.toml` of a bundle, in the user's language where the bundle has several.
    ///
    /// - Parameters:
    ///   - resource: The name of the file without `.toml`.
    ///   - bundle: Where the file is looked for, now.
    ///   - isOptional: Whether a file that does not exist is as good as an empty one.
    public init(resource: String, in bundle: Bundle, isOptional: Bool = false) {
        self.init(path: bundle.configurationPath(resource, "toml"), isOptional: isOptional)
    }
}

extension PropertyListSource {
    /// The file `resource.plist` of a bundle, in the user's language where the bundle has several.
    ///
    /// - Parameters:
    ///   - resource: The name of the file without `.plist`.
    ///   - bundle: Where the file is looked for, now.
    ///   - isOptional: Whether a file that does not exist is as good as an empty one.
    public init(resource: String, in bundle: Bundle, isOptional: Bool = false) {
        self.init(path: bundle.configurationPath(resource, "plist"), isOptional: isOptional)
    }

    /// What a bundle's `Info.plist` says, as Foundation has it; nothing if there is none.
    public init(infoOf bundle: Bundle) {
        let info = bundle.infoDictionary ?? [:]
        // What came from a property list can be written as one; if not, loading says that there is none.
        let data = try? PropertyListSerialization.data(fromPropertyList: info, format: .binary, options: 0)
        self.init(data: data ?? Data(), name: "Info.plist of \(bundle.bundlePath)")
    }
}

extension Bundle {
    /// Where the file is, or where it would be, so that the error names a path.
    fileprivate func configurationPath(_ resource: String, _ type: String) -> String {
        path(forResource: resource, ofType: type) ?? "\(resourcePath ?? bundlePath)/\(resource).\(type)"
    }
}
