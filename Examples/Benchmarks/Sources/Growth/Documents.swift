import Fugu
import FuguConfiguration

/// Long lists in documents.
enum Documents {
    /// A package of a lock file, whose dependencies are whatever they are.
    private struct Package: Decodable, Sendable {
        let name: String
        let dependencies: PropertyValue
    }

    static var courses: [Course] {
        [
            course("decode n packages of a lock file as values", [PropertyValue].self),
            course("decode n packages of a lock file as structs of values", [Package].self),
        ]
    }

    private static func course<List: RandomAccessCollection & Decodable & Sendable>(
        _ name: String, _ type: List.Type
    ) -> Course {
        Course(name, sizes: [25_000, 50_000, 100_000, 200_000]) { n in
            let package = "[[package]]\nname = 'a'\ndependencies = ['b 1.0', 'c 2.1']\n"
            let snapshot = try TOMLSource(text: String(repeating: package, count: n), name: "lock").load()
            return try await seconds {
                guard try snapshot.property("package", as: type)?.count == n else { fatalError("packages are missing") }
            }
        }
    }
}
