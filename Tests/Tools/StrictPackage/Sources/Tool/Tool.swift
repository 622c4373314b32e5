import Fugu
import Weather

/// A program without tests: it loads what is real, and a call of what nobody implemented stops it.
@main struct Tool {
    static func main() throws {
        switch CommandLine.arguments.dropFirst().first {
        case "unimplemented": try WeatherClient.placeholder.warn("Oslo")
        case "fallback":
            let container = Container()
            container[Note.self] = "own"
            for _ in 1...2 { print(container[Note.self] + container[City.self] + Container.current[City.self]) }
        default: print(Container.current[Forecast.self].text)
        }
    }
}
