"""Names and what they stand for: ours, versioned, mistyped, and those of other packages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import stereometer
from stereometer.core import catalog
from stereometer.core.errors import UnknownName
from stereometer.core.runs.open import open_model
from stereometer.core.types import Backend, Measure, Method, Scorer, Variant
from stereometer.kinds.cats.methods import PSEUDO_LIKELIHOOD
from stereometer.models.baselines.fake import Fake
from tests.builders.commands import call
from tests.builders.little import QUICK

EVERY = [(kind, name) for kind, names in catalog.TABLE.items() for name in names]


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_every_name_stands_for_something(kind: str, name: str) -> None:
    assert catalog.has(kind, name)
    assert catalog.find(kind, name) is not None


@pytest.mark.parametrize("name", catalog.TABLE["benchmark"])
def test_a_benchmark_goes_by_the_name_of_its_card(name: str) -> None:
    assert catalog.find("benchmark", name).card.name == name


@pytest.mark.parametrize("name", [*catalog.TABLE["backend"], *catalog.TABLE["system"]])
def test_a_model_goes_by_the_name_on_its_card(name: str) -> None:
    model = open_model(name)
    assert model.card.name == name
    assert isinstance(model, Backend if catalog.has("backend", name) else Scorer)


@pytest.mark.parametrize("name", catalog.TABLE["method"])
def test_a_versioned_name_finds_the_same_measure(name: str) -> None:
    assert catalog.find("method", f"{name}@1") is catalog.find("method", name)


def test_a_version_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UnknownName):
        catalog.find("method", "cat-likelihood@99")


@pytest.mark.parametrize(
    ("kind", "name", "known"),
    [
        ("benchmark", "CrowS_Pairs", "crows-pairs"),
        ("benchmark", "StereoSet", "stereoset"),
        ("model", "SmolLM2-135M", "smollm2-135m"),
        ("method", "Pair_Likelihood@1", "pair-likelihood@1"),
        ("exporter", "model_card", "model-card"),
        ("backend", "Fake", "fake"),
    ],
)
def test_a_name_in_another_spelling_is_known(
    kind: str, name: str, known: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert catalog.find(kind, name) is catalog.find(kind, known)
    assert catalog.spelled(kind, name) == known
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).mkdir()
    assert catalog.spelled(kind, name) == name, "a folder of that name is meant"


def test_a_command_and_a_verb_take_a_name_in_another_spelling() -> None:
    said = call("run", "Starter", "-m", "FAKE", "--measure", "Pair_Likelihood", "--dry-run")
    assert said.out.startswith("starter · pair-likelihood@1 · fake: 400 items")
    (result,) = stereometer.run("STARTER", model="Ideal", measure="pair_likelihood", **QUICK)
    assert (result.benchmark, result.model) == ("starter", "ideal")
    assert call("published", "crows_pairs").code == 0


@pytest.mark.parametrize(
    ("kind", "name", "hint"),
    [
        ("benchmark", "sterioset", "Did you mean stereoset"),
        ("benchmark", "crowspairs", "Did you mean crows-pairs"),
        ("method", "cat-liklihood", "Did you mean cat-likelihood"),
        ("backend", "zzz", "Known: fake, random, sentiment."),
    ],
)
def test_a_mistyped_name_gets_the_nearest_ones(kind: str, name: str, hint: str) -> None:
    with pytest.raises(UnknownName) as error:
        catalog.find(kind, name)
    noun = catalog.NOUNS.get(kind, kind)
    assert f"There is no {noun} called '{name}'" in str(error.value)
    assert hint in str(error.value)
    assert "stereometer list" in str(error.value)


def test_models_and_baselines_are_looked_for_together() -> None:
    with pytest.raises(UnknownName, match=r"There is no model called 'idel'. Did you mean ideal"):
        open_model("idel")


# ------------------------------------------------------------------------------------------ plugins


class Plugin(Fake):
    """A model of another package."""


ASSOCIATION = replace(PSEUDO_LIKELIHOOD, name="association-of-theirs")
"""A method of another package: it reads CATs, whatever it is called."""


class Silent(Method):
    """By an author who declares only what a method cannot do without."""

    def bind(self, backend: Backend, variant: Variant, options: object) -> Measure:
        return ASSOCIATION.bind(backend, variant, ASSOCIATION.options())


POINTS: dict[str, list[tuple[str, object]]] = {
    "stereometer.backends": [("theirs", Plugin), ("fake", Plugin)],
    "stereometer.methods": [
        ("association-of-theirs", ASSOCIATION),
        ("silent", Silent("silent", "cat")),
    ],
}


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def entry_points(group: str) -> list[SimpleNamespace]:
        return [
            SimpleNamespace(name=name, load=lambda found=found: found)
            for name, found in POINTS.get(group, [])
        ]

    monkeypatch.setattr(catalog, "entry_points", entry_points)
    catalog._plugins.cache_clear()
    yield
    catalog._plugins.cache_clear()


@pytest.mark.usefixtures("plugins")
def test_plugins_are_found_listed_and_run() -> None:
    assert catalog.find("backend", "theirs") is Plugin
    assert catalog.names("backend") == ["fake", "random", "sentiment", "theirs"]
    (result,) = stereometer.run("starter", model="theirs", measure=["pair-likelihood"], **QUICK)
    assert result.estimate("pair_preference").n == 400


@pytest.mark.usefixtures("plugins")
def test_ours_come_before_a_plugin_of_the_same_name() -> None:
    assert catalog.find("backend", "fake") is Fake


@pytest.mark.usefixtures("plugins")
def test_a_mistyped_plugin_is_suggested() -> None:
    with pytest.raises(UnknownName, match="Did you mean theirs"):
        catalog.find("backend", "their")


@pytest.mark.usefixtures("plugins")
def test_a_measure_gets_the_items_it_reads() -> None:
    (result,) = stereometer.run(
        "starter", model="theirs", measure=["association-of-theirs"], **QUICK
    )
    assert result.data["items"] == 480


@pytest.mark.usefixtures("plugins")
def test_a_method_that_says_less_of_itself_is_listed_and_run() -> None:
    method = catalog.find("method", "silent@1")
    assert (method.version, method.source, method.own_ties, method.in_words) == ("1", "", 0, 0)
    listed = call("list", "--json").json["measures"]
    assert {"name": "silent", "source": ""} in listed
    (result,) = stereometer.run("starter", model="fake", measure="silent", **QUICK)
    assert result.estimate("ss").value is not None


def test_only_the_fake_is_for_testing() -> None:
    listed = call("list", "--json").json
    assert listed["testing_aids"] == ["fake"]
    assert listed["baselines"] == ["ideal", "stereotyped", "random", "sentiment"]
