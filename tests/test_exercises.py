"""The gate of the exercises: mistakes are named, right answers pass, blanks never do."""

import functools
import re
import sys
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("nbformat", reason="the exercises are notebooks")

from solutions import functions

from relpos_np.exercises import check, handed_out, hint, progress
from relpos_np.exercises.checker import judge
from relpos_np.exercises.course import EXERCISES, NOTEBOOKS, WRITTEN, find
from relpos_np.exercises.exercise import IN_CLASS, known_mistakes, started
from relpos_np.exercises.gate import grid, verdicts
from relpos_np.exercises.grid import compare_grid
from relpos_np.exercises.words import WIDTH
from relpos_np.verify.mistakes.mistake import CORRECT

each_exercise = pytest.mark.parametrize("exercise", WRITTEN, ids=lambda e: e.number)
SOLUTIONS, BLANKS = functions(), functions("exercises")

# Mistakes in steps of the exercise that compute the right thing there, and why.
NO_MASK = {"mask_ignored", "mask_inverted", "mask_times_zero", "mask_after_softmax",
           "mask_one_too_many", "mask_one_too_few", "finite_mask_fill"}
UNSEEN = {
    "3.3": NO_MASK  # the double loop has no mask
    | {"no_query_offset", "chunk_one_row"}  # nor a cache
    | {"batch_head_swapped"}  # nor a batch
    | {"int8_overflow"}  # nor a long text
    | {"no_max_subtraction", "global_max"},  # and small scores, as in its lesson
    "3.4": {"finite_mask_fill"},  # shows in 2.6; here only from logits of 10,000 on
}
# Mistakes that are one function on the inputs that an exercise can have.
ONE_FUNCTION = {
    "2.6": [{"rel_key_missing", "alpha_without_rel"}],
    "3.3": [
        {"rel_key_missing", "alpha_without_rel"},
        {"K_index_transposed", "aK_flipped_only"},  # as many queries as keys
        {"V_index_transposed", "aV_flipped_only"},
        {"scale_seq_len", "scale_key_len"},
        {"prefill_last_position", "prefill_one_row"},
        {"clip_k_plus_1", "no_clip", "lower_clip_only"},  # one IndexError
    ],
    "3.4": [{"rel_key_missing", "alpha_without_rel"}],
}


@functools.cache
def answers(number, seed):
    return verdicts(find(number), seed)


@pytest.mark.parametrize("seed", ["0", "ada"])
@each_exercise
def test_every_mistake_gets_its_own_message_and_no_other(exercise, seed):
    correct = {entry.name for entry in IN_CLASS if entry.verdict == CORRECT}
    groups = ONE_FUNCTION.get(exercise.number, [])
    for mistake, kind, answer in answers(exercise.number, seed):
        if kind == "unseen":
            assert mistake in UNSEEN.get(exercise.number, set()) | correct
            continue
        together = next((group for group in groups if mistake in group), {mistake})
        assert set(answer.mistakes) == together
        assert re.match(r"\d\.\d not yet[.:] \w", answer.lines[0])
        assert "prefill_one_row" not in answer.lines[1]
        assert 1 <= len(answer.lines) <= 2
        assert all(0 < len(line) <= WIDTH for line in answer.lines)
        # Two lines, a grid of 4 x 4 with its labels, the arguments.
        assert len(str(answer).splitlines()) <= 2 + (1 + 4 + 1) + 2


def test_the_grid_of_counts():
    kinds = Counter(
        verdict.kind for exercise in WRITTEN for verdict in answers(exercise.number, "0"))
    print(grid((exercise, answers(exercise.number, "0")) for exercise in WRITTEN))
    assert kinds["named"] > 300


@pytest.mark.parametrize(("number", "left", "unseen"), [
    ("1.1", ("square", "short"), {"no_query_offset", "chunk_one_row"}),
    ("2.5", ("square",), {"no_max_subtraction", "global_max", "hidden_rows_nan"}),
    ("3.4", ("causal", "equal", "short"), {"no_query_offset", "global_max", "int8_overflow"}),
    ("4.5", ("short",), {"clipped_pairs_dropped"}),
])
def test_with_fewer_inputs_the_gate_would_fail(number, left, unseen):
    exercise = find(number)
    kept = tuple(spec for spec in exercise.situations if spec.id in left)
    judged = verdicts(exercise._replace(situations=kept))
    assert unseen <= {mistake for mistake, kind, _ in judged if kind == "unseen"}


