"""docs/models.md says what the audit says."""

from pathlib import Path

import pytest

from fcb_toolkit.rendering.models_table import SEEDS, main, page


def test_the_page_is_what_the_templates_at_hand_give(shared: Path, root: Path) -> None:
    assert (root / "docs" / "models.md").read_text(encoding="utf-8") == page(shared / "templates")


def test_every_seed_model_has_its_row(root: Path) -> None:
    text = (root / "docs" / "models.md").read_text(encoding="utf-8")
    assert [model for model in SEEDS if f"## {model}\n" not in text] == []
    assert len(SEEDS) == 6


def test_the_command_asks_for_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage:" in capsys.readouterr().err
