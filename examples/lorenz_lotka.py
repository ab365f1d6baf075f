"""Two differential equations composed by name: Lorenz's weather and Lotka and Volterra's animals.

Each model is written for its own state. Put together they are two groups of one state, and the
weather shifts the food of the prey.
"""

import numpy as np

import componentvec as cv


def lorenz(t, y, p):
    """Lorenz (1963): convection between two plates."""
    return {
        "x": p.sigma * (y.y - y.x),
        "y": y.x * (p.rho - y.z) - y.y,
        "z": y.x * y.y - p.beta * y.z,
    }


def lotka_volterra(t, y, p, food=0.0):
    """Lotka (1925) and Volterra (1926): hunters live on prey, and prey on food."""
    return {
        "prey": (p.birth + food) * y.prey - p.catch * y.prey * y.hunters,
        "hunters": p.gain * y.prey * y.hunters - p.death * y.hunters,
    }


def together(t, y, p):
    """Both at once: the names of the groups are those of the state."""
    return {
        "weather": lorenz(t, y.weather, p.weather),
        "animals": lotka_volterra(t, y.animals, p.animals, food=p.coupling * y.weather.x),
    }


PARAMETERS = cv.ComponentVector(
    weather={"sigma": 10.0, "rho": 28.0, "beta": 8 / 3},
    animals={"birth": 2 / 3, "catch": 4 / 3, "gain": 1.0, "death": 1.0},
    coupling=0.01,
)
START = cv.ComponentVector(
    weather={"x": 1.0, "y": 0.0, "z": 0.0}, animals={"prey": 1.0, "hunters": 1.0}
)


def conserved(animals, p):
    """What Lotka and Volterra's equations keep constant where nothing is coupled."""
    prey, hunters = animals["prey"], animals["hunters"]
    return p.gain * prey - p.death * np.log(prey) + p.catch * hunters - p.birth * np.log(hunters)


def main():
    """Solve both, coupled and not, print what became of them, and return the two solutions."""
    alone = PARAMETERS.copy()
    alone.coupling = 0.0
    times = np.linspace(0, 10, 1001)
    options = {"method": "DOP853", "t_eval": times, "rtol": 1e-9, "atol": 1e-9}
    solutions = {
        name: cv.solve_ivp(together, (0, 10), START, args=p, **options)
        for name, p in (("coupled", PARAMETERS), ("alone", alone))
    }
    for name, sol in solutions.items():
        animals = sol.y["animals"]
        print(f"{name}: state at t = 10 is {START.layout.wrap(sol.y[:, -1].copy())}")
        print(f"    prey between {animals['prey'].min():.3f} and {animals['prey'].max():.3f}")
        drift = np.ptp(conserved(animals, PARAMETERS.animals))
        print(f"    what is conserved without weather varies by {drift:.1e}")
    return solutions


if __name__ == "__main__":
    main()
