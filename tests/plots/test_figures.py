"""Every figure: draws, overlaps nothing, embeds its fonts, redraws to the same bytes, leaves settings alone."""

import hashlib
import itertools
import json
import re
import shutil
import subprocess
import zlib
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from fcb_toolkit import plots
from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.records import FailureKind

from .toys import NAMES, curves, frame, two_benchmarks

NAMED = sorted(plots.FIGURES)
SIZES = [(name, models) for name in NAMED for models in (1, 3, 12) if (name, models) != ("differences", 1)]


def draw(name, models=3, width="acl*", **options):
    if name == "roc":
        return plots.roc(curves(models), width=width, **options)
    data = frame(models)
    return plots.FIGURES[name](two_benchmarks(data) if name == "formats" else data, width=width, **options)


def boxes(fig):
    """(text, extent in inches) of each text that is drawn."""
    renderer = fig.canvas.get_renderer()
    hidden = {label for axes in fig.axes for axis in (axes.xaxis, axes.yaxis) for label in undrawn(axis)}
    to_inches = fig.dpi_scale_trans.inverted()
    return [
        (text.get_text(), text.get_window_extent(renderer).transformed(to_inches))
        for text in fig.findobj(Text)
        if text.get_visible() and text.get_text().strip() and text not in hidden
    ]


def undrawn(axis):
    """Labels of ticks outside the view, on the other side, or of axes that are switched off."""
    ticks = [*axis.majorTicks, *axis.minorTicks]
    drawn = axis._update_ticks() if axis.axes.axison else []
    shown = {label for tick in drawn for label in (tick.label1, tick.label2) if label.get_visible()}
    return {label for tick in ticks for label in (tick.label1, tick.label2)} - shown


@pytest.mark.parametrize("width", ["acl", "acl*"])
@pytest.mark.parametrize(("name", "models"), SIZES)
def test_no_text_overlaps_another_or_leaves_the_figure(name, models, width):
    fig = draw(name, models, width)
    with plots.style():
        mpl.backends.backend_agg.FigureCanvasAgg(fig).draw()
        texts = boxes(fig)
    wide, high = fig.get_size_inches()
    for text, box in texts:
        assert box.x0 > -0.02 and box.x1 < wide + 0.02, f"{text!r} leaves the figure sideways"
        assert box.y0 > -0.02 and box.y1 < high + 0.02, f"{text!r} leaves the figure up or down"
    for (one, a), (other, b) in itertools.combinations(texts, 2):
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        down = min(a.y1, b.y1) - max(a.y0, b.y0)
        # Boxes reach beyond the ink by the font's own leading, about 0.02 inches above and below.
        assert across <= 0.01 or down <= 0.03, (
            f"{one!r} overlaps {other!r} by {across:.2f} x {down:.2f} inches"
        )


@pytest.mark.parametrize("name", NAMED)
def test_a_figure_has_the_width_it_was_asked_for(name):
    fig = draw(name, width="icml")
    assert isinstance(fig, Figure)
    assert fig.get_figwidth() == plots.WIDTHS["icml"]


@pytest.mark.parametrize("name", NAMED)
def test_drawn_again_and_redrawn_from_its_csv_a_figure_has_the_same_bytes(name, tmp_path):
    first = plots.save(draw(name), tmp_path / "first", commit="c")
    again = plots.save(draw(name), tmp_path / "again", commit="c")
    read = plots.save(plots.redraw(tmp_path / "first"), tmp_path / "read", commit="c")
    for suffix in ("pdf", "png", "csv", "json"):
        sums = {hashlib.sha256(files[suffix].read_bytes()).hexdigest() for files in (first, again, read)}
        assert len(sums) == 1, suffix


def embedded(pdf):
    """(name, type, bytes of the font file) of each font of a PDF, read from its own objects."""
    raw = pdf.read_bytes()
    streams = [
        zlib.decompress(part)
        for part in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", raw, re.S)
        if part[:1] == b"x"
    ]
    text = raw + b"".join(streams)
    names = set(re.findall(rb"/BaseFont /([^\s/]+)", text))
    files = re.findall(rb"/FontFile2 \d+ 0 R", text)
    kinds = set(re.findall(rb"/Subtype /(Type3|CIDFontType2|TrueType|Type1|Type42)\b", text))
    return names, files, kinds, [part for part in streams if part[:4] == b"\x00\x01\x00\x00"]


