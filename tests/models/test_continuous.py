"""transformers' continuous batching as an engine, on the CPU: the same greedy replies, its limits, its failures."""

import random

import pytest
import tiny

import fcb_toolkit as fcb
from fcb_toolkit.errors import ModelError
from fcb_toolkit.models import huggingface_continuous
from fcb_toolkit.records import Rendered

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def pair():
    tok = tiny.tokenizer()
    return tiny.model(tok), tok


@pytest.fixture(scope="module")
def prompts():
    """Two families that share more than a page, and some that share nothing."""
    words = random.Random(3)

    def text(count):
        return " ".join(words.choice(("도구", "name", "call", "를", "부른다", "7")) for _ in range(count))

    starts = [text(200), text(150), ""]
    return [Rendered(f"{start} {text(length)}") for start in starts for length in (3, 40, 9, 1)]


def texts(model, prompts, **settings):
    found = dict(model.generate(prompts, fcb.Generation(**{"max_new_tokens": 12, **settings})))
    return [(found[i].text, found[i].finish_reason, found[i].reply_tokens) for i in range(len(prompts))]


def test_greedy_replies_are_those_of_the_plain_engine(pair, prompts):
    model = fcb.load_model(pair, engine="continuous")
    before = pair[0].config._attn_implementation
    assert model.engine == model.describe()["engine"] == "continuous"
    expected = texts(fcb.load_model(pair, engine="plain"), prompts)
    assert texts(model, prompts) == expected and len(set(expected)) > 6
    assert pair[0].config._attn_implementation == before


def test_replies_that_end_early_end_with_their_stop_token(pair, prompts):
    plain = fcb.load_model(pair, engine="plain")
    ids = plain.tokenizer(prompts[0].prompt, add_special_tokens=False, return_tensors="pt")["input_ids"]
    written = pair[0].generate(ids, max_new_tokens=6, do_sample=False)[0, ids.shape[1] :].tolist()
    model = fcb.load_model(pair, engine="continuous")
    model.stop_ids = plain.stop_ids = (*plain.stop_ids, written[4])
    stopped = texts(model, prompts)
    assert stopped == texts(plain, prompts)
    assert ("stop", True) in {(finish, tokens < 12) for _, finish, tokens in stopped}


def test_a_cache_that_holds_few_of_the_prompts_changes_no_reply(pair, prompts, monkeypatch):
    model = fcb.load_model(pair, engine="continuous")
    expected = texts(model, prompts)
    longest = max(len(model.tokenizer(p.prompt)["input_ids"]) for p in prompts) + 12
    monkeypatch.setattr(
        huggingface_continuous, "tokens_that_fit", lambda _: longest + 2 * huggingface_continuous.PAGE
    )
    assert texts(model, prompts) == expected


@pytest.mark.parametrize(
    ("settings", "found"),
    [({"temperature": 0.5}, "temperature above 0"), ({"constrain": "tools"}, "constrain='tools'")],
)
def test_what_it_cannot_do_is_said_before_anything_is_asked(pair, prompts, settings, found):
    model = fcb.load_model(pair, engine="continuous")
    with pytest.raises(
        ModelError, match=f"engine='continuous' is greedy, found {found}; use 'prefix' or 'plain'"
    ):
        list(model.generate(prompts, fcb.Generation(**settings)))


def test_a_loop_that_dies_gives_an_error_for_what_was_open(pair, prompts, monkeypatch):
    model = fcb.load_model(pair, engine="continuous")

    def broken(*_args, **_keywords):
        raise RuntimeError("no more pages")

    monkeypatch.setattr(type(pair[0]), "forward", broken)
    replies = list(model.generate(prompts[:3], fcb.Generation(max_new_tokens=4)))
    assert {reply.finish_reason for _, reply in replies} == {"error"}
    assert all("no more pages" in reply.notes[0] for _, reply in replies) and len(replies) == 3


def test_leaving_early_stops_the_thread(pair, prompts):
    import threading

    model = fcb.load_model(pair, engine="continuous")
    replies = model.generate(prompts, fcb.Generation(max_new_tokens=400))
    next(replies)
    running = threading.active_count()
    replies.close()
    assert threading.active_count() == running - 1
