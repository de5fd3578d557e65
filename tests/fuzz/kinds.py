"""The kinds of random programs, by name."""
from tests.fuzz import broad, generate


def mixed(seed, candidate=None):
    """Of five programs, three are of the broad kind."""
    if seed % 5 < 3:
        return broad.program(seed, candidate)
    return generate.program(seed)


def pixels(seed, candidate=None):
    return generate.program(seed)


MAKERS = {"all": mixed, "broad": broad.program, "pixels": pixels}


def write(kind, seed, folder):
    """Writes a program's file and returns its path.  What the compiler was
    asked while it was being made is left beside it if that did not end."""
    candidate = folder / f"program_{seed}_asked.py"
    path = folder / f"program_{seed}.py"
    path.write_text(MAKERS[kind](seed, candidate))
    candidate.unlink(missing_ok=True)
    return path
