public import Foundation
public import FuguConfiguration

extension JSONSource {
    /// Creates a source that reads `resource.json` of a bundle, in the user's language if the bundle has several.
    ///
    /// - Parameters:
    ///   - resource: The name of the file without `.json`.
    ///   - bundle: The bundle. The file is looked up at this call.
    ///   - isOptional: Pass `true` to treat a missing file as empty.
    public init(resource: String, in bundle: Bundle, isOptional: Bool = false) {
        self.init(path: bundle.configurationPath(resource, "json"), isOptional: isOptional)
    }
}

extension TOMLSource {
    /// Creates a source that reads `resource.toml` of a bundle, in the user's language if the bundle has several.
    ///
    /// - Parameters:
    ///   - resource: The name of the file without `.toml`.
    ///   - bundle: The bundle. The file is looked up at this call.
    ///   - isOptional: Pass `true` to treat a missing file as empty.
    public init(resource: String, in bundle: Bundle, isOptional: Bool = false) {
        self.init(path: bundle.configurationPath(resource, "toml"), isOptional: isOptional)
    }
}

extension PropertyListSource {
    /// Creates a source that reads `resource.plist` of a bundle, in the user's language if the bundle has several.
    ///
    /// - Parameters:
    ///   - resource: The name of the file without `.plist`.
    ///   - bundle: The bundle. The file is looked up at this call.
    ///   - isOptional: Pass `true` to treat a missing file as empty.
    public init(resource: String, in bundle: Bundle, isOptional: Bool = false) {
        self.init(path: bundle.configurationPath(resource, "plist"), isOptional: isOptional)
    }

    /// Creates a source of the values in a bundle's `Info.plist`, or without values if there is none.
    ///
    /// - Parameter bundle: The bundle.
    public init(infoOf bundle: Bundle) {
        let info = bundle.infoDictionary ?? [:]
        // A dictionary from a property list can be written as one; if that fails, loading reports it.
        let data = try? PropertyListSerialization.data(fromPropertyList: info, format: .binary, options: 0)
        self.init(data: data ?? Data(), name: "Info.plist of \(bundle.bundlePath)")
    }
}

extension Bundle {
    /// Returns the path of the file, or the path where it's expected, so that an error can name it.
    fileprivate func configurationPath(_ resource: String, _ type: String) -> String {
        path(forResource: resource, ofType: type) ?? "\(resourcePath ?? bundlePath)/\(resource).\(type)"
    }
}
