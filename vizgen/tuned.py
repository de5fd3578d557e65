"""The choices that tuning made, kept for later runs.

One small JSON file per function and kind of processor in the folder 'tuned'
of the cache.  A file can only choose among what the compiler proves legal
anyway: options are a fixed set of words, the compiler is one of a few names.
Whatever is wrong with a file or folder means "nothing was tuned".

Every first call of a function comes by here, nearly always for nothing, so
modules are loaded where they are needed.
"""
import os

from .lazy import load

SCHEMA = 1
COMPILERS = ("", "gcc", "clang", "cc")
WORDS = frozenset(
    f"{name}={value}" for value in "01" for name in
    ("parallel", "vectorize", "regions", "interchange", "pipes", "unroll",
     "flatten"))
MOST_BYTES = 65536


# --- what a function is called and made of ---------------------------------

def name_of(py_func):
    """module.qualname; a program's own module goes by its file's name, so
    that 'python app.py' and 'import app' share what was tuned."""
    module = py_func.__module__
    if module == "__main__":
        path = py_func.__code__.co_filename
        module = os.path.splitext(os.path.basename(path))[0]
    return f"{module}.{py_func.__qualname__}"


def source_hash(py_func):
    """A hash of the function's program and of the functions it calls by
    name, whatever their comments and spacing; None without source."""
    hashlib = load("hashlib")
    parts = {}
    _gather(py_func, parts)
    if None in parts.values():
        return None
    text = "\n".join(f"{name} {parts[name]}" for name in sorted(parts))
    return hashlib.sha256(text.encode()).hexdigest()


def _gather(py_func, parts):
    source = load("vizgen.source")
    name = f"{py_func.__module__}.{py_func.__qualname__}"
    if name in parts:
        return
    parts[name] = _program(py_func)
    for used in py_func.__code__.co_names:
        called = source.plain_function(py_func.__globals__.get(used))
        if called is not None:
            _gather(called, parts)


def _program(py_func):
    ast = load("ast")
    inspect = load("inspect")
    textwrap = load("textwrap")
    try:
        text = textwrap.dedent(inspect.getsource(py_func))
        node = ast.parse(text).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    node.decorator_list = []
    return ast.dump(node)


def machine():
    """The kind of processor, in words."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith(("model name", "CPU part")):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return os.uname().machine


# --- the folder ------------------------------------------------------------

def cache_root():
    """The cache's folder as the environment names it."""
    own = os.environ.get("VIZGEN_CACHE_DIR")
    if own:
        return own
    base = os.environ.get("XDG_CACHE_HOME")
    if not base or not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "vizgen")


def open_folder(create=False):
    """A descriptor of the folder 'tuned', which nobody else can write; the
    caller closes it.  OSError when there is none."""
    root = cache_root()
    if create:
        os.makedirs(root, mode=0o700, exist_ok=True)
    above = _open_private(root, None)
    try:
        if create:
            try:
                os.mkdir("tuned", 0o700, dir_fd=above)
            except FileExistsError:
                pass
        return _open_private("tuned", above)
    finally:
        os.close(above)


def _open_private(path, above):
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    if above is not None:
        flags |= os.O_NOFOLLOW
    fd = os.open(path, flags, dir_fd=above)
    info = os.fstat(fd)
    if info.st_uid != os.geteuid() or info.st_mode & 0o022:
        os.close(fd)
        raise PermissionError(f"{path} can be written by others")
    return fd


def _file_name(name):
    hashlib = load("hashlib")
    key = f"{name}\n{machine()}"
    return hashlib.sha256(key.encode()).hexdigest()[:32] + ".json"


# --- reading and writing ---------------------------------------------------

def choice(py_func):
    """lookup() for a function; cheap where nothing was ever tuned."""
    if not os.path.isdir(os.path.join(cache_root(), "tuned")):
        return None
    return lookup(name_of(py_func), source_hash(py_func))


def lookup(name, source):
    """(options as text, compiler's name or None) that was tuned for 'name'
    with the source of hash 'source', or None."""
    if source is None:
        return None
    try:
        folder = open_folder()
    except OSError:
        return None
    try:
        record = _read(folder, _file_name(name))
    except (OSError, ValueError):
        return None
    finally:
        os.close(folder)
    if record["name"] != name or record["source"] != source:
        return None
    return record["opts"], record["compiler"] or None


def _read(folder, file_name):
    json = load("json")
    stat = load("stat")
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    fd = os.open(file_name, flags, dir_fd=folder)
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode) or info.st_uid != os.geteuid():
            raise ValueError("not a file of this user")
        text = os.read(fd, MOST_BYTES)
    finally:
        os.close(fd)
    return checked(json.loads(text))


def checked(record):
    """'record' if it is a choice that may be used, else ValueError."""
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        raise ValueError("unknown schema")
    for field in ("name", "source", "opts", "compiler"):
        if not isinstance(record.get(field), str):
            raise ValueError(f"no text in {field}")
    if not WORDS.issuperset(record["opts"].split()):
        raise ValueError("an option that may not be tuned")
    if record["compiler"] not in COMPILERS:
        raise ValueError("a compiler that may not be tuned")
    return record


def install(name, source, opts, compiler, figures):
    """Keep a choice, and 'figures' (numbers for people) with it."""
    json = load("json")
    record = checked({
        "schema": SCHEMA, "name": name, "source": source, "opts": opts,
        "compiler": compiler or "", "machine": machine(), "figures": figures,
    })
    folder = open_folder(create=True)
    try:
        _publish(folder, _file_name(name), json.dumps(record, indent=1))
    finally:
        os.close(folder)


def _publish(folder, file_name, text):
    draft = f"{file_name}.{os.getpid()}"
    flags = (os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
             | os.O_CLOEXEC)
    fd = os.open(draft, flags, 0o600, dir_fd=folder)
    with os.fdopen(fd, "w") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.rename(draft, file_name, src_dir_fd=folder, dst_dir_fd=folder)
    os.fsync(folder)


def everything():
    """All choices that are kept, as records."""
    try:
        folder = open_folder()
    except OSError:
        return []
    records = []
    try:
        for name in sorted(os.listdir(folder)):
            if name.endswith(".json"):
                try:
                    records.append(_read(folder, name))
                except (OSError, ValueError):
                    pass
    finally:
        os.close(folder)
    return records


def forget(name):
    """Remove the choice for 'name', so that the default is used again."""
    try:
        folder = open_folder()
    except OSError:
        return
    try:
        os.unlink(_file_name(name), dir_fd=folder)
    except FileNotFoundError:
        pass
    finally:
        os.close(folder)
