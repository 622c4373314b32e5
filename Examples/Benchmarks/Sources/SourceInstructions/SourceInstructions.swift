import Counting
import Fugu
import FuguConfiguration

/// Rows for a server with three sources.
///
/// A child's first read of an inherited feature must not ask them for each input.
@main enum SourceInstructions {
    static func main() {
        perform([
            Row("sources-child", "with three sources: a child is made and sets a value") { count in
                let root = try root(inputs: 1)
                var sum = 0
                for index in 0..<count {
                    let child = root.child()
                    child.requestNumber = index
                    sum &+= child.requestNumber
                }
                return sum
            },
            inherited(inputs: 1), inherited(inputs: 10), inherited(inputs: 100),
            mutable(after: 0), mutable(after: 20_000),
            Row("member-named", "a property with a name is read as a member; a source supplies its value") { count in
                let root = try root(inputs: 1)
                var sum = 0
                for _ in 0..<count { sum &+= root.port }
                return sum
            },
            Row("names", "a variable is found by the name of its key, with four words") { count in
                let variables = try EnvironmentSource(environment: ["API_IMAGE_URLS_BY_NAME": "80"]).load()
                var sum = 0
                for _ in 0..<count { sum &+= try variables.property("api.imageURLsByName", as: Int.self) ?? 0 }
                return sum
            },
            Row("arguments", "a line of 12 words is read, and of it a flag, a number, and a list") { count in
                let words = [
                    "app", "serve", "--verbose", "file", "--port", "80", "--tag", "a", "--tag", "b", "--no-color", "-x",
                ]
                var sum = 0
                for _ in 0..<count {
                    let arguments = try ArgumentsSource(words).load()
                    sum &+= try arguments.property("port", as: Int.self) ?? 0
                    sum &+= try arguments.property("tag", as: [String].self)?.count ?? 0
                    sum &+= try arguments.property("verbose", as: Bool.self) == true ? 1 : 0
                }
                return sum
            },
        ])
    }

    private static func mutable(after gone: Int) -> Row {
        Row("mutable-\(gone)", "a child applies a mutable source and reads it, after others that have gone: \(gone)") {
            count in
            let (root, source) = (Container(), MutableSource(["flag": 1], name: "flags"))
            let key = PropertyKey<Int>("flag", defaultValue: 0)
            var sum = 0
            for _ in 0..<gone + count {
                let child = root.child()
                try child.apply(source)
                sum &+= child[key]
            }
            return sum
        }
    }

    private static func inherited(inputs: Int) -> Row {
        Row("sources-\(inputs)", "the same; then it reads an inherited feature with inputs: \(inputs)") { count in
            let root = try root(inputs: inputs)
            let key = FeatureKey.total(of: inputs)
            var sum = 0
            for index in 0..<count {
                let child = root.child()
                child.requestNumber = index
                sum &+= child[key].value
            }
            return sum
        }
    }

    /// A container with three sources that has loaded the feature.
    private static func root(inputs: Int) throws -> Container {
        let root = Container()
        try root.apply(DictionarySource(["limit-0": 1], name: "defaults"))
        try root.apply(JSONSource(text: #"{"limit-1": 1, "port": 80}"#, name: "file"))
        try root.apply(EnvironmentSource(prefix: "APP", environment: ["APP_LIMIT_2": "1"]))
        _ = root[FeatureKey.total(of: inputs)]
        return root
    }
}

extension ContainerKeys {
    /// The keys that a request sets in its container.
    fileprivate var requestNumber: PropertyKey<Int> { .init(defaultValue: 0) }
    fileprivate var port: PropertyKey<Int> { .init("port", defaultValue: 0) }
}

private final class Total: Sendable {
    let value: Int

    init(_ value: Int) {
        self.value = value
    }
}

extension FeatureKey where Value == Total {
    /// A feature that reads a number of properties that sources may supply.
    fileprivate static func total(of inputs: Int) -> FeatureKey {
        let keys = (0..<inputs).map { PropertyKey("limit-\($0)", defaultValue: 0) }
        return FeatureKey(id: inputs) { container in Total(keys.reduce(0) { $0 &+ container[$1] }) }
    }
}
