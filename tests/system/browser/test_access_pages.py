"""An administrator manages the users; an invited user replaces the password first."""

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import expect

from tests.long_form import long_form_only
from tests.system.browser.console_page import Chromium, ConsolePage, open_console
from tests.system.cluster import Cluster
from tests.system.console import administrator
from tests.system.console import stranger as stranger_of

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

CHOSEN = "a password of one's own"


@pytest.fixture
def client(cluster: Cluster) -> Iterator[httpx.Client]:
    with administrator(cluster) as client:
        yield client


def users(client: httpx.Client) -> dict[str, dict[str, object]]:
    found = client.get("/api/v1/users").raise_for_status().json()["items"]
    return {one["name"]: one for one in found}


def invite(console: ConsolePage, name: str, role: str) -> str:
    """Add a user and return the one-time password that is shown."""
    page = console.page
    console.open("/access")
    page.get_by_role("button", name="Add a user…").click()
    dialog = page.get_by_role("dialog", name="Add a user")
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_role("combobox", name="Role").click()
    page.get_by_role("option", name=role).click()
    dialog.get_by_role("button", name="Add", exact=True).click()
    password = dialog.get_by_label(f"One-time password of {name}").input_value()
    dialog.get_by_role("button", name="I have it").click()
    expect(dialog).to_have_count(0)
    return password


def test_a_user_is_invited_and_replaces_the_one_time_password_before_anything_else(
    console: ConsolePage, browser: Chromium, cluster: Cluster, client: httpx.Client
):
    password = invite(console, "bela", "operator")
    row = console.table("Users").get_by_role("row").filter(has_text="bela")
    expect(row).to_contain_text("one-time password until")

    with open_console(browser, cluster.http_url) as guest:
        guest.open("/topics")
        guest.sign_in("bela", password)
        expect(guest.heading("Replace the password")).to_be_visible()
        guest.screenshot("password-light")
        guest.open("/audit")
        expect(guest.heading("Replace the password")).to_be_visible()
        guest.page.get_by_label("Present password").fill(password)
        guest.page.get_by_label("New password", exact=True).fill("short")
        guest.page.get_by_role("button", name="Replace it").click()
        expect(guest.page.get_by_text("At least 12 characters", exact=True)).to_be_visible()
        guest.page.get_by_label("New password", exact=True).fill(CHOSEN)
        guest.page.get_by_label("New password once more").fill(CHOSEN)
        guest.page.get_by_role("button", name="Replace it").click()
        expect(guest.heading("Audit")).to_be_visible()
        guest.open("/access")
        expect(guest.page.get_by_role("radio", name="Sessions")).to_be_checked()
        expect(guest.page.get_by_role("radio", name="Users")).to_have_count(0)
        expect(guest.table("Sessions").get_by_role("row")).to_have_count(2)

    expect(row).to_contain_text("may sign in")
    assert users(client)["bela"]["password_expires_at"] is None


@long_form_only
def test_a_role_is_changed_and_a_user_is_kept_out_for_a_reason_that_the_audit_keeps(
    console: ConsolePage, client: httpx.Client
):
    invite(console, "carla", "viewer")
    page = console.page

    page.get_by_role("button", name="Change the role of carla").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name="Role").click()
    page.get_by_role("option", name="operator").click()
    dialog.get_by_label(re.compile("^Reason")).fill("joins the shift")
    dialog.get_by_role("button", name="Change the role").click()
    row = console.table("Users").get_by_role("row").filter(has_text="carla")
    expect(row).to_contain_text("operator")
    page.get_by_role("button", name="Disable carla").click()
    page.get_by_role("dialog").get_by_role("button", name="Disable", exact=True).click()
    expect(row).to_contain_text("disabled")

    carla = users(client)["carla"]
    assert (carla["role"], carla["disabled_at"] is not None) == ("operator", True)
    entries = client.get("/api/v1/audit", params={"limit": "20"}).json()["items"]
    assert any(entry["details"].get("reason") == "joins the shift" for entry in entries)