def test_every_mistake_of_the_catalogue_is_known_to_an_exercise():
    known = {entry.name for exercise in WRITTEN for entry in known_mistakes(exercise)}
    assert {entry.name for entry in IN_CLASS} <= known


def loop_einsum(letters, *operands):
    """einsum as the loops that its letters stand for."""
    inputs, output = letters.split("->")
    sizes = {letter: size for part, operand in zip(inputs.split(","), operands, strict=True)
             for letter, size in zip(part, operand.shape, strict=True)}
    result = np.zeros([sizes[letter] for letter in output], dtype=operands[0].dtype)
    for numbers in np.ndindex(*sizes.values()):
        at = dict(zip(sizes, numbers, strict=True))
        product = 1
        for part, operand in zip(inputs.split(","), operands, strict=True):
            product = product * operand[tuple(at[letter] for letter in part)]
        result[tuple(at[letter] for letter in output)] += product
    return result


def in_single_precision(function):
    """The same function on float32 arrays."""
    def single(argument):
        if isinstance(argument, tuple):  # the cache
            return type(argument)(*map(single, argument))
        is_float = isinstance(argument, np.ndarray) and argument.dtype == np.float64
        return argument.astype(np.float32) if is_float else argument
    return lambda *arguments: function(*map(single, arguments))


LOOPS = functions(np=SimpleNamespace(**{**vars(np), "einsum": loop_einsum}))
VARIANTS = {
    "the solution": SOLUTIONS.get,
    "its einsums as loops": LOOPS.get,
    "float32": lambda number: in_single_precision(SOLUTIONS[number]),
}


@pytest.mark.parametrize("variant", VARIANTS)
@each_exercise
def test_right_answers_pass_however_they_are_written(exercise, variant):
    answer = judge(exercise, VARIANTS[variant](exercise.number), seed="17")
    assert answer.right, f"\n{answer}"
    assert all(len(line) <= WIDTH for line in answer.lines)


def zeros_like_the_answer(exercise, x):
    def zeros(part):
        return np.zeros_like(np.asarray(part))
    try:
        result = exercise.gives(x)
    except AttributeError:  # a step of the exercise's own: any number will do
        return lambda *_: 0.0
    if isinstance(result, dict):
        result = tuple(map(zeros, result.values()))
        return lambda *_: result if len(result) > 1 else result[0]
    return lambda *_: zeros(result)


@each_exercise
def test_what_is_not_solved_is_never_green(exercise, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    x = started(exercise.start, exercise.situations[0], "0")
    lazy = [lambda *_: None, lambda first, *_: first, lambda *_: [], lambda *_: "right",
            lambda: 0, zeros_like_the_answer(exercise, x), None]
    for function in lazy:
        assert not judge(exercise, function).right
    with pytest.raises(NotImplementedError, match=f"^{exercise.number} is not written yet"):
        check(exercise.number, BLANKS[exercise.number])
    assert capsys.readouterr().out == ""


@each_exercise
def test_an_exercise_says_what_students_need(exercise):
    assert len(exercise.hints) == 3
    assert len(exercise.situations) >= 2
    assert exercise.notebook in NOTEBOOKS
    assert known_mistakes(exercise)


# Code as students write it, with the name of the mistake that it must be told.
def right_but_for_the_scale(query, key, relative_key, mask):
    logits = np.einsum("bhid,bhjd->bhij", query, key)
    logits = logits + np.einsum("bhid,ijd->bhij", query, relative_key)
    scores = np.where(mask, logits / np.sqrt(query.shape[1]), -np.inf)
    row_max = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(row_max == -np.inf, 0, row_max))
    row_sum = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(row_sum == 0, 1, row_sum)


