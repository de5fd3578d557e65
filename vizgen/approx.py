"""How far an approximation is from the exact result, and which one is near
enough for approx="psnr>=50" and its like."""
import math

import numpy as np

from .compare import clone


def psnr(got, want):
    """Decibels: the largest size of the exact values over the root of the
    mean square difference; inf where there is none."""
    got, want = _finite(got, want)
    if got is None:
        return -math.inf
    error = math.sqrt(np.mean(np.square(got - want))) if want.size else 0.0
    peak = np.max(np.abs(want)) if want.size else 0.0
    if error == 0.0:
        return math.inf
    return 20.0 * math.log10(peak / error) if peak > 0.0 else -math.inf


def maxerr(got, want):
    """The largest difference."""
    got, want = _finite(got, want)
    if got is None:
        return math.inf
    return float(np.max(np.abs(got - want))) if want.size else 0.0


def ulp(got, want):
    """The largest difference in units in the last place of the exact value."""
    want = np.asarray(want)
    kind = want.dtype if want.dtype.kind == "f" else np.float64
    spacing = np.abs(np.spacing(want.astype(kind)))
    got, want = _finite(got, want)
    if got is None:
        return math.inf
    spacing = np.asarray(spacing, np.longdouble)
    spacing = spacing[np.isfinite(spacing)].reshape(-1)
    if not want.size:
        return 0.0
    return float(np.max(np.abs(got - want) / spacing))


def _finite(got, want):
    """The finite values of both as long doubles; (None, None) where one is
    finite and the other is not, or is another infinity."""
    got = np.asarray(got, np.longdouble).reshape(-1)
    want = np.asarray(want, np.longdouble).reshape(-1)
    finite = np.isfinite(want)
    if (np.isfinite(got) != finite).any() or not np.array_equal(
            got[~finite], want[~finite], equal_nan=True):
        return None, None
    return got[finite], want[finite]


MEASURES = {"psnr": psnr, "maxerr": maxerr, "ulp": ulp}
SIGNS = {"psnr": ">=", "maxerr": "<=", "ulp": "<="}


def choose(py_func, options, shared, words, measure, limit, call):
    """(words, note): the loosest of the relaxations 'words' with which the
    error of 'call' = (args, kwargs) is within the limit, and what to say.

    All together are tried first, then each alone; of those that keep the bound
    alone, the one that costs most is given up until the rest keep it together.
    """
    bound = f"{measure}{SIGNS[measure]}{limit:g}"
    if shared:
        return "exact", f"exact: it uses {shared}, and {bound} can't be measured"
    trials = _Trials(py_func, options, measure, call, words)
    if trials.want is None:
        return "exact", f"exact: {bound} could not be measured"
    chosen = words.split(",")
    error = trials.error(chosen)
    if not _within(measure, error, limit):
        alone = {word: trials.error([word]) for word in chosen}
        chosen = [word for word in chosen
                  if _within(measure, alone[word], limit)]
        error = trials.error(chosen)
        while chosen and not _within(measure, error, limit):
            chosen.remove(_worst(measure, chosen, alone))
            error = trials.error(chosen)
    if not chosen:
        return "exact", f"exact: nothing else keeps {bound}"
    return ",".join(chosen), (f"{','.join(chosen)}: {measure} {error:.4g} in the "
                              f"first call ({bound})")


def _within(measure, error, limit):
    return error >= limit if measure == "psnr" else error <= limit


def _worst(measure, words, errors):
    choose_one = min if measure == "psnr" else max
    return choose_one(words, key=errors.get)


class _Trials:
    """Runs of a function on copies of one call's arguments; 'want' is what the
    exact one does, in Python where only the relaxed one is native; None if that
    is not known."""

    def __init__(self, py_func, options, measure, call, words):
        self.py_func = py_func
        self.options = options
        self.measure = measure
        self.call = call
        self.want = self._run("exact")
        if self.want is None and self._run(words) is not None:
            self.want = self._run("exact", in_python=True)

    def error(self, words):
        """The worst error of anything that comes out."""
        measured = MEASURES[self.measure]
        best = math.inf if self.measure == "psnr" else 0.0
        worse = min if self.measure == "psnr" else max
        got = self._run(",".join(words)) if words else self.want
        if got is None or len(got) != len(self.want):
            return -math.inf if self.measure == "psnr" else math.inf
        with np.errstate(all="ignore"):
            return worse([best, *(measured(one, other)
                                  for one, other in zip(got, self.want))])

    def _run(self, words, in_python=False):
        """The numbers of the result and of the arguments afterwards; None if it
        raises, or isn't native though it should."""
        import warnings

        from . import accelerate

        args, kwargs = clone(self.call)
        fn = accelerate(self.py_func, **{**self.options, "approx": words,
                                         "strict": False})
        legacy = np.random.get_state()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if not in_python and not fn.compile(*args, **kwargs):
                    return None
                result = fn(*args, **kwargs)
        except Exception:
            return None
        finally:
            np.random.set_state(legacy)
        if not in_python and not fn.stats.native_calls:
            return None
        return _numbers((result, args, kwargs))


def _numbers(value):
    """All arrays and numbers in 'value', as arrays."""
    if isinstance(value, (np.ndarray, np.number, np.bool_)) or type(value) in (
            bool, int, float, complex):
        array = np.asarray(value)
        if array.dtype.kind == "c":
            return [array.real, array.imag]
        return [array] if array.dtype.kind in "biuf" else []
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (tuple, list)):
        return []
    return [array for item in value for array in _numbers(item)]
