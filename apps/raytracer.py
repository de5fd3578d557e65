"""A sphere with ambient, diffuse and specular light, one ray per pixel.

The light circles around the view with time.
"""
import numpy
import numpy as np

import images
from vizgen import accelerate


@accelerate
def raytracer(time=0.0):
    view = np.array([320, 480])
    output_img = np.zeros((int(view[0]), int(view[1]), 3))
    eye = np.array([160.0, 240, -800])
    center = np.array([160.0, 240, 250])
    radius = 150.0
    light = np.array([160 + 150 * np.cos(np.pi * time / 2),
                      240 + 150 * np.sin(np.pi * time / 2), -400])
    background = np.array([0.0, 0, 0])
    ray_dir = np.zeros(3)
    ambient = 0.1
    diffuse = 0.6
    specular = 0.3
    alfa = 50

    for r in range(int(view[0])):
        for c in range(int(view[1])):
            ray_dir[0] = r
            ray_dir[1] = c
            ray_dir[2] = 0
            direction = ray_dir - eye
            direction /= numpy.linalg.norm(direction)

            # Where the ray meets the sphere first, if at all.
            eo = center - eye
            v = numpy.dot(direction, eo)
            disc = radius ** 2 - (numpy.dot(eo, eo) - v * v)
            if disc < 0:
                output_img[r, c, :] = background
            else:
                point = eye + (v - disc ** 0.5) * direction
                normal = point - center
                normal /= numpy.linalg.norm(normal)
                to_light = light - point
                to_light /= numpy.linalg.norm(to_light)
                dif = numpy.dot(to_light, normal)
                reflected = normal * (2 * dif) - to_light
                spec = numpy.dot(reflected, direction) ** alfa
                if dif < 0:
                    dif = 0.0
                    spec = 0.0
                shade = ambient + diffuse * dif + specular * spec
                if shade > 1:
                    shade = 1.0
                output_img[r, c, 0] = shade
    return output_img


def test(time=0.0, n=None):
    """The picture at 'time', 'n' times; the indicative workload."""
    for _ in range(n or 1):
        output_img = raytracer(time)
    return output_img


if __name__ == "__main__":
    images.main(test)
