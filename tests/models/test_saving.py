"""Saving and loading a model: what is kept, what is refused, and what is not fitted again."""

from __future__ import annotations

import io
import json
import os
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import fetch_openml
from sklearn.preprocessing import FunctionTransformer

import outfold as of
from outfold.exceptions import FileError
from outfold.models import EstimateAbout, LeftOut, ModelAbout, Threshold, keep_model
from outfold.models.saving import sha256_of
from saved_model import space

skops = pytest.importorskip("skops.io")


def rewrite(folder, **facts):
    """Change entries of model.json, as somebody who forges a model can."""
    path = folder / "model.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | facts))


def forge(folder, estimator, **facts):
    """Another model with a label that fits it."""
    skops.dump(estimator, folder / "model.skops")
    listed = skops.get_untrusted_types(file=folder / "model.skops")
    rewrite(folder, **({"trusted": listed, "sha256": sha256_of(folder / "model.skops")} | facts))


def test_what_is_saved_is_loaded(saved):
    model = of.load_model(saved.folder)
    assert model.about.to_dict() | {"trusted": [], "sha256": ""} == saved.about.to_dict()
    assert model.about.classes == ("no", "yes")
    assert model.about.positive == "yes"
    X = model.features(saved.frame)
    np.testing.assert_array_equal(model.estimator.predict_proba(X), saved.estimator.predict_proba(X))


def test_about_goes_through_json(saved):
    about = replace(
        saved.about,
        threshold=Threshold("youden", 0.37),
        left_out=(LeftOut(3, "no value of 'ill'"),),
        estimate=EstimateAbout("roc_auc", 0.8, None, None, 0.95, "tt"),
        description="A logistic regression.",
    )
    again = ModelAbout.from_dict(json.loads(json.dumps(about.to_dict())))
    assert again.to_dict() == about.to_dict()
    assert (again.threshold, again.left_out, again.estimate) == (about.threshold, about.left_out, about.estimate)
    assert again.columns == about.columns


def test_the_model_file_is_the_same_model_and_is_not_fitted_again(own):
    def never():
        raise AssertionError("fitted again")

    files = [own.folder / name for name in ("model.skops", "model.json", "MODEL.md")]
    stamps = [file.stat().st_mtime_ns for file in files]
    assert keep_model(own.folder, own.about, never) == files[0]
    assert [file.stat().st_mtime_ns for file in files] == stamps
    # Another threshold is another label of the same model.
    keep_model(own.folder, replace(own.about, threshold=Threshold("f1", 0.4)), never)
    assert files[0].stat().st_mtime_ns == stamps[0]
    assert of.load_model(own.folder).about.threshold == ("f1", 0.4, "proba")


@pytest.mark.parametrize(
    ("value", "says"), [(0.37, "is above 0.37"), (np.nextafter(0, -1), "is not below 0"), (-0.5, "is above -0.5")]
)
def test_the_card_says_which_rows_get_the_positive_label(own, value, says):
    keep_model(own.folder, replace(own.about, threshold=Threshold("f1", value)), lambda: own.estimator)
    assert f"gets the label `yes` if its probability {says} (chosen by f1)." in (own.folder / "MODEL.md").read_text()


@pytest.mark.parametrize("changed", [{"configuration": "another"}, {"data": "other hash"}, {"versions": {}}])
def test_another_model_is_fitted(own, changed):
    fitted = []
    keep_model(own.folder, replace(own.about, **changed), lambda: fitted.append(1) or own.estimator)
    assert fitted == [1]


def test_a_model_file_that_was_replaced_is_fitted_again_and_not_loaded(own):
    skops.dump(space()["logit(C=1)"], own.folder / "model.skops")
    with pytest.raises(FileError, match=r"is not the model that model\.json describes"):
        of.load_model(own.folder)
    keep_model(own.folder, own.about, lambda: own.estimator)
    assert of.load_model(own.folder).about.configuration == own.about.configuration


# -- forged files -------------------------------------------------------------------------------------------


def test_a_foreign_type_is_refused_whatever_the_list_says(own):
    forge(own.folder, FunctionTransformer(os.system))
    assert "posix.system" in json.loads((own.folder / "model.json").read_text())["trusted"]
    with pytest.raises(FileError, match=r"types that are not trusted: posix\.system") as error:
        of.load_model(own.folder)
    assert "load_model(..., trust=['posix.system'])" in str(error.value)
    with pytest.raises(FileError, match="other classes or features"):  # it is trusted, and is no model
        of.load_model(own.folder, trust=["posix.system"])


def test_functions_of_known_packages_are_refused(own):
    forge(own.folder, FunctionTransformer(fetch_openml))
    with pytest.raises(FileError, match="fetch_openml"):
        of.load_model(own.folder)


