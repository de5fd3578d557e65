# Building and testing vizgen.
#
#   make dev        build in place: asserts, IR verifier, warnings are errors
#   make test       the tests (10 minutes on two cores at most)
#   make test-full  whole tables, all planted faults; then the tests again under
#                   the sanitizers and with more threads
#   make tsan       parallel loops under ThreadSanitizer
#   make demo       a first look: one app, plain and accelerated
#   make bench      measure the apps against their peers
#   make lint       compilers' warnings, ruff, formatting
#   make core-tools the compiler without Python: build/tools/vz-opt
#   make clean
#
# PY=python names an interpreter that has NumPy; by default a private .venv is
# made.  VIZGEN_BUILD=release|dev|asan|cov chooses the flags.

PY ?= .venv/bin/python
ifeq ($(origin CC),default)
CC = gcc
endif
JOBS ?= 2
VIZGEN_BUILD ?= dev
PACKAGES = setuptools wheel numpy pytest pytest-timeout pytest-xdist \
           ruff z3-solver

# --- The environment ---------------------------------------------------------

.PHONY: all dev release asan test test-full demo bench lint core-tools clean \
        link objects exchange sdist tsan tool

all: release

# Says which Debian package is missing instead of failing in the middle.
define need
command -v $(1) >/dev/null 2>&1 || { \
  echo "$(1) is missing: apt install $(2)" >&2; exit 1; }
endef

.venv/bin/python:
	@$(call need,python3,python3)
	@$(call need,$(firstword $(CC)),gcc)
	@python3 -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "venv is missing: apt install python3-venv" >&2; exit 1; }
	@python3 -c 'import os, sysconfig, sys; sys.exit(not os.path.exists( \
	  sysconfig.get_path("include") + "/Python.h"))' || { \
	  echo "Python.h is missing: apt install python3-dev" >&2; exit 1; }
	python3 -m venv .venv
	.venv/bin/python -m pip install -q --upgrade pip
	.venv/bin/python -m pip install -q $(PACKAGES)

# --- The extension module, one object per C file -----------------------------

