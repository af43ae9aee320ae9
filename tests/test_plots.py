import matplotlib
import numpy as np
import pytest

from relpos_np import plots, relative_position_matrix


def test_signed_colours_are_symmetric_about_a_white_zero():
    figure = plots.position_figure(relative_position_matrix(3, 5, query_start=0))
    mesh = figure.axes[0].collections[0]
    assert mesh.get_clim() == (-4, 4)
    np.testing.assert_allclose(mesh.to_rgba(0.0)[:3], 0.97, atol=0.01)


def test_weights_start_at_zero_and_panels_share_one_scale():
    weights = np.array([[[0.1, 0.2], [0.3, 0.0]], [[0.9, 0.0], [0.0, 0.5]]])
    figure = plots.weights_figure(weights, tokens=["a", "b"])
    limits = [axes.collections[0].get_clim() for axes in figure.axes[:2]]
    assert limits == [(0, 0.9), (0, 0.9)]
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert labels == ["a", "b"]


def test_query_runs_down_and_key_runs_right_with_names_and_a_titled_colour_bar():
    figure = plots.index_figure(np.array([[2, 3], [1, 2]]))
    axes, colour_bar = figure.axes
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("key position j", "query position i")
    assert colour_bar.get_title(loc="left") == "table row"
    assert [text.get_text() for text in axes.texts] == ["2", "3", "1", "2"]


def test_masked_pairs_are_grey_without_a_number_and_do_not_spoil_the_scale():
    scores = np.array([[1.0, -np.inf], [-2.0, np.nan]])
    axes = plots.matrix_figure(scores, symbol="e").axes[0]
    mesh = axes.collections[0]
    assert mesh.get_clim() == (-2, 2)
    np.testing.assert_array_equal(mesh.get_array().mask, [[False, True], [False, True]])
    assert [text.get_text() for text in axes.texts] == ["1.00", "-2.00"]


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_the_same_figure_gives_the_same_bytes_and_leaves_no_other_file(tmp_path, suffix):
    for name in ("first", "second"):
        figure = plots.position_figure(relative_position_matrix(4))
        plots.save_figure(figure, tmp_path / "new" / f"{name}{suffix}")
    first, second = sorted((tmp_path / "new").iterdir())
    assert first.read_bytes() == second.read_bytes()


def test_a_format_that_is_not_reproducible_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"ends in \.svg or \.png"):
        plots.save_figure(plots.index_figure(np.array([[1]])), tmp_path / "figure.pdf")


@pytest.mark.parametrize(("matrices", "options", "message"), [
    (np.ones((1, 2, 2, 2)), {}, r"got shape \(2, 2, 2\)"),
    (np.ones((0, 3)), {}, r"at least \(1, 1\), got shape \(0, 3\)"),
    ([], {}, "no matrix to draw"),
    (np.eye(2) * 1j, {}, "real or .imag"),
    (-np.eye(2), {"signed": False}, "would look like 0"),
    (np.eye(2), {"limit": 0}, "limit must be positive, got 0"),
    (np.ones((2, 2, 2)), {"columns": 0}, "columns must be positive, got 0"),
    (np.ones((2, 2, 2)), {"titles": ["one"]}, "1 titles for 2 panels"),
    (np.ones((2, 3)), {"query_tokens": ["a"]}, "1 tokens for 2 positions"),
])
def test_what_would_be_an_empty_or_misleading_picture_is_refused(matrices, options, message):
    with pytest.raises(ValueError, match=message):
        plots.matrix_figure(matrices, symbol="x", **options)


def test_tokens_are_shown_as_they_are(tmp_path):
    tokens = ["$5 or $6", " ", "$\\bad$"]
    figure = plots.matrix_figure(np.eye(3), symbol="x", query_tokens=tokens)
    plots.save_figure(figure, tmp_path / "tokens.svg")
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == [r"\$5 or \$6", "\N{OPEN BOX}", "\\$\\bad\\$"]


def test_odd_matrices_are_drawn():
    for matrix in (np.zeros((1, 1)), np.full((2, 2), np.nan), np.eye(2, dtype=bool),
                   np.array([[-128]], np.int8)):
        mesh = plots.matrix_figure(matrix, symbol="x").axes[0].collections[0]
        assert mesh.get_clim()[1] in (1, 128)


def test_the_reader_s_own_settings_change_nothing(tmp_path):
    plain = plots.png_bytes(plots.position_figure(relative_position_matrix(3)))
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        assert plots.png_bytes(plots.position_figure(relative_position_matrix(3))) == plain


def test_a_figure_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    (tmp_path / "taken.png").mkdir()
    figure = plots.position_figure(relative_position_matrix(3))
    with pytest.raises(OSError, match=r"taken\.png"):
        plots.save_figure(figure, tmp_path / "taken.png")
    assert [path.name for path in tmp_path.iterdir()] == ["taken.png"]


def test_curves_have_units_a_legend_and_a_spread():
    curves = {"a": ([1, 2], [3.0, 4.0], [2.5, 3.5], [3.5, 4.5]), "b": ([1, 2], [1.0, 2.0])}
    axes = plots.curves_figure(curves, x_label="length", y_label="time (s)", log=True).axes[0]
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert len(axes.collections) == 1
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]


def test_the_legend_of_many_curves_lies_beside_the_panel_and_on_the_figure():
    curves = {f"a name as long as some, {n}": ([1, 2], [n, 2.0 * n]) for n in range(1, 10)}
    figure = plots.curves_figure(curves, x_label="length", y_label="time (s)", log=True)
    plots.png_bytes(figure)  # puts the legend in its place
    legend = figure.axes[0].get_legend().get_window_extent()
    assert legend.x0 > figure.axes[0].get_window_extent().x1
    assert legend.x1 <= figure.bbox.x1


@pytest.mark.parametrize(("exponents", "in_between"), [
    ((-50, -1), {"$2^{-7}$"}),
    ((-2, 2), {"$2^{-1}$", "1", "2"}),
    ((8, 14), {"512", "1024", "8192"}),
])
def test_ticks_of_a_logarithmic_axis_are_few_and_do_not_overlap(exponents, in_between):
    x = 2.0 ** np.arange(exponents[0], exponents[1] + 1)
    figure = plots.curves_figure({"a": (x, x)}, x_label="h", y_label="y", log=True)
    plots.png_bytes(figure)  # puts the labels in their places
    axes = figure.axes[0]
    left, right = axes.get_xlim()
    shown = [tick for tick in axes.get_xticklabels() if left <= tick.get_position()[0] <= right]
    assert in_between <= {tick.get_text() for tick in shown}
    assert len(shown) <= 8
    edges = np.array([tick.get_window_extent().intervalx for tick in shown])
    assert (edges[1:, 0] > edges[:-1, 1]).all()
