"""What vizgen is measured against: hand-written C and Numba."""
