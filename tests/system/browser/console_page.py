"""The console as a person uses it: by names, roles and words."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    expect,
    sync_playwright,
)

from tests.long_form import RUNS_ALL_CASES
from tests.system.cluster import Cluster
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parents[3]
SCREENSHOTS = ROOT / "build" / "screenshots"
AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM = "/usr/bin/chromium"
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A tab beside others of its profile starts no process, and finds what they have compiled.
    "--process-per-site",
)
TIMEOUT_MS = PATIENCE_S * 1000
SEVERE = ("serious", "critical")
BUSY = '[aria-busy="true"]'
SCHEMES: Final = {"dark": ("color-contrast", "link-in-text-block"), "light": ()}
"""The rules of axe-core in each colour scheme: what depends on colours, and, without names, all."""

DARK: Final = (
    *("findings", "findings-dead-master", "message", "move-queues-plan", "operation-blocked"),
    *("overview", "replica-group-dead-master", "send-message", "share-queues", "sign-in"),
    "topology",
)
"""What `make test` judges in the dark too: each kind of coloured part. The long form has all."""

AT_REST = """() => document.getAnimations().every(
  (one) => one.effect.getComputedTiming().iterations === Infinity,
)"""
JUDGE = """async ([busy, rules]) => {
  let asked = false;
  const look = () => { asked ||= document.querySelector(busy) !== null; };
  const watch = new MutationObserver(look);
  watch.observe(document, { attributeFilter: ['aria-busy'], childList: true, subtree: true });
  const runOnly = rules.length ? { type: 'rule', values: rules } : undefined;
  const { violations } = await axe.run(document, { resultTypes: ['violations'], runOnly });
  look();
  watch.disconnect();
  return [asked, violations];
}"""


@dataclass(frozen=True, slots=True)
class Profile:
    """What a person's browser keeps of one console: cookies, storage, cache.

    A picture of the console stays open in it, so that the process of its tabs outlives them.
    """

    context: BrowserContext
    picture: Page

    def clear(self) -> None:
        """Forget all but the cache, which no page can see."""
        self.context.clear_cookies()
        self.picture.evaluate("localStorage.clear()")


@dataclass(frozen=True, slots=True)
class Chromium:
    """A running browser; profiles without a tab wait in it for the next one.

    A new profile costs two seconds of processor more than one that is cleared.
    """

    browser: Browser
    idle: dict[str, list[Profile]] = field(default_factory=dict)

    @contextmanager
    def profile(self, url: str) -> Iterator[Profile]:
        """Lend a profile that knows nothing."""
        idle = self.idle.setdefault(url, [])
        profile = idle.pop() if idle else self._new_profile(url)
        yield profile
        profile.clear()
        idle.append(profile)

    def _new_profile(self, url: str) -> Profile:
        context = self.browser.new_context(
            base_url=url,
            viewport={"width": 1440, "height": 900},
            locale="en-GB",
        )
        context.set_default_timeout(TIMEOUT_MS)
        picture = context.new_page()
        picture.goto("/mark.svg")
        return Profile(context, picture)


@contextmanager
def chromium() -> Iterator[Chromium]:
    """Run Debian's Chromium without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, headless=True, args=list(CHROMIUM_FLAGS)
        )
        try:
            yield Chromium(browser)
        finally:
            browser.close()


