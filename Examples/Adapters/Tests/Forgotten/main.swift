// An application whose requests have containers. `Scripts/forgotten` builds it with the responder that makes the containers,
// and sees that it does not compile without.
import Fugu
import Hummingbird
import HummingbirdAdapter

struct Context: ContainerRequestContext {
    var coreContext: CoreRequestContextStorage
    let container: Container

    init(source: ContainerContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        container = source.container
    }
}

let router = Router(context: Context.self)
router.get("/") { _, context in "\(context.container)" }
#if FORGOTTEN
let application = Application(router: router)
#else
let application = Application(responder: ContainerResponder(Container(), router.buildResponder()))
#endif
print(type(of: application))
