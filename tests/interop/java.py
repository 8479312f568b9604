"""The Java programs of the interop tests: built once, started from archives of their classes."""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
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
    # No test uses TLS. By default each listener of a stock broker makes a key pair at its start,
    # which takes more than half of the start's processor time.
    "-Dtls.server.mode=disabled",
)
ENDED = "--- ended\n"
NOWHERE = "127.0.0.1:1"
STORE_SIZES = (
    *("--queue-file-size", "400", "--batch-queue-file-size", "920", "--segment-size", "65536"),
    *("--slot-count", "50", "--index-count", "300", "--light-queues", "true", "--crc", "false"),
)
SAMPLE_RUNS = {
    BROKER: (("regent.interop.Tools",), [("clusterList", "-n", NOWHERE)]),
    STORE: (
        ("regent.interop.StoreMain",),
        [
            ("write", "--directory", "store", "--seed", "1", "--count", "50", *STORE_SIZES),
            ("read", "--directory", "store", *STORE_SIZES),
        ],
    ),
}
"""Programs, and the commands on their input, that load the usual classes of a module.

It does not matter that some of them fail.
"""

CLIENT_RUN = (
    (
        *("regent.interop.Main", "send", "--name-server", NOWHERE),
        *("--mode", "sync", "--topic", "orders", "--count", "1"),
    ),
    (),
)
SAMPLE_TIMEOUT_S = 120.0


class Program:
    """A Java program that runs commands, one a line, and is kept from one to the next.

    A process that has ended is started again by the next command.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], errors: Path | None = None
    ) -> None:
        """Prepare to run a program; its errors go to a file, or among what it prints."""
        self._command, self._environment, self._errors = command, environment, errors
        self._process: subprocess.Popen[str] | None = None

    def run(self, words: Sequence[str]) -> str:
        """Run one command and return what it printed; a command may end the process.

        Raises:
            AssertionError: the process ended with another code than 0.
        """
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line_of(words))
        process.stdin.flush()
        printed = []
        try:
            for line in process.stdout:
                if line.endswith(ENDED):
                    return "".join([*printed, line.removesuffix(ENDED)])
                printed.append(line)
        except BaseException:
            # What it still prints is not the answer to the next command.
            process.kill()
            self._process = None
            raise
        with process:
            self._process = None
        output = "".join(printed)
        if process.returncode:
            errors = self._errors.read_text()[-4000:] if self._errors else ""
            said = f"{output[-4000:]}\n{errors}"
            raise AssertionError(f"{words} ended the process with {process.returncode}: {said}")
        return output

    def kill(self) -> None:
        """End the process, and with it a command that takes too long."""
        if self._process is not None:
            self._process.kill()

    def _start(self) -> subprocess.Popen[str]:
        """Start the process, which ends with its input, and so with this process."""
        with ExitStack() as stack:
            errors = self._errors and stack.enter_context(self._errors.open("ab"))
            return subprocess.Popen(
                self._command,
                env={**os.environ, **self._environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors or subprocess.STDOUT,
                text=True,
            )


def line_of(words: Sequence[str]) -> str:
    """Write a command as a line of the input of a program."""
    return "\t".join(words) + "\n"


def jvm_options(module: str) -> tuple[str, ...]:
    """Give the options for a short run of a module's program.

    It takes its classes from the module's archive, which halves the processor time of its start.
    Without an archive that fits, the JVM loads them as usual.
    """
    return (*SHORT_RUN, f"-XX:SharedArchiveFile={_archive(module)}")


def class_path(module: str) -> str:
    """Give the class path of a module's programs."""
    return f"{_jar(module)}:{PROJECT / 'target' / module / 'lib'}/*"


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
            # The output of a test's own program stays its own.
            stdout=sys.stderr,
            check=True,
        )
        for module in MODULES:
            # Maven leaves a module alone whose sources have not changed.
            _jar(module).touch()
            _make_archive(module)


def _is_built() -> bool:
    sources = [PROJECT / "pom.xml", *PROJECT.glob("*/pom.xml"), *PROJECT.rglob("*.java")]
    built = [*map(_jar, MODULES), *map(_archive, MODULES)]
    newest = max(source.stat().st_mtime for source in sources if "target" not in source.parts)
    return all(one.exists() and one.stat().st_mtime >= newest for one in built)


def _jar(module: str) -> Path:
    return PROJECT / "target" / module / "interop.jar"


def _archive(module: str) -> Path:
    return PROJECT / "target" / module / "classes.jsa"


def _make_archive(module: str) -> None:
    """Run a program of a module, and have its JVM write down which classes it loaded."""
    archive = _archive(module)
    archive.unlink(missing_ok=True)
    program, commands = SAMPLE_RUNS.get(module, CLIENT_RUN)
    with tempfile.TemporaryDirectory(prefix="regent-java-") as home:
        subprocess.run(
            [
                *("java", *SHORT_RUN, f"-XX:ArchiveClassesAtExit={archive}", *OPENED_PACKAGES),
                *(f"-Duser.home={home}", "-cp", class_path(module)),
                *program,
            ],
            input="".join(map(line_of, commands)).encode(),
            cwd=home,
            env={**os.environ, "ROCKETMQ_HOME": home, "ROCKSDB_SHAREDLIB_DIR": home},
            capture_output=True,
            timeout=SAMPLE_TIMEOUT_S,
            check=False,
        )
    assert archive.exists(), f"no archive of the classes of {module} was made"


if __name__ == "__main__":
    build()