@long_form_only
def test_who_is_limited_to_other_clusters_sees_none_of_this_one(
    console: ConsolePage, browser: Chromium, cluster: Cluster, client: httpx.Client
):
    wanted = {"name": "emil", "role": "operator", "cluster_patterns": ["other-*"]}
    password = client.post("/api/v1/users", json=wanted).raise_for_status().json()["password"]
    with stranger_of(cluster) as elsewhere:
        opened = elsewhere.post("/api/v1/session", json={"name": "emil", "password": password})
        opened.raise_for_status()
        given = {"old_password": password, "new_password": CHOSEN}
        elsewhere.put("/api/v1/session/password", json=given).raise_for_status()
    console.open("/access")
    row = console.table("Users").get_by_role("row").filter(has_text="emil")
    expect(row).to_contain_text("other-*")
    console.screenshot("users-limited-light")

    with open_console(browser, cluster.http_url) as guest:
        guest.open("/audit")
        guest.sign_in("emil", CHOSEN)
        expect(guest.heading("Audit")).to_be_visible()
        for path, heading in (("/", "Overview"), ("/topics", "Topics"), ("/locks", "Locks")):
            guest.open(path)
            expect(guest.heading(heading)).to_be_visible()
            guest.page.wait_for_load_state("networkidle")
            expect(guest.page.get_by_text("DefaultCluster")).to_have_count(0)
            expect(guest.page.get_by_role("alert")).to_have_count(0)
        expect(guest.page.get_by_text("You have access to clusters named other-*")).to_be_visible()
        guest.screenshot("limited-light")
        guest.page.get_by_role("button", name="Account of emil").click()
        expect(guest.page.get_by_text("In the clusters other-*")).to_be_visible()


def test_the_last_administrator_stays_and_the_refusal_says_so(console: ConsolePage):
    console.open("/access")
    console.page.get_by_role("button", name="Disable admin").click()
    dialog = console.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Disable", exact=True).click()

    expect(dialog.get_by_role("alert")).to_contain_text("last administrator")


@long_form_only
def test_a_token_is_shown_once_works_and_is_revoked(console: ConsolePage, cluster: Cluster):
    page = console.page
    console.open("/access?tab=tokens")
    page.get_by_role("button", name="Make a token…").click()
    dialog = page.get_by_role("dialog", name="Make a token")
    dialog.get_by_label("Days until it expires").fill("400")
    dialog.get_by_role("button", name="Make it").click()
    expect(dialog.get_by_text("From 1 to 365")).to_be_visible()
    dialog.get_by_label("Days until it expires").fill("7")
    dialog.get_by_label("Name").fill("deploy")
    dialog.get_by_label("Clusters").fill("Default*")
    dialog.get_by_label("It only reads").check()
    dialog.get_by_role("button", name="Make it").click()
    secret = dialog.get_by_label("Token deploy").input_value()
    dialog.get_by_role("button", name="I have it").click()
    row = console.table("API tokens").get_by_role("row").filter(has_text="deploy")
    expect(row).to_contain_text("viewer, reads only")
    expect(page.get_by_text(secret)).to_have_count(0)

    with stranger_of(cluster) as program:
        program.headers["Authorization"] = f"Bearer {secret}"
        path = "/api/v1/clusters/DefaultCluster"
        assert program.get(path).status_code == 200
        page.get_by_role("button", name="Revoke deploy").click()
        page.get_by_role("dialog").get_by_role("button", name="Revoke it").click()
        expect(row).to_have_count(0)
        assert program.get(path).status_code == 401


@long_form_only
def test_signing_out_everywhere_leads_to_the_door(
    browser: Chromium, cluster: Cluster, client: httpx.Client
):
    invited = client.post("/api/v1/users", json={"name": "dora", "role": "viewer"})
    password = invited.raise_for_status().json()["password"]
    with (
        stranger_of(cluster) as elsewhere,
        open_console(browser, cluster.http_url) as console,
    ):
        opened = elsewhere.post("/api/v1/session", json={"name": "dora", "password": password})
        opened.raise_for_status()
        given = {"old_password": password, "new_password": CHOSEN}
        elsewhere.put("/api/v1/session/password", json=given).raise_for_status()
        console.open("/access?tab=sessions")
        console.sign_in("dora", CHOSEN)
        page = console.page
        expect(console.table("Sessions").get_by_role("row")).to_have_count(3)

        page.get_by_role("button", name="Sign out everywhere…").click()
        page.get_by_role("button", name="End all my sessions").click()

        expect(page.get_by_label("Password", exact=True)).to_be_visible()
        assert elsewhere.get("/api/v1/session").status_code == 401
