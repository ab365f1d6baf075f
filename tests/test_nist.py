"""The reader and the models of `nist.py` agree with what NIST certifies."""

import autograd
import numpy as np
import pytest

import nist

datasets = pytest.mark.parametrize("name", nist.MODELS)
OBSERVATIONS = {"Gauss1": 250, "Hahn1": 236, "MGH17": 33, "Misra1a": 14, "Thurber": 37}


def digits(value, certified):
    """Number of correct digits: NIST's log relative error, the smallest of all entries."""
    difference = np.abs(value - certified) / np.abs(certified)
    return -np.log10(np.max(np.maximum(difference, 1e-16)))


@datasets
def test_every_observation_and_parameter_is_read(name):
    """Counts are those in the text of the files."""
    data = nist.read(name)
    assert data.x.shape == data.y.shape == (OBSERVATIONS[name],)
    first, second = data.starts
    assert first.shape == second.shape == data.certified.shape == data.stderr.shape


def test_both_starting_points_are_read_in_order():
    """The columns of MGH17 as the file prints them."""
    first, second = nist.read("MGH17").starts
    assert first.tolist() == [50, 150, -100, 1, 2]
    assert second.tolist() == [0.5, 1.5, -1, 0.01, 0.02]


@datasets
def test_certified_parameters_give_the_certified_residual_sum_of_squares(name):
    """Certified values have eleven digits, and the sum is stationary there."""
    data = nist.read(name)
    residuals = data.y - data.model(data.certified, data.x)
    assert digits(residuals @ residuals, data.rss) >= 9


@datasets
def test_traced_jacobian_gives_the_certified_standard_deviations(name):
    """s^2 (J'J)^-1 by QR of the column-scaled Jacobian that autograd traces."""
    data = nist.read(name)
    jacobian = autograd.jacobian(data.model)(data.certified, data.x)
    scale = np.linalg.norm(jacobian, axis=0)
    inverse = np.linalg.inv(np.linalg.qr(jacobian / scale).R) / scale[:, None]
    variance = data.rss / (data.y.size - data.certified.size)
    assert digits(np.sqrt(variance * np.sum(inverse**2, axis=1)), data.stderr) >= 7


def test_unknown_name_is_an_error():
    """No file, no dataset."""
    with pytest.raises(FileNotFoundError, match="Nelson"):
        nist.read("Nelson")