@pytest.mark.parametrize("name", NAMED)
def test_the_fonts_are_embedded_as_truetype(name, tmp_path):
    pdf = plots.save(draw(name), tmp_path / "figure")["pdf"]
    names, files, kinds, fonts = embedded(pdf)
    assert any(b"NanumGothic" in font for font in names)
    assert files and fonts, "no font file in the PDF"
    assert kinds <= {b"CIDFontType2", b"TrueType"}, kinds
    if shutil.which("pdffonts"):
        lines = subprocess.run(
            ["pdffonts", str(pdf)], capture_output=True, text=True, check=True
        ).stdout.splitlines()[2:]
        # Columns from the right: object id (two), uni, sub, emb.
        assert lines and all(line.split()[-5] == "yes" for line in lines), lines


def test_every_hangul_syllable_of_a_label_is_in_the_embedded_font(tmp_path):
    from io import BytesIO

    from fontTools.ttLib import TTFont

    pdf = plots.save(draw("accuracy", 3), tmp_path / "figure")["pdf"]
    _, _, _, fonts = embedded(pdf)
    glyphs = 0
    for font in fonts:
        table = TTFont(BytesIO(font))["glyf"]
        glyphs += sum(table[glyph].numberOfContours != 0 for glyph in table.keys())  # noqa: SIM118
    hangul = {letter for letter in NAMES[1] if "가" <= letter <= "힣"}
    assert glyphs >= len(hangul) + 20


@pytest.mark.parametrize("text", ["모델 🙂", "a\tb", "中文 日本", "x\u200by", "$a_b$ 50%"])
def test_a_letter_that_no_font_has_is_replaced_and_never_warned_about(text, tmp_path):
    data = frame(2, names=[text, "plain"])
    # Warnings are errors in these tests, "Glyph missing" among them.
    plots.save(plots.accuracy(data), tmp_path / "figure")


@pytest.mark.parametrize("name", NAMED)
def test_drawing_changes_no_global_setting(name, tmp_path):
    before = dict(mpl.rcParams)
    plots.save(draw(name), tmp_path / "figure")
    assert dict(mpl.rcParams) == before


def test_the_users_own_settings_do_not_change_a_figure(tmp_path):
    usual = plots.save(draw("accuracy"), tmp_path / "usual")["png"].read_bytes()
    with mpl.rc_context(
        {"font.size": 20, "axes.facecolor": "red", "lines.linewidth": 9, "savefig.bbox": "tight"}
    ):
        odd = plots.save(draw("accuracy"), tmp_path / "odd")["png"].read_bytes()
    assert usual == odd


def test_importing_the_plots_does_not_import_pyplot_or_change_settings():
    code = (
        "import matplotlib as mpl; before = dict(mpl.rcParams); import sys; import fcb_toolkit.plots; "
        "assert dict(mpl.rcParams) == before; assert 'matplotlib.pyplot' not in sys.modules; "
        "assert 'koreanize_matplotlib' not in sys.modules; assert 'torch' not in sys.modules"
    )
    import sys

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", NAMED)
def test_in_grey_the_figure_keeps_its_contrast(name, tmp_path):
    from PIL import Image

    png = plots.save(draw(name), tmp_path / "figure")["png"]
    grey = np.asarray(Image.open(png).convert("L"))
    assert (grey < 110).mean() > 0.004
    assert (grey > 200).mean() > 0.25


def test_models_differ_in_grey_by_mark_where_their_colours_are_close():
    from fcb_toolkit.plots.draw import COLORS, MARKERS

    looks = {(COLORS[index % len(COLORS)], MARKERS[index % len(MARKERS)]) for index in range(24)}
    assert len(looks) == 24
    assert len(set(MARKERS[:12])) == 12


def test_failure_kinds_differ_by_hatch_or_by_much_lightness():
    from fcb_toolkit.plots.failures import LOOKS

    def lightness(color):
        red, green, blue = mpl.colors.to_rgb(color)
        return 0.299 * red + 0.587 * green + 0.114 * blue

    for (one, hatch, _), (other, hatched, _) in itertools.combinations(LOOKS, 2):
        assert hatch != hatched or abs(lightness(one) - lightness(other)) > 0.15


