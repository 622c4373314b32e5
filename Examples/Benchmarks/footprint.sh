#!/usr/bin/env bash
# Measures what `import Fugu` adds to a stripped static program, and how long a clean release build of Fugu takes.
#
#     bash footprint.sh [--check] [--slack FACTOR]
#
# With --check, it exits with status 1 if a bound is broken. The slack applies only to the time of the build: sizes don't vary.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$here/.build-footprint
check=false
slack=1

while [ $# -gt 0 ]; do
    case $1 in
    --check) check=true ;;
    --slack)
        slack=${2:?--slack needs a factor}
        shift
        ;;
    *)
        echo "usage: bash footprint.sh [--check] [--slack FACTOR]" >&2
        exit 64
        ;;
    esac
    shift
done

# Writes three programs that use Concurrency, Synchronization, and Observation: one without Fugu, one that imports it, and one
# that uses it.
write_package() {
    local name
    rm -rf "$work/Sources"
    for name in Without Imported Used; do
        mkdir -p "$work/Sources/$name"
        cat >"$work/Sources/$name/$name.swift" <<'SWIFT'
import Observation
import Synchronization

@Observable final class Model {
    var count = 0
}

final class Total: Sendable {
    let number = Mutex(0)
}

@main struct Program {
    static func main() async {
        let total = Total()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<4 { group.addTask { total.number.withLock { $0 += number } } }
        }
        let model = Model()
        withObservationTracking { _ = model.count } onChange: { print("changed") }
        model.count = total.number.withLock { $0 }
        print(model.count)
    }
}
SWIFT
    done
    sed -i.bak '1i import Fugu' "$work/Sources/Imported/Imported.swift" "$work/Sources/Used/Used.swift"
    rm -f "$work"/Sources/*/*.bak
    cat >>"$work/Sources/Used/Used.swift" <<'SWIFT'

enum Timeout: Property {
    static let defaultValue = 30
}

struct Service: Feature {
    let timeout: Int

    static func load(in container: any FeatureContainer) -> Service { Service(timeout: container[Timeout.self]) }
}

extension Program {
    static func use() -> Int {
        let container = Container()
        container.observe(Timeout.self) { print($0) }
        let child = container.child()
        child[Timeout.self] = 31
        return child[Service.self].timeout + container[Service.self].timeout
    }
}
SWIFT
    sed -i.bak 's/print(model.count)/print(model.count + use())/' "$work/Sources/Used/Used.swift"
    rm -f "$work"/Sources/*/*.bak
    cat >"$work/Package.swift" <<SWIFT
// swift-tools-version: 6.2
import PackageDescription

let fugu = Target.Dependency.product(name: "Fugu", package: "Fugu")
let package = Package(
    name: "Footprint",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Fugu", path: "$root")],
    targets: [
        .executableTarget(name: "Without"),
        .executableTarget(name: "Imported", dependencies: [fugu]),
        .executableTarget(name: "Used", dependencies: [fugu]),
    ]
)
SWIFT
}

# Prints the size of a stripped copy of a program in bytes.
stripped_size() {
    strip -o "$work/$1.stripped" "$work/.build/release/$1"
    wc -c <"$work/$1.stripped"
}

broken=0
# NAME VALUE UNIT BOUND ALLOWED: prints a line, and counts it if the value is more than what is allowed.
report() {
    local verdict=passed
    if [ "$(awk -v value="$2" -v most="$5" 'BEGIN { print (value > most) }')" = 1 ]; then
        verdict=FAILED
        broken=$((broken + 1))
    elif [ "$(awk -v value="$2" -v most="$4" 'BEGIN { print (value > most) }')" = 1 ]; then
        verdict=missed
    fi
    printf '%-52s %8s %-3s at most %s %s: %s\n' "$1" "$2" "$3" "$4" "$3" "$verdict"
}

mkdir -p "$work"
write_package
swift build --package-path "$work" --scratch-path "$work/.build" -c release --static-swift-stdlib >"$work/build.log" 2>&1 || {
    cat "$work/build.log" >&2
    exit 1
}
without=$(stripped_size Without)
for name in Imported Used; do
    with=$(stripped_size $name)
    case $name in
    Imported) what='importing Fugu adds to a static program' ;;
    Used) what='using containers, features, and observers adds' ;;
    esac
    # The bound isn't reached yet; more than the second number is a step back.
    report "$what" $(((with - without + 999) / 1000)) KB 400 1450
done

rm -rf "$work/clean"
started=$(date +%s.%N)
swift build --package-path "$root" --scratch-path "$work/clean" -c release --target Fugu >"$work/build.log" 2>&1 || {
    cat "$work/build.log" >&2
    exit 1
}
seconds=$(awk -v from="$started" -v to="$(date +%s.%N)" 'BEGIN { printf "%.1f", to - from }')
# This bound isn't reached either: the build takes 30 to 40 seconds if nothing else runs.
report 'a clean release build of Fugu takes' "$seconds" s 15 "$(awk -v slack="$slack" 'BEGIN { print 40 * slack }')"

if [ "$broken" -gt 0 ] && $check; then
    echo "error: $broken bounds are broken" >&2
    exit 1
fi
