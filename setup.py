"""Build vizgen._core: every C file of the compiler in one extension module.

VIZGEN_BUILD chooses how:
  release  (default) -O2
  dev      asserts, the IR verifier after every pass, warnings are errors
  asan     as dev, with the address and undefined-behaviour sanitizers
  cov      as dev, with coverage counters
"""

import glob
import importlib.util
import os
from concurrent.futures import ThreadPoolExecutor

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

FOLDERS = ("csrc/*", "typeinfer", "transforms", "autotune")
NOT_OURS = set(glob.glob(os.path.join("csrc", "driver", "vz_opt*.c")))
COMMON = ["-std=c11", "-D_GNU_SOURCE", "-fvisibility=hidden", "-fopenmp", "-Wall"]
DEV = ["-Og", "-g", "-UNDEBUG", "-DVIZGEN_DEV=1"]
BUILDS = {
    "release": (["-O2", "-g0"], []),
    "dev": (DEV, []),
    "asan": (
        DEV + ["-fsanitize=address,undefined", "-fno-omit-frame-pointer"],
        ["-fsanitize=address,undefined"],
    ),
    "cov": (DEV + ["--coverage"], ["--coverage"]),
}


def matching(*endings):
    """Files below our C folders that end in one of 'endings', sorted."""
    names = []
    for folder in FOLDERS:
        for ending in endings:
            names += glob.glob(os.path.join(folder, "*" + ending))
    return sorted(n for n in set(names) - NOT_OURS if "tools" not in n.split(os.sep))


def embed_prelude():
    """Write csrc/emit/prelude_text.inc."""
    path = os.path.join("csrc", "emit", "embed.py")
    spec = importlib.util.spec_from_file_location("embed", path)
    embed = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(embed)
    embed.write()


def version():
    """The version of vizgen/__init__.py."""
    with open(os.path.join("vizgen", "__init__.py"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("__version__"):
                return line.split('"')[1]
    raise SystemExit("no __version__ in vizgen/__init__.py")


class BuildExt(build_ext):
    """build_ext that compiles the files of one extension side by side."""

    def build_extensions(self):
        import numpy

        embed_prelude()
        for extension in self.extensions:
            extension.include_dirs.append(numpy.get_include())
        compiler = self.compiler

        def compile_all(sources, output_dir=None, macros=None, include_dirs=None,
                        debug=0, extra_preargs=None, extra_postargs=None,
                        depends=None):
            macros, objects, extra, options, build = compiler._setup_compile(
                output_dir, macros, include_dirs, sources, depends, extra_postargs
            )
            arguments = compiler._get_cc_args(options, debug, extra_preargs)

            def one(name):
                source, ending = build[name]
                compiler._compile(name, source, ending, arguments, extra, options)

            with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
                list(pool.map(one, [name for name in objects if name in build]))
            return objects

        compiler.compile = compile_all
        super().build_extensions()


compile_args, link_args = BUILDS[os.environ.get("VIZGEN_BUILD", "release")]
core = Extension(
    "vizgen._core",
    sources=matching(".c"),
    depends=matching(".h", ".def"),
    include_dirs=["."],
    define_macros=[("VIZGEN_VERSION", '"%s"' % version())],
    extra_compile_args=COMMON + compile_args,
    extra_link_args=["-fopenmp"] + link_args,
    libraries=["m", "dl"],
)

setup(version=version(), ext_modules=[core], cmdclass={"build_ext": BuildExt})
