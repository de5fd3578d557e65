"""Pictures for the applications, without any dependency but NumPy.

`picture` makes deterministic pictures that look like photographs to a
filter: gradients, hard edges, textures and noise.  `read` and `write` know
PNG (8 and 16 bits, not interlaced) and binary PGM/PPM.
"""
import os
import struct
import sys
import zlib

import numpy as np

PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
PNG_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


# --- generating ------------------------------------------------------------

def picture(rows, cols, channels=1, dtype=np.float64, seed=0):
    """A picture of shape (rows, cols) or, with 'channels' above 1,
    (rows, cols, channels).  Floats lie in 0..1, integers in 0..255."""
    planes = [_plane(rows, cols, seed * 4 + k) for k in range(channels)]
    if channels == 4:
        planes[3] = np.clip(2.0 * planes[3] - 0.3, 0.0, 1.0)
    values = planes[0] if channels == 1 else np.stack(planes, axis=-1)
    if np.issubdtype(dtype, np.integer):
        values = np.floor(values * 255.0 + 0.5)
    return np.ascontiguousarray(values.astype(dtype))


def _plane(rows, cols, seed):
    """One channel in 0..1: sky, hills, bricks, a disc, grain."""
    rng = np.random.RandomState(1000 + seed)
    y, x = np.mgrid[0:rows, 0:cols]
    v = y / max(rows, 1)
    u = x / max(cols, 1)
    phase = rng.uniform(0.0, 6.28)
    value = 0.75 - 0.4 * v + 0.1 * np.cos(3.0 * u + phase)
    hills = 0.55 + 0.1 * np.sin(7.0 * u + phase) + 0.04 * np.sin(31.0 * u)
    texture = 0.35 + 0.1 * np.sin(90.0 * u + 5.0 * v) * np.cos(70.0 * v)
    value = np.where(v > hills, texture, value)
    joints = ((y % 12) < 2) | (((x + 9 * ((y // 12) % 2)) % 18) < 2)
    wall = (u > 0.55) & (u < 0.85) & (v > 0.3) & (v < 0.8)
    value = np.where(wall, np.where(joints, 0.3, 0.62), value)
    disc = (u - 0.25) ** 2 + (v - 0.25) ** 2 < 0.012
    value = np.where(disc, 0.95, value)
    value = value + rng.uniform(-0.03, 0.03, (rows, cols))
    return np.clip(value, 0.0, 1.0)


def workload(rows, cols, channels):
    """The picture that the applications' test() works on: the one that the
    environment variable APP_PICTURE names, else a generated one."""
    path = os.environ.get("APP_PICTURE")
    if not path:
        return picture(rows, cols, channels)
    img = read(path)
    img = img / float(np.iinfo(img.dtype).max)
    if channels == 1 and img.ndim == 3:
        return np.ascontiguousarray(img[:, :, :3].mean(axis=2))
    if channels == 3 and img.ndim == 3:
        return np.ascontiguousarray(img[:, :, :3])
    return img


def main(test):
    """What an application does as a program: APP.py [OUTPUT.png]."""
    result = test()
    print("%s %s mean %.6f" % (result.shape, result.dtype, result.mean()))
    if len(sys.argv) > 1:
        write(sys.argv[1], result)
        print("wrote " + sys.argv[1])


# --- files -----------------------------------------------------------------

def write(path, img):
    """Save 'img' as PNG, or as PGM/PPM by the name's ending.  Floats are
    taken as 0..1 and rounded to 8 bits."""
    if img.dtype.kind == "f":
        img = np.clip(np.nan_to_num(img), 0.0, 1.0) * 255.0 + 0.5
    img = np.ascontiguousarray(img.astype(np.uint8))
    if img.ndim == 2:
        img = img[:, :, None]
    binary = _pnm(img) if path.endswith((".ppm", ".pgm")) else _png(img)
    with open(path, "wb") as out:
        out.write(binary)


def read(path):
    """The picture in a PNG, PGM or PPM file: (h, w) or (h, w, channels) of
    uint8 or uint16."""
    with open(path, "rb") as file:
        binary = file.read()
    img = _read_png(binary) if binary[:8] == PNG_MAGIC else _read_pnm(binary)
    return img[:, :, 0] if img.shape[2] == 1 else img


def _png(img):
    rows, cols, channels = img.shape
    colour = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    header = struct.pack(">IIBBBBB", cols, rows, 8, colour, 0, 0, 0)
    lines = np.zeros((rows, 1 + cols * channels), np.uint8)
    lines[:, 1:] = img.reshape(rows, cols * channels)
    return (PNG_MAGIC + _chunk(b"IHDR", header)
            + _chunk(b"IDAT", zlib.compress(lines.tobytes(), 6))
            + _chunk(b"IEND", b""))


def _chunk(kind, body):
    check = zlib.crc32(kind + body)
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", check)


def _read_png(binary):
    at, data, palette, header = 8, b"", None, None
    while at < len(binary):
        size, kind = struct.unpack(">I4s", binary[at:at + 8])
        body = binary[at + 8:at + 8 + size]
        at += 12 + size
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif kind == b"PLTE":
            palette = np.frombuffer(body, np.uint8).reshape(-1, 3)
        elif kind == b"IDAT":
            data += body
    cols, rows, depth, colour, _, _, interlaced = header
    if depth not in (8, 16) or interlaced:
        raise ValueError("only PNG of 8 or 16 bits, not interlaced, is read")
    channels = PNG_CHANNELS[colour]
    step = channels * depth // 8
    lines = _unfilter(zlib.decompress(data), rows, cols * step, step)
    if depth == 16:
        lines = lines.view(">u2").astype(np.uint16)
    img = lines.reshape(rows, cols, channels)
    return palette[img[:, :, 0]] if colour == 3 else img


def _unfilter(data, rows, width, step):
    """Undo PNG's row filters; 'step' is the distance to the left pixel."""
    raw = np.frombuffer(data, np.uint8).reshape(rows, 1 + width)
    out = np.zeros((rows, width), np.uint8)
    above = np.zeros(width, np.uint8)
    for r in range(rows):
        kind, line = raw[r, 0], raw[r, 1:]
        if kind == 0:
            out[r] = line
        elif kind == 1:
            pixels = line.reshape(-1, step)
            out[r] = np.cumsum(pixels, axis=0, dtype=np.uint8).reshape(-1)
        elif kind == 2:
            out[r] = line + above
        else:
            guess = _average if kind == 3 else _paeth
            out[r] = _left_to_right(line, above, step, guess)
        above = out[r]
    return out


def _left_to_right(line, above, step, guess):
    up = [0] * step + above.tolist()
    out = [0] * step
    for i, value in enumerate(line.tolist()):
        left, over, corner = out[i], up[i + step], up[i]
        out.append((value + guess(left, over, corner)) & 255)
    return np.array(out[step:], np.uint8)


def _average(left, over, corner):
    return (left + over) // 2


def _paeth(left, over, corner):
    best = left + over - corner
    by_left, by_over = abs(best - left), abs(best - over)
    by_corner = abs(best - corner)
    if by_left <= by_over and by_left <= by_corner:
        return left
    return over if by_over <= by_corner else corner


def _pnm(img):
    rows, cols, channels = img.shape
    if channels not in (1, 3):
        raise ValueError("PGM and PPM hold 1 or 3 channels")
    kind = b"P5" if channels == 1 else b"P6"
    return kind + b"\n%d %d\n255\n" % (cols, rows) + img.tobytes()


def _read_pnm(binary):
    words, at = [], 0
    while len(words) < 4:
        end = at
        while end < len(binary) and not binary[end:end + 1].isspace():
            end += 1
        word = binary[at:end]
        if word.startswith(b"#"):
            end = binary.index(b"\n", at)
        elif word:
            words.append(word)
        at = end + 1
    channels = {b"P5": 1, b"P6": 3}.get(words[0])
    cols, rows, top = map(int, words[1:])
    if channels is None or top > 65535:
        raise ValueError("not a binary PGM or PPM file")
    dtype = np.dtype(np.uint8 if top < 256 else ">u2")
    data = np.frombuffer(binary, dtype, rows * cols * channels, at)
    return data.astype(dtype.newbyteorder("=")).reshape(rows, cols, channels)