STUDENTS = [
    ("1.1", lambda n, m, s: s + np.arange(n)[:, None] - np.arange(m), "sign_flip"),
    ("1.1", lambda n, m, s: np.arange(m) - np.arange(n)[:, None], "no_query_offset"),
    ("1.1", lambda n, m, s: abs(np.arange(m) - s - np.arange(n)[:, None]), "abs_distance"),
    ("1.2", lambda p, k: np.minimum(p, k), "upper_clip_only"),
    ("1.2", lambda p, k: np.clip(p, 0, 2 * k), "clip_0_2k_unshifted"),
    ("1.2", lambda p, k: p, "no_clip"),
    ("1.2", lambda p, k: np.clip(p, -2, 2), "k_is_2"),
    ("1.2", lambda p, k: np.clip(p, -k, k) + k, "k_added"),
    ("1.1", lambda n, m, s: np.arange(m) + s - np.arange(n)[:, None], "start_added"),
    ("1.1", lambda n, m, s: np.arange(m) - np.arange(n)[:, None] - (m - n), "start_from_lengths"),
    ("1.4", lambda n, m, s, k: np.clip(np.arange(m) - np.arange(n)[:, None] - s + k, -k, k),
     "shift_before_clip"),
    ("1.4", lambda n, m, s, k: np.clip(np.arange(m) - np.arange(n)[:, None] - m + n, -k, k) + k,
     "start_from_lengths"),
    ("1.3", lambda p, k: p, "no_shift"),
    ("1.3", lambda p, k: p + k + 1, "shift_k_plus_1"),
    ("1.5", lambda table, index: table[index.T], "index_transposed"),
    ("1.6", lambda tables, index: tables[:, index.T], "index_transposed"),
    ("1.6", lambda tables, index: np.stack([tables[0][index]] * len(tables)),
     "first_head_for_all"),
    ("2.1", lambda q, k: q @ k.swapaxes(2, 3) / q.shape[-1], "content_mean"),
    ("2.1", lambda q, k: q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1]), "content_scaled"),
    ("1.2", lambda position, k: np.clip(position, -k, k - 1), "k_excluded"),
    ("2.6", right_but_for_the_scale, "scale_num_heads"),
    ("2.1", lambda q, k: q @ k.reshape(*k.shape[:2], k.shape[3], k.shape[2]), "key_reshaped"),
    ("2.2", lambda q, a: np.einsum("bhqd,Lqd->bhqL", q, a), "K_index_transposed"),
    ("2.2", lambda q, a: np.einsum("bhid,ijd->bhji", q, a), "relative_exchanged"),
    ("2.2", lambda q, a: np.einsum("bhjd,ijd->bhij", q, a), "query_j_dot_aK"),
    ("2.3", lambda c, r, d: (c + r) / d**1/2, "scale_twice_d"),
    ("2.3", lambda c, r, d: (c + r) / (d**1/2), "scale_half_d"),
    ("2.3", lambda c, r, d: c / np.sqrt(d) + r, "scale_content_only"),
    ("2.3", lambda c, r, d: (c + r) / d, "scale_d"),
    ("2.4", lambda s, mask: np.where(mask, -np.inf, s), "mask_inverted"),
    ("2.4", lambda s, mask: s * mask, "mask_times_zero"),
    ("2.4", lambda s, mask: np.where(mask, s, -1e9), "large_number_for_infinity"),
    ("2.4", lambda s, mask: s + (1 - mask) * -np.inf, "zero_times_infinity"),
    ("2.5", lambda s: (e := np.exp(s - s.max(-1, keepdims=True))) / e.sum(), "shifted_over_all"),
    ("2.5", lambda s: np.exp(s - s.max(-1, keepdims=True)), "not_divided"),
    ("2.5", lambda s: (e := np.exp(s - s.max(0))) / e.sum(0), "softmax_batch_axis"),
    ("2.5", lambda s: (e := np.exp((s := np.maximum(s, -1e9)) - s.max(-1, keepdims=True)))
     / e.sum(-1, keepdims=True), "hidden_rows_uniform"),
    ("2.5", lambda s: np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True), "no_max_subtraction"),
    ("2.5", lambda s: (e := np.exp(s - s.max())) / e.sum(axis=-1, keepdims=True), "global_max"),
    ("2.5", lambda s: (e := np.exp(s - s.max(axis=-1, keepdims=True))) / e.sum(-1, keepdims=True),
     "hidden_rows_nan"),
    ("3.1", lambda w, v: np.einsum("bhji,bhjd->bhid", w, v), "alpha_transposed"),
    ("3.2", lambda w, a: np.einsum("bhij,jid->bhid", w, a), "V_index_transposed"),
    ("3.5", lambda x, h: x.reshape(len(x), h, x.shape[1], -1), "split_without_transpose"),
    ("4.1", lambda g, v, a: np.einsum("bhid,bhjd->bhij", g, v), "dalpha_rel_missing"),
    ("4.2", lambda g, w: w * g, "softmax_no_correction"),
    ("4.2", lambda g, w: w * g - (w * g).sum(-1, keepdims=True),
     "softmax_correction_not_weighted"),
    ("5.1", lambda z, g: z.sum(), "upstream_ones"),
    ("5.4", lambda got, want: (got - want).max() / max(1, abs(want).max()), "error_signed"),
    ("5.7", lambda coarse, fine: np.log(coarse / fine), "natural_logarithm"),
    ("6.3", lambda by_distance: by_distance[..., by_distance.shape[-2] - 1 :], "no_padding"),
]


