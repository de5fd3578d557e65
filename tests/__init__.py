import os

# Whole tables, all parameters, kernels as users have them: make test-full.
FULL = os.environ.get("VIZGEN_FULL") == "1"