@dataclass(slots=True)
class ConsolePage:
    """One tab with the console in it."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    """What the browser complained about: refused scripts and styles, and errors of ours."""

    def open(self, path: str) -> None:
        self.page.goto(path)

    def open_overview(self) -> None:
        self.open("/")
        expect(self.heading("Overview")).to_be_visible()

    def sign_in(self, name: str, password: str) -> None:
        self.page.get_by_label("Name").fill(name)
        self.page.get_by_label("Password", exact=True).fill(password)
        self.page.get_by_role("button", name="Sign in").click()

    def go(self, keys: str) -> None:
        """Press keys one right after the other, as `g` and `t` are to reach the topology.

        Playwright presses a key when the page has heard the one before, which a busy page does
        seconds later. A person does not wait for that: these keys carry one time.
        """
        session = self.page.context.new_cdp_session(self.page)
        pressed_at = time.time()
        for key in keys:
            for kind in ("keyDown", "keyUp"):
                press = {"type": kind, "key": key, "timestamp": pressed_at}
                session.send("Input.dispatchKeyEvent", press)
        session.detach()

    def heading(self, name: str) -> Locator:
        return self.page.get_by_role("heading", name=name, level=1, exact=True)

    def table(self, name: str) -> Locator:
        return self.page.get_by_role("table", name=name)

    def tile(self, label: str) -> Locator:
        """Find the figure of the overview that stands under a label."""
        term = self.page.locator("dt", has_text=label)
        return term.locator("xpath=following-sibling::dd[1]")

    def figure(self, label: str) -> float | None:
        """Read a figure of the overview; words for a missing one are `None`."""
        text = self.tile(label).inner_text().split("/")[0].replace(",", "").strip()
        try:
            return float(text)
        except ValueError:
            return None

    def expect_open(self, dialog: Locator) -> None:
        """Wait until a dialog has faded in, before which its colours are others."""
        expect(dialog).to_be_visible()
        expect(dialog).to_have_css("opacity", "1")

    def await_live(self) -> None:
        expect(self.page.get_by_text("Live", exact=True)).to_be_visible()

    def look(self, name: str, *, alerts: int = 0) -> None:
        """Wait until all is drawn; then check the accessibility in its schemes, and picture it."""
        expect(self.page.get_by_label("Loading")).to_have_count(0)
        expect(self.page.get_by_role("alert")).to_have_count(alerts)
        self.page.evaluate(AXE.read_text())
        in_dark = RUNS_ALL_CASES or name in DARK or "REGENT_PICTURES" in os.environ
        for scheme in ("dark", "light") if in_dark else ("light",):
            # As a person's system changes it while the page is open.
            self.page.emulate_media(color_scheme=scheme)
            root = self.page.locator("html")
            expect(root).to_have_attribute("data-mantine-color-scheme", scheme)
            self.page.wait_for_function(AT_REST)
            self.screenshot(f"{name}-{scheme}")
            violations = self._violations(SCHEMES[scheme])
            assert not violations, f"{name}, {scheme}: {violations}"
        assert not self.complaints, f"{name}: {self.complaints}"

    def _violations(self, rules: tuple[str, ...]) -> list[dict[str, Any]]:
        """Ask axe-core for what keeps people out; mild findings are left to the eye.

        What still answers the question before is faint until the new answer comes, so a page that
        asked while it was judged is judged again.
        """
        asked = True
        while asked:
            expect(self.page.locator(BUSY)).to_have_count(0)
            asked, found = self.page.evaluate(JUDGE, [BUSY, rules])
        return [
            {"id": violation["id"], "where": [node["target"] for node in violation["nodes"]]}
            for violation in found
            if violation["impact"] in SEVERE
        ]

    def screenshot(self, name: str) -> None:
        """Picture the page if `REGENT_PICTURES` is set: a hundred pictures take a minute."""
        if "REGENT_PICTURES" not in os.environ:
            return
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.evaluate("document.fonts.ready")
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", animations="disabled")


@contextmanager
def open_console(browser: Chromium, url: str) -> Iterator[ConsolePage]:
    """Open a separate tab, with no session."""
    with browser.profile(url) as profile:
        console = ConsolePage(profile.context.new_page())

        def note(message: ConsoleMessage) -> None:
            # A refused sign-in is no complaint; the browser logs every 401 it sees.
            if message.type == "error" and "401" not in message.text:
                console.complaints.append(message.text)

        console.page.on("console", note)
        console.page.on("pageerror", lambda error: console.complaints.append(str(error)))
        try:
            yield console
        finally:
            console.page.close()


@contextmanager
def signed_in(browser: Chromium, cluster: Cluster) -> Iterator[ConsolePage]:
    """Open a separate tab in which the administrator is signed in, without a page.

    It signs in without the form, which `test_console` fills in: a page less to load.
    """
    with open_console(browser, cluster.http_url) as tab:
        given = {"name": cluster.admin_name, "password": cluster.admin_password}
        assert tab.page.request.post("/api/v1/session", data=given).ok
        yield tab