@pytest.mark.parametrize(("number", "function", "mistake"), STUDENTS,
                         ids=[f"{number}-{name}" for number, _, name in STUDENTS])
def test_code_as_students_write_it_is_recognised(number, function, mistake):
    answer = judge(find(number), function)
    assert answer.mistakes == (mistake,), f"\n{answer}"


def test_adding_by_a_repeated_index_is_recognised():
    def grad_table(grad_pairs, index, num_rows):
        result = np.zeros((num_rows, grad_pairs.shape[-1]))
        result[index] += grad_pairs
        return result

    assert judge(find("4.5"), grad_table).mistakes == ("scatter_last_wins",)


def test_a_loop_that_stops_is_recognised_as_the_einsum_is():
    def lookup(table, index):
        pairs = np.zeros((*index.shape, table.shape[-1]))
        for i, j in np.ndindex(index.shape):
            pairs[i, j] = table[index[j, i]]  # an IndexError if there are more keys than queries
        return pairs

    answer = judge(find("1.5"), lookup)
    assert answer.lines[0] == "1.5 not yet. You have: a_ij = table[index_ji]"
    assert answer.mistakes == ("index_transposed",)


def said_to(number, mistake):
    """The two lines for one known mistake."""
    return next(v.answer.lines for v in answers(number, "0") if v.mistake == mistake)


@pytest.mark.parametrize(("number", "mistake", "first", "second"), [
    ("1.2", "upper_clip_only", "You have: min(j - i, k)", "Keys far to the left are not clipped."),
    ("1.2", "k_is_2", "You have: k = 2 for every k", "How far to clip is the argument k"),
    ("2.3", "alpha_without_rel", "You have: q_i . k_j / sqrt(head_dim)",
     "The relative half is missing."),
    ("2.3", "scale_d", "You have: (q_i . k_j + q_i . aK_ij) / head_dim", "The square root is"),
    ("2.6", "rel_key_missing", "Your scores: q_i . k_j / sqrt(head_dim)",
     "The relative half is missing."),
    ("2.6", "no_scale", "Your scores: q_i . k_j + q_i . aK_ij", "Logits"),
    ("2.6", "mask_ignored", "You have: softmax of scores that were never masked",
     "The mask is not applied."),
])
def test_a_mistake_is_told_in_the_words_of_the_exercise(number, mistake, first, second):
    told = said_to(number, mistake)
    assert told[0].startswith(f"{number} not yet. {first}")
    assert told[1].startswith(second)


def test_nothing_is_said_of_a_table_before_there_is_one():
    for number in ("1.1", "1.2"):
        for verdict in answers(number, "0"):
            assert not re.search(r"table|wrapped|never read|row -?\d|k rows", " ".join(
                verdict.answer.lines)), verdict


def test_two_mistakes_at_once_are_told_one_at_a_time():
    answer = judge(find("1.1"), lambda n, m, s: np.arange(n)[:, None] - np.arange(m))
    assert answer.lines[0] == "1.1 not yet. Here you have: i - j"
    assert answer.lines[1].startswith("Other inputs show that there is more.")


