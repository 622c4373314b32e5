import Foundation
import Fugu
import Support
import Testing

private struct Weather: ExternalFeature {
    let text: String
    static func load(in container: any FeatureContainer) -> Weather { Weather(text: "live") }
    static var placeholder: Weather { Weather(text: "placeholder") }
    static var preview: Weather { Weather(text: "preview") }
}
private struct Mail: ExternalFeature {
    let text: String
    static func load(in container: any FeatureContainer) -> Mail { Mail(text: "live") }
    static var placeholder: Mail { Mail(text: "placeholder") }
}
extension ContainerKeys {
    fileprivate var printer: FeatureKey<String> { .init(placeholder: { "no printer" }) { _ in "live" } }
    fileprivate var plain: FeatureKey<String> { .init { _ in "live" } }
}

@Suite("Features that reach outside the process, in previews") struct PreviewTests {
    @Test("Where a program runs for a preview, containers give previews; what was set still wins")
    func preview() async {
        await #expect(processExitsWith: .success) {
            setenv("XCODE_RUNNING_FOR_PREVIEWS", "1", 1)
            let container = Container()
            precondition(container[Weather.self].text == "preview")
            precondition(container.child()[Mail.self].text == "placeholder")
            precondition(container.printer == "no printer" && container.plain == "live")
            container[Weather.self] = Weather(text: "set")
            precondition(container[Weather.self].text == "set")
        }
    }

    @Test("Elsewhere they are loaded")
    func elsewhere() {
        let container = Container()
        #expect(container[Weather.self].text == "live" && container[Mail.self].text == "live")
        #expect(container.printer == "live")
    }
}
