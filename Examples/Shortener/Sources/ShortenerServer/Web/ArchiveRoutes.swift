import Fugu
import FuguScopes
import Hummingbird
import HummingbirdAdapter
import NIOCore

/// The export of archives, for the admin.
struct ArchiveRoutes {
    let archives: KeyedChildren<String>

    func add(to router: Router<AppContext>) { router.get("api/archives/{name}", use: export) }

    private func export(_ request: Request, _ context: AppContext) async throws -> Response {
        try context.requireAdmin(request)
        let name = try context.parameters.require("name")
        guard !name.isEmpty, name.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw HTTPError(.notFound, message: "No such archive.")
        }
        // The body is written after this function has returned, or never: the handle belongs to it.
        let held = await archives.hold(name)
        let archive = try await held.container[Archive.self]
        let body = ResponseBody { writer in
            var last = ""
            while true {
                let links = try await archive.links(last, 500)
                guard let end = links.last else { break }
                last = end.code
                let lines = links.map { "\($0.code)\t\($0.created)\t\($0.target)\n" }.joined()
                try await writer.write(ByteBuffer(string: lines))
            }
            try await writer.finish(nil)
            await held.close()
        }
        return Response(
            status: .ok,
            headers: [.contentType: "text/tab-separated-values; charset=utf-8", .cacheControl: "no-store"],
            body: body)
    }
}
