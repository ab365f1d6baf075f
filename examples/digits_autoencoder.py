"""A tied-weight autoencoder of handwritten digits, fitted by name.

64 pixels are squeezed into 32 numbers and back. The decoder's weight is the transpose of the
encoder's, so there are 64 * 32 + 32 + 64 = 2,144 parameters under four names. Run it as
``python examples/digits_autoencoder.py [--plot FILE]``.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import autograd.numpy as np

import componentvec as cv

DATA = Path(__file__).parent / "data" / "digits.npz"
STEPS = 120
GOOD = 0.2  # squared error an image, of pixels from 0 to 1, that a fit must reach


@dataclass
class Dense:
    w: np.ndarray
    b: np.ndarray

    def __call__(self, x):
        return x @ self.w + self.b


@dataclass
class Autoencoder:
    encoder: Dense
    decoder: Dense

    def __call__(self, x):
        return self.decoder(np.tanh(self.encoder(x)))


def loss(model, images):
    """Squared error summed over pixels, mean over images."""
    return np.mean(np.sum((model(images) - images) ** 2, axis=1))


def plot(file, images, copies):
    """Originals above, reconstructions below."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 10, figsize=(10, 2.2))
    for axis, image in zip(axes.flat, [*images[:10], *copies[:10]], strict=True):
        axis.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        axis.set_axis_off()
    figure.savefig(file)


def main(picture=None):
    """Fit, say what came out, and return the result of `minimize`."""
    images = np.load(DATA)["images"] / 16.0
    w = np.random.default_rng(0).normal(size=(64, 32)) / 8
    start = Autoencoder(Dense(w, np.zeros(32)), Dense(w.T, images.mean(axis=0)))
    print(cv.destructure(start)[1].layout)
    fit = cv.minimize(loss, start, images, options={"maxiter": STEPS}, progress=True)
    model = fit.model
    print(f"loss before {loss(start, images):.3f}, after {fit.nit} iterations {fit.fun:.3f}")
    print(fit.x)
    shared = np.shares_memory(model.encoder.w, model.decoder.w)
    print("decoder.w is encoder.w.T, on the same memory:", shared)
    if picture:
        plot(picture, images, model(images))
    if fit.fun >= GOOD or not shared:
        sys.exit(f"the fit should have reached {GOOD} with its weights tied")
    return fit


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plot", metavar="FILE", help="write a picture of reconstructions")
    main(parser.parse_args().plot)
