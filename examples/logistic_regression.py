"""Logistic regression of handwritten digits by maximum likelihood, with standard errors.

Which digit an image shows is told from how much ink lies in each quarter of it. Each class has a
bias and four weights. Only differences between classes matter, so the first class is held at zero.
"""

from pathlib import Path

import autograd.numpy as np

import componentvec as cv

DATA = Path(__file__).parent / "data" / "digits.npz"


def read():
    """Ink in the four quarters of each image, standardized, shape (1797, 4), and the digits."""
    data = np.load(DATA)
    images = data["images"].reshape(-1, 2, 4, 2, 4) / 16.0
    ink = images.mean(axis=(2, 4)).reshape(-1, 4)
    return (ink - ink.mean(axis=0)) / ink.std(axis=0), data["labels"].astype(int)


def scores(v, ink):
    """Logarithms of the odds of each digit, up to a constant: shape (images, 10)."""
    return ink @ v.classes.weights.T + v.classes.bias


def neg_log_likelihood(v, ink, digits):
    """Minus the logarithm of the probability of all digits."""
    s = scores(v, ink)
    highest = np.max(s, axis=1, keepdims=True)
    log_total = highest[:, 0] + np.log(np.sum(np.exp(s - highest), axis=1))
    return np.sum(log_total - s[np.arange(len(digits)), digits])


def main():
    """Fit, print the table, and return the fit and its covariance."""
    ink, digits = read()
    start = cv.ComponentVector(classes=[{"bias": 0.0, "weights": [0.0] * 4} for _ in range(10)])
    fit = cv.minimize(
        neg_log_likelihood, start, (ink, digits), method="trust-exact", fixed="classes[0]"
    )
    cov = cv.covariance(neg_log_likelihood, fit.x, (ink, digits), fixed="classes[0]")
    right = np.mean(np.argmax(scores(fit.x, ink), axis=1) == digits)
    print(f"{fit.message} {fit.nit} iterations, {100 * right:.1f} % of the digits right")
    print(cv.summary(fit, cov))
    return fit, cov


if __name__ == "__main__":
    main()