def test_an_unknown_mistake_is_called_unknown_and_shown_where_it_begins():
    answer = judge(find("2.2"), lambda q, a: 1.1 * np.einsum("bhid,ijd->bhij", q, a))
    assert answer.lines[0] == (
        "2.2 not yet: relative_logits is not what was asked for, first at b=0, h=0, i=0, j=0")
    assert re.fullmatch(
        r"Not a usual mistake\. There it must be \S+ \* \S+ \+ .* = -?[\d.]+\. "
        r'hint\("2\.2"\) says more\.', answer.lines[1])
    assert answer.mistakes == ()
    assert answer.grid.count("*") == 16
    assert answer.grid.endswith("\nCalled with query (2, 3, 7, 6), relative_key (7, 7, 6).")


def test_an_error_is_one_line_that_quotes_the_students_own():
    def relative_logits(query, relative_key):
        return np.einsum("bhid,ijd->bhij", query[0], relative_key)

    first, second = judge(find("2.2"), relative_logits).lines
    assert first.startswith("2.2 not yet: ValueError in line ")
    assert first.endswith('return np.einsum("bhid,ijd->bhij", query[0], relative_key)')
    assert "too many subscripts" in second


@pytest.mark.parametrize(("function", "said"), [
    (lambda q, a: None, "your function returns nothing: is there a return?"),
    (lambda q, a: q[0], "has shape (3, 7, 6), it must be (2, 3, 7, 7) = (b, h, i, j)"),
    (lambda q, a: "many", "your result must be numbers, it is <U4"),
    (lambda q, a: [[1], [1, 2]], "your result is no array"),
    (lambda q: q, "it expects relative_logits(query, relative_key)"),
    (3, "check needs your function, it got a int"),
])
def test_what_is_no_answer_is_told_what_an_answer_is(function, said):
    assert said in judge(find("2.2"), function).lines[0]


def test_table_rows_must_be_whole_numbers():
    answer = judge(find("1.3"), lambda position, k: position + k / 1)
    assert answer.lines[0] == "1.3 not yet: your result is float64, it must be integers"
    assert answer.lines[1].endswith("make it with np.zeros(shape, dtype=int).")


def test_an_array_of_integers_is_told_from_a_wrong_formula():
    def lookup(table, index):
        pairs = np.zeros((*index.shape, table.shape[-1]), dtype=int)
        pairs[...] = table[index]
        return pairs

    answer = judge(find("1.5"), lookup)
    assert answer.lines[0] == "1.5 not yet: your result is int64, it must be floats"


def test_what_a_function_prints_to_standard_error_is_no_wrong_answer(capsys):
    def table_row(clipped_position, k):
        print("I was here", file=sys.stderr)
        return clipped_position + k

    assert judge(find("1.3"), table_row).right
    assert capsys.readouterr() == ("I was here\n" * 3, "")


def test_an_argument_that_is_written_into_is_noticed():
    def relative_logits(query, relative_key):
        query *= 2
        return np.einsum("bhid,ijd->bhij", query, relative_key) / 2

    answer = judge(find("2.2"), relative_logits)
    assert answer.lines[0].endswith("your function changes its argument query")


def relative_position(clipped_position, k):
    relative_position = relative_position(clipped_position, k)  # noqa: F823
    return relative_position


def test_a_variable_with_the_name_of_a_function_is_told_so():
    first, second = judge(find("1.3"), relative_position).lines
    assert first.startswith("1.3 not yet: UnboundLocalError in line ")
    assert second == ("A variable of yours has the name of the function relative_position. "
                      "Rename it: x = relative_position(...).")

    def without_value(clipped_position, k):
        if k < 0:
            shift = k
        return clipped_position + shift

    assert "local variable 'shift'" in judge(find("1.3"), without_value).lines[1]


def test_the_message_of_a_broken_product_says_how_it_joins():
    assert "b.swapaxes(-1, -2)" in judge(find("2.1"), lambda q, k: q @ k).lines[1]


def test_right_numbers_that_take_a_vector_per_pair_are_not_fast():
    def by_pair(query, table, index):
        return np.einsum("bhid,ijd->bhij", query, table[index])

    answer = judge(find("6.1"), by_pair)
    assert answer.lines[0] == "6.1 not yet: the numbers are right, the memory is not"


