"""`vizgen cache dir | ls | verify | clear`."""
import os
import sys

from vizgen import _core, tuned


def dir():
    """Print where compiled code is kept; 1 when nowhere."""
    info = _core.cache_info()
    if not info["dir"]:
        print(f"vizgen: no cache: {info['why']}", file=sys.stderr)
        return 1
    print(info["dir"])
    return 0


def ls():
    """Print the entries, one a line, and the tuned choices."""
    info = _core.cache_info()
    print(f"{info['entries']} compiled kernels, {info['bytes']} bytes")
    for record in tuned.everything():
        gain = record.get("figures", {}).get("gain")
        factor = f"  {gain:.2f}x" if isinstance(gain, float) else ""
        words = " ".join(w for w in (record["opts"], record["compiler"]) if w)
        print(f"tuned  {record['name']}  {words or 'default'}{factor}")
    return 0


def verify():
    """Check every entry's hash; 1 when one is damaged."""
    bad, report = _core.cache_verify()
    if report:
        print(report.rstrip())
    print(f"{bad} damaged entries")
    return 1 if bad else 0


def clear():
    """Remove compiled code and tuned choices."""
    removed = _core.cache_clear()
    try:
        folder = tuned.open_folder()
    except OSError:
        folder = None
    count = 0
    if folder is not None:
        for name in os.listdir(folder):
            os.unlink(name, dir_fd=folder)
            count += 1
        os.close(folder)
    print(f"removed {removed} compiled kernels and {count} tuning files")
    return 0