def test_a_type_that_the_label_does_not_list_is_refused(own):
    forge(own.folder, of.refit(*refit_tree(own)), trusted=["numpy.dtype"])
    with pytest.raises(FileError, match=r"sklearn\.tree\._tree\.Tree"):
        of.load_model(own.folder)


def refit_tree(own):
    name = "tree(max_depth=2)"
    model = of.load_model(own.folder)
    return own.oof.sel(config=name), space(), model.features(own.frame), own.frame["ill"].to_numpy(dtype=str)


def test_trust_must_be_a_list(saved):
    with pytest.raises(of.exceptions.InputError, match="trust must be a list"):
        of.load_model(saved.folder, trust="posix.system")


# -- damaged files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not json"),
        ("{}", "could not predict yet"),
        ('{"format": 99}', "newer outfold"),
        ('{"format": 1}', "is damaged"),
        ("[]", "could not predict yet"),
        ("[" * 100_000, "is not json"),
    ],
)
def test_a_damaged_or_foreign_label_is_one_clear_error(own, text, words):
    (own.folder / "model.json").write_text(text)
    with pytest.raises(FileError, match=words):
        of.load_model(own.folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_no_label(own):
    """To read a pipe to which nobody writes takes forever."""
    (own.folder / "model.json").unlink()
    os.mkfifo(own.folder / "model.json")
    with pytest.raises(FileError, match=r"model\.json is a device or a pipe, not a file"):
        of.load_model(own.folder)


def test_a_label_whose_range_is_of_another_kind_of_column(own):
    label = json.loads((own.folder / "model.json").read_text())
    name, found = next((name, found) for name, found in label["ranges"].items() if found["kind"] == "category")
    label["ranges"][name] = found | {"kind": "number", "knots": [], "counts": []}
    (own.folder / "model.json").write_text(json.dumps(label))
    with pytest.raises(FileError, match=f"the range of column '{name}' is that of another kind"):
        of.load_model(own.folder)


def test_arrays_that_say_they_are_larger_than_their_bytes_get_no_room(own):
    path, new = own.folder / "model.skops", own.folder / "new.skops"
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(new, "w") as forged:
        for part in old.infolist():
            forged.writestr(part, header.getvalue() if part.filename.endswith(".npy") else old.read(part))
    new.replace(path)
    with pytest.raises(FileError, match=r"the array \d+\.npy is cut short"):
        of.load_model(own.folder)


def test_files_that_unpack_to_far_more_than_a_model_are_not_unpacked(own):
    path = own.folder / "model.skops"
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as forged, forged.open("more.bin", "w") as part:
        for _ in range(300):
            part.write(bytes(2**20))
    with pytest.raises(FileError, match=r"it would unpack to 3\d\d,\d{3},\d{3} bytes"):
        of.load_model(own.folder)


def test_missing_files_are_clear_errors(own, tmp_path_factory):
    with pytest.raises(FileError, match=r"there is no model\.json"):
        of.load_model(tmp_path_factory.mktemp("empty"))
    (own.folder / "model.skops").write_bytes(b"not a zip")
    with pytest.raises(FileError, match="damaged, or no file of skops"):
        of.load_model(own.folder)
    (own.folder / "model.skops").unlink()
    with pytest.raises(FileError, match="there is no file"):
        of.load_model(own.folder)


def test_a_kill_between_the_files_leaves_a_model_that_is_made_again(own, monkeypatch):
    monkeypatch.setattr("outfold.models.saving.skops_io", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        keep_model(own.folder, replace(own.about, seed=7), lambda: own.estimator)
    assert not (own.folder / "model.json").exists()
    assert not (own.folder / "model.part").exists()


# -- the card -----------------------------------------------------------------------------------------------


def test_the_card_says_what_a_reader_must_know(saved):
    text = (saved.folder / "MODEL.md").read_text()
    assert text.startswith("# Model of `ill`\n")
    assert "(`no`, `yes`; the positive class is `yes`)" in text
    assert "| `age` | feature | number | 0% | 20 to 79 |" in text
    assert "| `site` | feature | category | 0% | 3 levels |" in text
    assert "the same value in every row" in text
    assert sha256_of(saved.folder / "model.skops") in text
    assert saved.about.data in text
    assert "outfold predict FOLDER new.csv" in text


def test_the_card_shows_digits_that_the_interval_supports(own):
    estimate = EstimateAbout("roc_auc", 0.81234, 0.71111, 0.89999, 0.95, "bbc")
    keep_model(own.folder, replace(own.about, estimate=estimate), lambda: own.estimator)
    assert "| 0.81 | 0.71 to 0.90 | bbc |" in (own.folder / "MODEL.md").read_text()


def test_names_cannot_break_the_tables_of_the_card(own):
    keep_model(own.folder, replace(own.about, target="a|b\n`c`"), lambda: own.estimator)
    assert (own.folder / "MODEL.md").read_text().startswith("# Model of `` a\\|b `c` ``\n")