@pytest.mark.slow
def test_the_image_is_what_it_was_within_a_tolerance(tmp_path):
    """A coarse thumbnail of each figure against the stored one: moved, missing or recoloured parts show."""
    from PIL import Image

    stored = json.loads((Path(__file__).parent / "thumbnails.json").read_text())
    for name in NAMED:
        png = plots.save(draw(name), tmp_path / name)["png"]
        small = np.asarray(Image.open(png).convert("L").resize((24, 16), Image.Resampling.BOX), dtype=int)
        assert np.abs(small - np.array(stored[name])).mean() < 4, (
            f"{name} changed; see docs/figures.md, After a wanted change"
        )


def test_provenance_says_how_the_figure_was_made(tmp_path):
    fig = plots.accuracy(frame(2), width="icml")
    files = plots.save(fig, tmp_path / "qwen2.5.pdf", commit="abc", extra={"note": "n"})
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"qwen2.5.{s}" for s in ("csv", "json", "pdf", "png")
    ]
    about = json.loads(files["json"].read_text())
    assert about["function"] == "fcb_toolkit.plots.accuracy"
    assert about["arguments"]["width"] == "icml"
    assert about["runs"] == ["run-0", "run-1"]
    assert (about["commit"], about["note"]) == ("abc", "n")
    assert len(pd.read_csv(files["csv"])) == about["rows"]


def test_only_figures_of_the_toolkit_can_be_saved():
    with pytest.raises(DataError, match=r"was not drawn by a function of fcb\.plots"):
        plots.save(Figure(), "x")


def test_a_notebook_shows_a_figure_without_pyplot():
    assert draw("accuracy")._repr_png_().startswith(b"\x89PNG")


def test_redraw_refuses_files_that_save_did_not_write(tmp_path):
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(DataError, match="not a figure that"):
        plots.redraw(tmp_path / "x")


def test_redraw_can_change_the_width(tmp_path):
    plots.save(draw("heatmap"), tmp_path / "x")
    assert plots.redraw(tmp_path / "x", width="icml").get_figwidth() == 3.25


def test_wrong_widths_and_frames_are_said():
    with pytest.raises(UnknownName, match=r"unknown width 'acll'\. Did you mean 'acl'\?"):
        draw("accuracy", width="acll")
    with pytest.raises(DataError, match="expected inches between 1 and 40"):
        draw("accuracy", width=300)
    with pytest.raises(DataError, match=r"plots\.accuracy: the frame lacks model, category"):
        plots.accuracy(pd.DataFrame({"outcome": ["pass"]}), over="model")
    with pytest.raises(
        DataError, match=r"plots\.accuracy: found dict, expected a frame such as fcb\.to_frame"
    ):
        plots.accuracy({"outcome": ["pass"]})
    with pytest.raises(DataError, match="has no rows"):
        plots.failures(frame(1).iloc[:0], over="model")
    with pytest.raises(DataError, match=r"condition 'call', expected exact or <number>_random"):
        plots.tool_lists(frame(1).assign(condition="call"))
    with pytest.raises(UnknownName, match="Known: call_match, functionchat_exact, rubric"):
        plots.judge_agreement(frame(1), judge="rubrik")
    with pytest.raises(UnknownName, match="unknown baseline model 'x'"):
        plots.differences(frame(2), baseline="x")


def test_several_runs_of_one_model_are_never_pooled():
    data = frame(2).assign(model="m")
    assert plots.accuracy(data).drawn.rows["run"].unique().tolist() == ["run-0", "run-1"]


def test_categories_of_two_benchmarks_are_kept_apart():
    rows = plots.accuracy(two_benchmarks(frame(2))).drawn.rows
    assert set(rows["category"]) == {"pythonic call", "pythonic slot", "json completion", "json relevance"}


def test_the_drawn_rows_are_those_of_summarize():
    from fcb_toolkit.statistics import summarize

    data = frame(2)
    rows = plots.accuracy(data).drawn.rows
    table = summarize(data, by=["model", "category"])
    merged = rows.merge(table, on=["model", "category"], suffixes=("", "_expected"))
    assert len(merged) == len(table)
    assert (merged["rate"] == merged["rate_expected"]).all()
    assert (merged["low"] == merged["low_expected"]).all()


