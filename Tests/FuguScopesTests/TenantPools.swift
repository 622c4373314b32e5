import Fugu
import Support

extension ContainerKeys {
    var tenant: PropertyKey<String> { .init(defaultValue: "nobody") }
}

/// A pool for each tenant, which logs when it's opened and closed.
struct TenantPools {
    let log = Log<String>()
    let key: FeatureKey<String>

    init() {
        key = FeatureKey(id: UniqueID()) { [log] container in
            let tenant = container.tenant
            container.onClose { log.add("close \(tenant)") }
            log.add("open \(tenant)")
            return "pool of \(tenant)"
        }
    }
}
