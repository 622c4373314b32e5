import Fugu
import Weather

/// A program without tests: it loads what is real, and a call of what nobody implemented stops it.
@main struct Tool {
    static func main() throws {
        print(Container.current[Forecast.self].text)
        if CommandLine.arguments.count > 1 { try WeatherClient.placeholder.warn("Oslo") }
    }
}
