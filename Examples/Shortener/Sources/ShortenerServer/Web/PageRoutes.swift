import Fugu
import HTTPTypes
import Hummingbird

/// The page and its parts.
struct PageRoutes {
    func add(to router: Router<AppContext>, of container: Container) {
        router.group().add(middleware: PathPolicy(scope: container.scope("/")))
            .get { _, _ in Self.response(PackageResources.index_html, "text/html; charset=utf-8") }
        let assets = router.group("assets").add(middleware: PathPolicy(scope: container.scope("/assets/any")))
        assets.get("style.css") { _, _ in Self.response(PackageResources.style_css, "text/css; charset=utf-8") }
        assets.get("links.js") { _, _ in Self.response(PackageResources.links_js, "text/javascript; charset=utf-8") }
    }

    private static func response(_ bytes: [UInt8], _ type: String) -> Response {
        Response(status: .ok, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
