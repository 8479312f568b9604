"""The Java programs of the interop tests: built once, started from archives of their classes."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

PROJECT = Path(__file__).parent
VERSIONS = ("5.5.0", "4.9.8")
BROKER, STORE = "broker-5.5.0", "store-5.5.0"
MODULES = (*(f"client-{version}" for version in VERSIONS), STORE, BROKER)
OPENED_PACKAGES = (
    # The store reaches into the JDK for its buffers, as its start script lets it.
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
)
SHORT_RUN = (
    # Short runs on few cores: the second compiler and a concurrent collector cost more than they
    # bring.
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-Xmx512m",
)
NOWHERE = "127.0.0.1:1"
STORE_SIZES = ("--segment-size", "65536", "--slot-count", "50", "--index-count", "300")
SAMPLE_RUNS = {
    BROKER: ("org.apache.rocketmq.tools.command.MQAdminStartup", "clusterList", "-n", NOWHERE),
    STORE: (
        *("regent.interop.StoreMain", "write", "--directory", "store", "--seed", "1"),
        *("--count", "50", "--queue-file-size", "400", "--batch-queue-file-size", "920"),
        *(*STORE_SIZES, "--light-queues", "true", "--crc", "false"),
    ),
}
"""Runs that load the usual classes of a module; it does not matter that some of them fail."""

CLIENT_RUN = (
    *("regent.interop.Main", "send", "--name-server", NOWHERE),
    *("--mode", "sync", "--topic", "orders", "--count", "1"),
)
SAMPLE_TIMEOUT_S = 120.0


def jvm_options(module: str) -> tuple[str, ...]:
    """Give the options for a short run of a module's program.

    It takes its classes from the module's archive, which halves the processor time of its start.
    Without an archive that fits, the JVM loads them as usual.
    """
    return (*SHORT_RUN, f"-XX:SharedArchiveFile={_archive(module)}")


def class_path(module: str) -> str:
    """Give the class path of a module's programs."""
    folder = PROJECT / "target" / module
    return f"{folder / 'interop.jar'}:{folder / 'lib'}/*"


def build() -> None:
    """Build the Java programs of every module, unless they are newer than their sources.

    Of several test processes one builds, and the others wait for it.
    """
    with (PROJECT / "pom.xml").open() as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if _is_built():
            return
        assert shutil.which("mvn"), "Maven builds the Java programs; Debian: apt-get install maven"
        subprocess.run(
            ["mvn", "-q", "-B", "package", "dependency:copy-dependencies"],
            cwd=PROJECT,
            check=True,
        )
        for module in MODULES:
            _make_archive(module)


def _is_built() -> bool:
    sources = [PROJECT / "pom.xml", *PROJECT.glob("*/pom.xml"), *PROJECT.rglob("*.java")]
    built = [PROJECT / "target" / module / "interop.jar" for module in MODULES]
    built += map(_archive, MODULES)
    newest = max(source.stat().st_mtime for source in sources if "target" not in source.parts)
    return all(one.exists() and one.stat().st_mtime >= newest for one in built)


def _archive(module: str) -> Path:
    return PROJECT / "target" / module / "classes.jsa"


def _make_archive(module: str) -> None:
    """Run a program of a module, and have its JVM write down which classes it loaded."""
    archive = _archive(module)
    archive.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="regent-java-") as home:
        subprocess.run(
            [
                *("java", *SHORT_RUN, f"-XX:ArchiveClassesAtExit={archive}", *OPENED_PACKAGES),
                *(f"-Duser.home={home}", "-cp", class_path(module)),
                *SAMPLE_RUNS.get(module, CLIENT_RUN),
            ],
            cwd=home,
            env={**os.environ, "ROCKETMQ_HOME": home, "ROCKSDB_SHAREDLIB_DIR": home},
            capture_output=True,
            timeout=SAMPLE_TIMEOUT_S,
            check=False,
        )
    assert archive.exists(), f"no archive of the classes of {module} was made"


if __name__ == "__main__":
    build()
