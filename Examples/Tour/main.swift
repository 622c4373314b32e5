// This example teaches what a service adds to QuickStart: settings in layers, children for requests, paths, and tenants, and looking
// inside.
//
// Run it with `swift run Tour`.
import Fugu

func heading(_ text: String) { print("\n\(text)\n") }

try showSettings()
showRequests()
showPaths()
await showTenants()
await showInside()
