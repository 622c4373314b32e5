/// The input of the benchmark: a list of servers, like the configuration of a service.
struct Fleet: Decodable, Equatable, Sendable {
    struct Server: Decodable, Equatable, Sendable {
        struct Limits: Decodable, Equatable, Sendable {
            var memory: Int
            var load: Double
            var burst: Double?
        }

        var id: Int
        var host: String
        var region: String
        var description: String
        var isEnabled: Bool
        var weight: Double
        var ports: [Int]
        var tags: [String]
        var limits: Limits
    }

    var title: String
    var servers: [Server]
}

enum Documents {
    /// About four megabytes each, the same values in both.
    static let serverCount = 13_000

    static var json: String {
        let servers = (0..<serverCount).map { index in
            """
                {
                  "id": \(index),
                  "host": "node-\(index).internal.example.com",
                  "region": "\(["eu-west", "us-east", "ap-south"][index % 3])",
                  "description": "Serves shard \(index) of the \\"primary\\" catalogue",
                  "isEnabled": \(index % 2 == 0),
                  "weight": \(Double(index) * 0.25 + 0.1),
                  "ports": [8080, 8443, \(9000 + index)],
                  "tags": ["blue", "canary", "tier-\(index % 5)"],
                  "limits": { "memory": \(index * 1024), "load": 0.\(index % 90 + 10) }
                }
            """
        }
        return "{\n  \"title\": \"fleet\",\n  \"servers\": [\n\(servers.joined(separator: ",\n"))\n  ]\n}\n"
    }

    static var toml: String {
        let servers = (0..<serverCount).map { index in
            """
            [[servers]]
            id = \(index)
            host = "node-\(index).internal.example.com"
            region = "\(["eu-west", "us-east", "ap-south"][index % 3])"
            description = "Serves shard \(index) of the \\"primary\\" catalogue"
            isEnabled = \(index % 2 == 0)
            weight = \(Double(index) * 0.25 + 0.1)
            ports = [8080, 8443, \(9000 + index)]
            tags = ["blue", "canary", "tier-\(index % 5)"]

            [servers.limits]
            memory = \(index * 1024)
            load = 0.\(index % 90 + 10)

            """
        }
        return "title = \"fleet\"\n\n" + servers.joined(separator: "\n")
    }
}