def test_all_pass_all_fail_and_nothing_scored_can_be_drawn(tmp_path):
    data = frame(3)
    data.loc[data["run"] == "run-0", "outcome"] = "pass"
    data.loc[data["run"] == "run-1", "outcome"] = "fail"
    data.loc[data["run"] == "run-2", "outcome"] = "not_scored"
    data.loc[data["outcome"] != "fail", "failure"] = None
    for name in NAMED:
        if name == "roc":  # takes no outcomes
            continue
        source = two_benchmarks(data) if name == "formats" else data
        plots.save(plots.FIGURES[name](source), tmp_path / name)


@pytest.mark.parametrize("name", ["failures", "flow"])
def test_a_frame_in_which_nothing_is_scored_says_so(name):
    data = frame(2).assign(outcome="not_scored", failure=None)
    with pytest.raises(DataError, match=rf"plots\.{name}: none of the 200 rows is scored.*another metric"):
        plots.FIGURES[name](data)


def test_every_names_the_column_that_a_frame_lacks():
    with pytest.raises(DataError, match=r"plots\.every: the frame lacks benchmark; found run, model"):
        plots.every(frame(1).drop(columns="benchmark"))


def test_published_numbers_are_hollow_named_with_their_source_and_without_interval():
    reference = plots.published("dpab/pythonic", "dpab_strict_official").head(2)
    fig = plots.accuracy(frame(2), reference=reference)
    rows = fig.drawn.rows
    added = rows[rows["published"]]
    assert added["model"].tolist() == ["Claude 3.5 Sonnet†", "o1-preview-2024-09-12†"]
    assert added["low"].isna().all()
    assert set(added["category"]) == {"all"}
    words = " ".join(text.get_text().replace("\n", " ") for text in fig.findobj(Text))
    assert "published, not measured here: DPAB-alpha README" in words


def test_published_numbers_are_only_given_for_the_same_benchmark_and_metric():
    with pytest.raises(UnknownName, match="unknown published metric 'call_match'"):
        plots.published("functionchat/singlecall", "call_match")
    with pytest.raises(UnknownName, match="unknown published benchmark 'dpab'"):
        plots.published("dpab", "dpab_strict_official")
    table = plots.published("dpab/json", "dpab_strict_official")
    assert table.set_index("model").loc["Dria-Agent-a-3B", "rate"] == 0.31
    assert table["source"].str.len().min() > 10


def test_the_published_numbers_are_those_of_the_collected_table(shared):
    ours = pd.concat(
        [
            plots.published(*pair)
            for pair in {("dpab/pythonic", "dpab_strict_official"), ("dpab/json", "dpab_strict_official")}
        ]
    )
    theirs = pd.read_csv(shared / "design" / "published.csv").query("benchmark == 'dpab'")
    theirs = theirs.assign(benchmark="dpab/" + theirs["split"], rate=theirs["value"] / 100)
    merged = ours.merge(theirs, on=["benchmark", "model"], suffixes=("", "_theirs"), validate="1:1")
    assert len(merged) == len(theirs) == len(ours)
    assert np.allclose(merged["rate"], merged["rate_theirs"])


def test_the_flow_knows_every_failure_kind_once():
    from fcb_toolkit.plots.flow import STAGES

    kinds = [kind for stage in STAGES.values() for kind in stage]
    assert sorted(kinds) == sorted(FailureKind)


def test_the_flow_ends_at_the_passes():
    data = frame(2)
    rows = plots.flow(data).drawn.rows
    for model, part in rows.groupby("model"):
        passes = ((data["model"] == model) & (data["outcome"] == "pass")).sum()
        assert part.set_index("stage").loc["pass", "entered"] == passes


def test_failures_count_each_failed_case_once():
    data = frame(2)
    rows = plots.failures(data, most=3).drawn.rows
    assert rows["count"].sum() == (data["outcome"] == "fail").sum()
    assert set(rows["shown_as"]) <= {*FailureKind, "other kinds"}
    assert rows.loc[rows["shown_as"] != "other kinds", "kind"].nunique() == 3


def test_kappa_is_scikit_learns():
    from sklearn.metrics import cohen_kappa_score

    data = frame(1)
    row = plots.agreement_table(data, "rubric", "call_match").iloc[0]
    scored = data[data[["outcome_rubric", "outcome_call_match"]].isin(["pass", "fail"]).all(axis=1)]
    expected = cohen_kappa_score(scored["outcome_rubric"], scored["outcome_call_match"])
    assert row["kappa"] == pytest.approx(expected)
    assert row["n"] + row["not_scored"] == len(data)


