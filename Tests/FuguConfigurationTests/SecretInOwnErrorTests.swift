import Fugu
import FuguConfiguration
import Support
import Testing

/// A type that says everything it knows in its error.
private struct Login: Decodable, Sendable {
    var user: String
    var password: String

    init(from decoder: any Decoder) throws {
        struct Plain: Decodable { var user, password: String }
        let plain = try Plain(from: decoder)
        (user, password) = (plain.user, plain.password)
        let text = "\(plain) is too short"
        switch user {
        case "coding":
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: text))
        case "own": throw PropertyError(text, name: text)
        default: throw Failure(text: text)
        }
    }

    private struct Failure: Error { let text: String }
}

/// What a type's own error says of the values inside a table, which may be secrets that no key declares (law 26).
struct SecretInOwnErrorTests {
    @Test(
        "An error that a table's own type throws quotes nothing from inside, nor does an explanation of it (law 26)",
        arguments: ["coding", "own", "other"])
    func tables(user: String) throws {
        let container = Container()
        container.handleReports { _ in }
        let text = "[own26]\nlogin = { user = '\(user)', password = 'hunter2' }"
        try container.apply(TOMLSource(text: text, name: "x"))
        let key = PropertyKey<Login?>("own26.login")
        let list = PropertyKey<[Login]?>("own26.list")
        try container.apply(
            DictionarySource(["own26": ["list": [["user": .string(user), "password": "hunter2"]]]], name: "y"))
        for said in [
            thrown { _ = try container.require { _ in key } }, thrown { _ = try container.require { _ in list } },
            thrown { try container.validate([key, list]) }, "\(container.explain { _ in key })",
            "\(container.explain { _ in list })",
        ] {
            expect(!said.contains("hunter2") && said.contains("the value is invalid"), "\(said)")
        }
    }

    @Test("An error of a type that is one text is shown as the type says it (law 26)")
    func texts() throws {
        struct Color: Decodable, Sendable {
            init(from decoder: any Decoder) throws {
                let text = try decoder.singleValueContainer().decode(String.self)
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no color: \(text)"))
            }
        }
        let container = Container()
        try container.apply(TOMLSource(text: "own26.color = 'bleu'", name: "x"))
        let color = PropertyKey<Color?>("own26.color")
        expect(thrown { _ = try container.require { _ in color } }, equals: "x:1:15: own26.color: no color: bleu")
    }
}
