import Fugu

extension ContainerKeys {
    var requestID: PropertyKey<Int> { .init(defaultValue: 0) }
}

struct RequestLog: Feature {
    let id: Int

    static func load(in container: any FeatureContainer) -> RequestLog { RequestLog(id: container.requestID) }

    func log(_ text: String) { print("[\(id)] \(text)") }
}