def test_labels_at_the_right_are_spread_and_stay_inside():
    from fcb_toolkit.plots.cost import spread

    places = spread([50, 50, 50, 2, 1], [10, 10, 10, 10, 10])
    assert all(a - b >= 10 - 1e-9 for a, b in itertools.pairwise(places))
    assert min(places) >= 5 and max(places) <= 95


def test_a_latex_table_has_booktabs_rules_intervals_and_escaped_text():
    from fcb_toolkit.statistics import summarize

    data = frame(2, names=["a_b & 50%", "한국어"])
    table = summarize(data, by=["model", "category"])
    text = plots.latex_table(table, columns="category", caption="Rates", label="tab:rates")
    assert all(rule in text for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\caption{Rates}"))
    assert r"a\_b \& 50\%" in text
    assert "한국어" in text
    row = table.iloc[0]
    assert f"{100 * row['rate']:.1f} [{100 * row['low']:.1f}, {100 * row['high']:.1f}]" in text
    long = plots.latex_table(table)
    assert long.count(r"\\") == len(table) + 1
    assert r"rate, \% &" in long


def test_a_report_draws_each_figure_whose_rows_are_there():
    data = frame(3)
    assert list(plots.every(data)) == [name for name in plots.every.__globals__["EVERY"] if name != "formats"]
    assert list(plots.every(frame(1))) == [
        "accuracy",
        "tool_lists",
        "failures",
        "flow",
        "official_vs_ours",
        "judge_agreement",
        "cost",
    ]
    assert "formats" in plots.every(two_benchmarks(frame(2)))
    nothing = (
        frame(1).assign(outcome="not_scored").drop(columns=["outcome_rubric", "outcome_functionchat_exact"])
    )
    assert plots.every(nothing) == {}


def test_samples_of_a_case_draw_no_paired_difference():
    data = frame(2)
    assert "differences" not in plots.every(pd.concat([data, data]))


def test_stages_compare_the_cases_that_every_side_has():
    data = frame(2)
    data = data[(data["run"] == "run-0") | (data["category"] != "slot")]
    rows = plots.stages(data, over="run").drawn.rows
    both = data[data["category"] != "slot"].pivot(index="case_id", columns="run", values="outcome")
    both = both[both.isin(["pass", "fail"]).all(axis=1)]
    assert set(rows["n"]) == {len(both)}
    passed = rows[rows["stage"] == "pass"].set_index("run")
    assert passed["rate"].to_dict() == pytest.approx(both.eq("pass").mean().to_dict())
    assert rows.groupby("run")["rate"].sum().to_list() == pytest.approx([1, 1])


def test_stages_give_the_paired_difference_of_two_sides():
    from fcb_toolkit.statistics import compare

    data = frame(2)
    data.loc[data["run"] == "run-0", "failure"] = data["failure"].where(
        data["outcome"] != "fail", "malformed_call"
    )
    rows = plots.stages(data, over="run").drawn.rows
    found = compare(data[data["run"] == "run-0"], data[data["run"] == "run-1"])
    row = rows[(rows["stage"] == "pass") & (rows["run"] == "run-1")].iloc[0]
    assert (row["difference"], row["difference_low"], row["difference_high"]) == pytest.approx(
        (found.difference, found.low, found.high)
    )
    unreadable = rows[rows["stage"] == "format"].set_index("run")
    assert unreadable.loc["run-0", "rate"] > unreadable.loc["run-1", "rate"]
    assert unreadable.loc["run-1", "difference"] < 0
    assert rows[rows["run"] == "run-0"]["difference"].isna().all()


def test_a_failure_of_another_tools_kind_is_counted_too():
    rows = plots.stages(frame(1).assign(outcome="fail", failure="odd")).drawn.rows
    assert rows.set_index("stage")["rate"].to_dict() == {"pass": 0, "format": 0, "other": 1}


def test_stages_of_runs_without_a_shared_case_are_refused():
    data = frame(2)
    data.loc[data["run"] == "run-1", "case_id"] += "x"
    with pytest.raises(DataError, match=r"plots\.stages: the 2 sides of 'run' share no scored case"):
        plots.stages(data, over="run")