def test_another_seed_gives_other_numbers():
    seen = []

    def table_row(clipped_position, k):
        return clipped_position + k

    def logits(query, key):
        seen.append(query)
        return np.einsum("bhid,bhjd->bhij", query, key)

    for seed in ("ada", "ben", "ada"):
        judge(find("2.1"), logits, seed)
    first, other, again = seen[0], seen[3], seen[6]
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert judge(find("1.3"), table_row, "ben").right


# ---- the three doors ---------------------------------------------------------------------------


def test_progress_is_kept_beside_the_notebook_and_written_whole(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    check("1.3", SOLUTIONS["1.3"])
    check("1.2", lambda position, k: position)
    progress()
    out, err = capsys.readouterr()
    assert "1  ..#...   1 of 6  positions and tables" in out
    assert "Next: 1.1 relative positions" in out
    assert err.startswith("1.2 not yet. You have: j - i\n")
    assert [path.name for path in tmp_path.iterdir()] == ["progress.json"]
    (tmp_path / "progress.json").write_text("[1, 2")
    progress()
    assert "1  ......   0 of 6" in capsys.readouterr().out
    assert (tmp_path / "progress.unreadable").read_text() == "[1, 2"


def test_what_is_solved_stays_solved(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    check("1.3", SOLUTIONS["1.3"])
    check("1.3", lambda position, k: position)
    progress()
    said = capsys.readouterr().out
    assert "1  ..#...   1 of 6" in said
    assert said.endswith("(kept in progress.json of the current folder)\n")


@pytest.mark.parametrize(("call", "said"), [
    (lambda: check("2.3"), 'Write check("2.3", scale).\n'),
    (lambda: check("6.4"), 'Write check("6.4", show_mask_bug).\n'),
    (lambda: check(SOLUTIONS["2.3"], "2.3"), 'The number comes first: check("2.3", scale).\n'),
    (lambda: check(" 2.3 ", SOLUTIONS["1.1"]),
     "2.3 not yet: you passed relative_position, the function of 1.1\n"
     'Write check("2.3", scale).\n'),
    (lambda: check("6.4", SOLUTIONS["6.5"]),
     "6.4 not yet: you passed show_far_bug, the function of 6.5\n"
     'Write check("6.4", show_mask_bug).\n'),
    (lambda: check("2.3", lambda logits, head_dim: logits),
     "2.3 not yet: it expects scale(content_logits, relative_logits, head_dim)\n"
     "You passed <lambda>(logits, head_dim).\n"),
])
def test_a_check_called_otherwise_says_how(call, said, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    call()
    assert capsys.readouterr().err == said


def test_an_exercise_calls_the_function_as_its_notebook_does():
    for exercise in EXERCISES:
        assert exercise.function == SOLUTIONS[exercise.number].__name__


def test_the_cells_of_a_grid_keep_a_space():
    got, want = np.array([[-1.7e308, -0.657]]), np.zeros((1, 2))
    assert "-1.7e+308*  -0.657*" in compare_grid(got, want, "ij", (0, 0))
    assert " -1.7e+308* -1.7e+308*" in compare_grid(got[:, [0, 0]], want, "ij", (0, 0))


def test_a_hint_says_more_each_time(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    for _ in range(4):
        hint("2.3")
    said = capsys.readouterr().out.splitlines()
    hints = find("2.3").hints
    assert said == [f"2.3 hint {n} of 3: {hints[n - 1]}" for n in (1, 2, 3, 3)]


def test_a_wrong_number_is_told_the_right_ones(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    check("9.9", abs)
    hint("9.9")
    assert capsys.readouterr().err.count("no exercise 9.9: they go from 1.1 to 6.8") == 2
    check("2.9", abs)
    assert "no exercise 2.9: notebook 2 has 2.1, 2.2, " in capsys.readouterr().err
    with pytest.raises(ValueError, match="hands out nothing"):
        handed_out("1.1")


def test_an_exercise_that_calls_a_blank_says_which(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def table_index(query_len, key_len, query_start, k):
        return BLANKS["1.1"](query_len, key_len, query_start) + k

    with pytest.raises(NotImplementedError, match=r"^1\.4 needs relative_position, which is not"):
        check("1.4", table_index)


def test_a_folder_that_cannot_be_written_costs_the_note_only(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "progress.json").mkdir()
    check("1.3", SOLUTIONS["1.3"])
    assert capsys.readouterr().out.startswith("1.3 right")