SOURCES := $(sort $(filter-out csrc/driver/vz_opt% csrc/tools/%, \
             $(wildcard csrc/*/*.c typeinfer/*.c transforms/*.c autotune/*.c)))
# Objects depend on the interpreter, so each has a folder of its own.
BUILD := build/$(VIZGEN_BUILD)$(basename $(SUFFIX))
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o)
DEPENDS := $(OBJECTS:.o=.d)
PRELUDE := csrc/emit/prelude_text.inc

WARN = -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes \
       -Wmissing-prototypes -Wpointer-arith -Wcast-qual -Wvla -Wformat=2 -Wundef
BASE = -std=c11 -D_GNU_SOURCE -fvisibility=hidden -fPIC -fopenmp -I. $(WARN)
CHECKED = -Og -g -DVIZGEN_DEV=1 -Werror
FLAGS_release = -O2 -DNDEBUG
FLAGS_dev = $(CHECKED)
FLAGS_asan = $(CHECKED) -fsanitize=address,undefined -fno-omit-frame-pointer
FLAGS_tsan = $(CHECKED) -fsanitize=thread -DVIZGEN_TSAN
FLAGS_cov = $(CHECKED) --coverage
LINK_asan = -fsanitize=address,undefined
LINK_tsan = -fsanitize=thread
LINK_cov = --coverage
VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' vizgen/__init__.py)
CORE_FLAGS = $(BASE) $(FLAGS_$(VIZGEN_BUILD)) -DVIZGEN_VERSION='"$(VERSION)"'

# Set by the recursive call below, when the interpreter is sure to exist.
PY_INCLUDE ?=
SUFFIX ?=
EXTRA ?=

# $(1): the kind of build; $(2): link, or objects only
define build_goal
$(MAKE) --no-print-directory -j$(JOBS) $(2) VIZGEN_BUILD=$(1) \
  PY_INCLUDE="$$($(PY) -c 'import sysconfig, numpy; \
    print("-isystem", sysconfig.get_path("include"), \
          "-isystem", numpy.get_include())')" \
  SUFFIX="$$($(PY) -c 'import sysconfig; \
    print(sysconfig.get_config_var("EXT_SUFFIX"))')"
endef

dev release asan cov: $(PY)
	@$(call build_goal,$@,link)

objects: $(OBJECTS)

link: $(BUILD)/_core$(SUFFIX)
	@cmp -s $< vizgen/_core$(SUFFIX) || { \
	  cp $< vizgen/_core.new && mv vizgen/_core.new vizgen/_core$(SUFFIX); }

$(BUILD)/_core$(SUFFIX): $(OBJECTS) $(EXTRA)
	@echo link $@
	@$(CC) -shared -fopenmp $(LINK_$(VIZGEN_BUILD)) $(OBJECTS) $(EXTRA) \
	  -lm -ldl -o $@

# The module with one file exchanged: FROM in place of FILE, linked as TO
# (tests/test_planted.py).
exchange:
	@$(CC) $(CORE_FLAGS) -w $(PY_INCLUDE) -c $(FROM) -o $(FROM:.c=.o)
	@$(CC) -shared -fopenmp $(LINK_$(VIZGEN_BUILD)) \
	  $(filter-out $(BUILD)/$(FILE:.c=.o),$(OBJECTS)) $(FROM:.c=.o) \
	  -lm -ldl -o $(TO)

$(BUILD)/csrc/py/%.o: csrc/py/%.c
	@mkdir -p $(@D)
	@echo cc $<
	@$(CC) $(CORE_FLAGS) $(PY_INCLUDE) -MMD -MP -c $< -o $@

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	@echo cc $<
	@$(CC) $(CORE_FLAGS) -MMD -MP -c $< -o $@

$(filter $(BUILD)/csrc/emit/%,$(OBJECTS)): | $(PRELUDE)

$(PRELUDE): csrc/run/abi.h csrc/emit/embed.py \
            $(wildcard csrc/emit/prelude*.h csrc/emit/relaxed.h)
	@python3 csrc/emit/embed.py >/dev/null && touch $@

-include $(DEPENDS)

# --- The compiler without Python ---------------------------------------------

# Of the objects of 'make dev', or of another build that VIZGEN_TOOLS names.
VIZGEN_TOOLS ?= dev
TOOL_OBJECTS := $(filter-out $(BUILD)/csrc/py/%,$(OBJECTS)) \
                $(patsubst %.c,$(BUILD)/%.o,$(wildcard csrc/driver/vz_opt*.c))

core-tools: $(PY)
	@$(call build_goal,$(VIZGEN_TOOLS),tool)

tool: $(BUILD)/vz-opt
	@mkdir -p build/tools
	@cmp -s $< build/tools/vz-opt || { \
	  cp $< build/tools/vz-opt.new && \
	  mv build/tools/vz-opt.new build/tools/vz-opt; }

$(BUILD)/vz-opt: $(TOOL_OBJECTS)
	@echo link $@
	@$(CC) -fopenmp $(LINK_$(VIZGEN_BUILD)) $^ -lm -ldl -o $@

-include $(TOOL_OBJECTS:.o=.d)

# --- Tests and measurements --------------------------------------------------

test: dev core-tools
	$(PY) -m pytest -q -n $(JOBS) tests

# Z3 throws, for which libasan wants to find libstdc++ when the program begins.
PRELOAD = $(shell $(CC) -print-file-name=libasan.so) \
          $(shell $(CC) -print-file-name=libstdc++.so.6)

test-full: dev core-tools
	VIZGEN_FULL=1 $(PY) -m pytest -q tests
	OMP_NUM_THREADS=5 $(PY) -m pytest -q tests
	@$(MAKE) --no-print-directory asan
	VIZGEN_TOOLS=asan LD_PRELOAD="$(PRELOAD)" \
	  ASAN_OPTIONS=detect_leaks=0 OMP_NUM_THREADS=2 $(PY) -m pytest -q tests
	@$(MAKE) --no-print-directory dev

# Nothing is built in place: tests/races.py links a package of its own.
tsan: $(PY)
	@$(call build_goal,tsan,objects)
	$(PY) -m tests.races

demo: release
	$(PY) -m vizgen demo

bench: release
	$(PY) bench/run.py

sdist: $(PY)
	$(PY) -m pip install -q build
	$(PY) -m build --sdist

lint: $(PY) $(PRELUDE)
	@for file in $(filter-out csrc/py/%,$(SOURCES)); do \
	  for cc in gcc clang; do \
	    command -v $$cc >/dev/null || continue; \
	    $$cc $(BASE) -Werror -Wno-unknown-warning-option -fsyntax-only \
	      $$file || exit 1; \
	  done; \
	done
	@if command -v clang-format >/dev/null; then \
	  clang-format --dry-run $(SOURCES) 2>&1 | grep -c warning: \
	    | sed 's/$$/ places differ from .clang-format (for information)/'; fi
	$(PY) -m ruff check vizgen tests setup.py

clean:
	rm -rf build dist *.egg-info vizgen/_core*.so $(PRELUDE)
