"""The pages as people use them, in headless Chromium."""

from collections.abc import Iterator

import pytest
from environments.fathom.devtools import CHROMIUM, REASON, Page, browsing
from environments.fathom.serving import Server, serving
from fathom_env.server.pages import FILES

from tiebreak.domains.fathom import recorded

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=REASON)
HOSTILE = "</pre><img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>\u202e"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browsing(tmp_path_factory.mktemp("profile")) as found:
        yield found


def start(page: Page, server: Server, kind: str = "niah") -> None:
    page.open(f"{server.url}/")
    page.value(f"document.getElementById('kind').value = '{kind}'")
    page.value("document.querySelector('#start button').click()")
    page.wait("document.querySelectorAll('.turn').length === 2")


def test_an_episode_from_start_to_reward(page: Page, server: Server) -> None:
    start(page, server)
    assert "[Document excerpt]:" in page.text("turns") and "8 turns with code and 16 calls" in page.text("left")
    page.fill("code", "print(len(ctx), llm('What is it?', ctx))", "run")
    page.wait("document.querySelectorAll('.turn').length === 4")
    assert page.value("document.querySelectorAll('#tree li').length") == 3
    assert page.value("document.querySelectorAll('#tree li li').length") == 2
    assert "depth 2" in page.text("tree") and "3 calls of llm() answered, 0 refused, 2 deep" in page.text("tree")
    assert not page.value("document.getElementById('episode').hidden")
    page.fill("text", "no idea", "answer")
    page.wait("!document.getElementById('result').hidden")
    assert "Not right (final): answered “no idea”; the answer is “" in page.text("verdict")
    assert page.value("[...document.querySelectorAll('#rewards th')].map((one) => one.innerText).join()") == (
        ",v1_gate,v2_soft,v3_recursion"
    )
    last = page.value("[...document.querySelectorAll('#rewards .sum td')].map((one) => one.innerText).join()")
    assert last == "reward,0.05,0.15,0.25"
    assert page.value("document.getElementById('code').disabled")
    assert page.problems == []


def test_what_code_prints_is_shown_and_never_markup(page: Page, server: Server) -> None:
    start(page, server)
    page.fill("code", f"llm({HOSTILE!r})\nprint({HOSTILE!r})", "run")
    page.wait("document.querySelectorAll('.turn').length === 4")
    assert "<script>document.title='owned'</script>⟨U+202E⟩" in page.text("turns")
    assert "⟨U+202E⟩" in page.text("tree")
    page.fill("text", HOSTILE, "answer")
    page.wait("!document.getElementById('result').hidden")
    assert page.value("document.querySelectorAll('main img, main script').length") == 0
    assert page.value("document.title") == "FATHOM: play an episode"
    assert page.problems == []


def test_errors_are_told_in_words_and_another_episode_can_be_started(page: Page, server: Server) -> None:
    start(page, server)
    page.fill("code", "print('<answer>1</answer>')", "run")
    page.wait("!document.getElementById('problem').hidden")
    assert "pair of <answer> tags" in page.text("problem")
    page.fill("code", "print(1 + 1)", "run")
    page.wait("document.getElementById('turns').innerText.includes('the REPL')")
    assert page.value("document.getElementById('problem').hidden")


def test_a_full_server_and_silence_are_told_kindly(page: Page, tmp_path: object, tmp_path_factory: object) -> None:
    folder = tmp_path_factory.mktemp("full")  # type: ignore[attr-defined]
    with serving(folder, SESSIONS="1", IDLE_SECONDS="4") as small:
        start(page, small)
        page.value("window.first = socket; socket = null; document.querySelector('#start button').click()")
        page.wait("document.getElementById('problem').innerText.includes('The server is full: 1 of 1')")
        page.wait("window.first.readyState === WebSocket.CLOSED")
        start(page, small)
        page.wait("document.getElementById('problem').innerText.includes('nothing came for 4 seconds')")


def test_recorded_episodes_are_played_back_and_say_what_they_are(page: Page, server: Server) -> None:
    episodes = recorded.load()["episodes"]
    page.open(f"{server.url}/demo")
    page.wait(f"document.querySelectorAll('#which option').length === {len(episodes)}")
    assert page.text("label") == episodes[0]["label"] and "commit" in page.text("source")
    assert page.value("document.querySelectorAll('.turn').length") == 2
    page.value("document.getElementById('next').click()")
    assert page.value("document.querySelectorAll('.turn').length") == 3
    assert page.value("document.getElementById('result').hidden")
    for place, episode in enumerate(episodes):
        page.value(f"byId('which').value = {place}; byId('which').dispatchEvent(new Event('change'))")
        page.value("byId('all').click()")
        assert page.value("document.querySelectorAll('.turn').length") == len(episode["turns"])
        assert page.text("verdict").startswith("Right" if episode["correct"] else "Not right")
        assert page.value("document.querySelectorAll('#tree li').length") == len(episode["tree"] or [])
    assert page.problems == []


def test_dark_and_narrow(page: Page, server: Server) -> None:
    def paper() -> object:
        return page.value("getComputedStyle(document.body).backgroundColor")

    page.open(f"{server.url}/")
    light = paper()
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert paper() != light
    page.call("Emulation.setDeviceMetricsOverride", width=360, height=700, deviceScaleFactor=1, mobile=True)
    for name in ("", "demo"):
        page.open(f"{server.url}/{name}")
        page.wait("document.getElementById('about').innerText.length > 50")
        assert page.value("document.documentElement.scrollWidth") <= 360
    page.call("Emulation.clearDeviceMetricsOverride")


@pytest.mark.parametrize("name", ["", "demo", *(f"page/{name}" for name in FILES)])
def test_pages_ask_for_nothing_outside(server: Server, name: str) -> None:
    assert "://" not in server.get(name)
