"""The examples run, say what they should, and their results are right."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.integrate
from numpy.testing import assert_allclose

import componentvec as cv
import nist

EXAMPLES = Path(__file__).parent.parent / "examples"
NAMES = ("digits_autoencoder", "gaussian_peaks", "lorenz_lotka", "logistic_regression")


def load(name):
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_all_examples_are_tested():
    """And each is shorter than 80 lines."""
    assert sorted(path.stem for path in EXAMPLES.glob("*.py")) == sorted(NAMES)
    for path in EXAMPLES.glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) < 80


def test_digits_autoencoder_fits_a_tied_model(capsys, tmp_path):
    """It prints layout, progress and parameters, and draws."""
    example = load("digits_autoencoder")
    picture = tmp_path / "digits.png"
    fit = example.main(picture)
    out, err = capsys.readouterr()
    assert "decoder.w  (32, 64)  = encoder.w.T" in out
    assert (
        "loss before 7.487, after 120 iterations 0.1" in out and "on the same memory: True" in out
    )
    assert "ComponentVector(encoder={'w': [[" in out
    assert err.startswith(f"iteration {example.STEPS} ")
    assert fit.x.size == 2144 and fit.fun < example.GOOD
    assert np.shares_memory(fit.model.encoder.w, fit.model.decoder.w)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_digits_autoencoder_fails_where_the_fit_does(monkeypatch):
    """With a status that is not zero."""
    example = load("digits_autoencoder")
    monkeypatch.setattr(example, "STEPS", 2)
    with pytest.raises(SystemExit, match="should have reached"):
        example.main()


def test_gaussian_peaks_reproduces_what_nist_certifies(capsys):
    """Values and standard deviations to eight digits, from both starts."""
    fits = load("gaussian_peaks").main()
    data = nist.read("Gauss1")
    for fit in fits:
        assert_allclose(fit.x, data.certified, rtol=1e-8)
        assert_allclose(fit.stderr, data.stderr, rtol=1e-8)
        assert 2 * fit.cost == pytest.approx(data.rss, rel=1e-9)
    out = capsys.readouterr().out
    assert "peaks[1].center" in out and "179.00  " in out and "  0.12\n" in out


def test_lorenz_lotka_composes_two_models(capsys):
    """Each is what it is alone, and together they differ."""
    example = load("lorenz_lotka")
    solutions = example.main()
    sol = solutions["alone"]
    lorenz = scipy.integrate.solve_ivp(
        lambda t, y: [10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]],
        (0, 5),
        [1.0, 0.0, 0.0],
        method="DOP853",
        t_eval=[5.0],
        rtol=1e-10,
        atol=1e-10,
    )
    assert_allclose(sol.y["weather"][:, 500], lorenz.y[:, 0], rtol=1e-5)
    constant = example.conserved(sol.y["animals"], example.PARAMETERS.animals)
    assert np.ptp(constant) < 1e-7
    assert_allclose(solutions["coupled"].y["weather"][:, 500], lorenz.y[:, 0], rtol=1e-5)
    assert abs(solutions["coupled"].y["animals.prey"] - sol.y["animals.prey"]).max() > 0.01
    assert "what is conserved without weather" in capsys.readouterr().out


def test_logistic_regression_has_the_covariance_of_fishers_information(capsys):
    """In closed form: the sum of (diag(p) - pp') by the outer products of the inputs."""
    example = load("logistic_regression")
    fit, cov = example.main()
    assert fit.success and not np.asarray(fit.x.classes[0].weights).any()
    ink, digits = example.read()
    inputs = np.concatenate([np.ones((len(ink), 1)), ink], axis=1)
    scores = inputs @ np.asarray(fit.x).reshape(10, 5).T
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    residual = p - np.eye(10)[digits]
    assert_allclose((residual.T @ inputs)[1:], 0, atol=1e-3)
    curvature = np.einsum("nj,jk->njk", p, np.eye(10)) - np.einsum("nj,nk->njk", p, p)
    information = np.einsum("njk,na,nb->jakb", curvature, inputs, inputs)[1:, :, 1:]
    expected = np.linalg.inv(information.reshape(45, 45))
    assert_allclose(np.asarray(cov)[5:, 5:], expected, rtol=1e-5, atol=1e-9)
    assert not np.asarray(cov)[:5].any()
    assert type(cov) is cv.ComponentMatrix
    assert re.search(r"classes\[0\].bias +0 +fixed", capsys.readouterr().out)


@pytest.mark.parametrize("name", NAMES[1:])
def test_examples_run_as_scripts_from_anywhere(name, tmp_path):
    """Data is found beside the file; the first one is what the README runs."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py")],
        cwd=tmp_path,
        env={"PYTHONPATH": str(EXAMPLES.parent), "MPLBACKEND": "Agg", "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
