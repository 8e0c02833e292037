"""The plan of an invented town: streets, blocks and a river, and blocks joined into areas without gaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from ..progress import Progress, part, silent

SIDE = 36_000.0  # metres: the square in which the plan is drawn, around the origin
LIMITS = 14_500.0  # metres from the centre to the town limits, on average
BLOCKS_PER_AREA = 11.0
RIVER_WIDTH = 170.0
RIVER_AREAS = 9
LLOYD_ROUNDS = 12
GRID = 0.1  # metres: coordinates are whole multiples of this before the streets are bent


@dataclass(frozen=True, eq=False)
class TownPlan:
    """Areas that share their borders exactly, in metres around the middle of the town.

    polygons : (n,) object array of polygons; water : (n,) bool, the areas of the river
    centres : (n, 2), a point inside each area
    """

    polygons: np.ndarray
    water: np.ndarray
    centres: np.ndarray


def draw_town_plan(rng: np.random.Generator, n_areas: int, progress: Progress = silent) -> TownPlan:
    """A town of about n_areas areas: small ones in the middle, large ones at the edge, a river across.

    Streets cut the land into blocks, smaller where more people live; areas are blocks joined, as census areas are,
    so that their borders run along streets and banks and never across the river.
    """
    density = _Density.drawn(rng, n_areas)
    river_line = _river_line(rng)
    river = shapely.buffer(river_line, RIVER_WIDTH / 2, quad_segs=3)
    faces = _faces(_blocks(rng, density), river)
    progress(0.4)
    points = shapely.get_coordinates(shapely.point_on_surface(faces))
    shapely.prepare(river)
    water = shapely.contains_xy(river, points)
    inside = _inside_the_limits(rng, faces, points, water)
    faces, points, water = faces[inside], points[inside], water[inside]
    pairs, lengths = _neighbours(faces)
    labels = np.full(len(faces), -1)
    labels[~water] = _areas_of_blocks(rng, faces[~water], points[~water], density, n_areas)
    labels[water] = n_areas + _river_stretch(river_line, points[water])
    same_kind = water[pairs[:, 0]] == water[pairs[:, 1]]
    labels = _made_whole(labels, pairs[same_kind], lengths[same_kind])
    progress(0.7)
    bend = _Bend.drawn(rng)
    faces = shapely.transform(faces, bend.moved)
    polygons = _dissolved(faces, labels, part(progress, 0.7, 1.0))
    first = np.unique(labels, return_index=True)[1]
    return TownPlan(polygons, water[first], shapely.get_coordinates(shapely.point_on_surface(polygons)))


@dataclass(frozen=True, eq=False)
class _Density:
    """Areas per square metre: highest in the middle, lower with distance, uneven, with a few second centres."""

    peaks: np.ndarray
    waves: np.ndarray
    factor: float

    @classmethod
    def drawn(cls, rng: np.random.Generator, n_areas: int) -> _Density:
        angles = rng.uniform(0, 2 * np.pi, 5) + np.arange(5) * 2 * np.pi / 5
        distance = rng.uniform(4_000, 8_000, 5)
        peaks = np.column_stack([distance * np.cos(angles), distance * np.sin(angles)])
        waves = np.column_stack([rng.normal(0, 1 / 3_000, (6, 2)), rng.uniform(0, 2 * np.pi, 6)])
        shape = cls(peaks, waves, 1.0)
        steps = np.arange(-LIMITS, LIMITS, 200.0) + 100.0
        grid = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
        grid = grid[np.hypot(*grid.T) < LIMITS]
        return cls(peaks, waves, n_areas / float(shape.at(grid).sum() * 200.0**2))

    def at(self, points: np.ndarray) -> np.ndarray:
        """Areas per square metre at points (m, 2), (m,)."""
        distance = np.hypot(*points.T)
        core = np.exp(-distance / 2_600)
        second = np.exp(-np.hypot(*(points[:, None] - self.peaks).transpose(2, 0, 1)) / 1_300).sum(axis=1)
        uneven = np.exp(0.35 * np.cos(points @ self.waves[:, :2].T + self.waves[:, 2]).sum(axis=1) / np.sqrt(3))
        suburbs = 1 / (1 + np.exp((distance - 9_500) / 600))
        return self.factor * ((core + 0.12 * second + 0.05 * suburbs) * uneven + 0.005)


def _blocks(rng: np.random.Generator, density: _Density) -> np.ndarray:
    """Rectangles (m, 4) as left, bottom, right, top: the square halved again and again where many people live."""
    boxes = np.array([[-SIDE / 2, -SIDE / 2, SIDE / 2, SIDE / 2]])
    done = []
    while len(boxes):
        width, height = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
        middle = np.column_stack([boxes[:, 0] + boxes[:, 2], boxes[:, 1] + boxes[:, 3]]) / 2
        full = (width * height * density.at(middle) * BLOCKS_PER_AREA > 1.0) | (np.maximum(width, height) > 1_700)
        done.append(boxes[~full])
        boxes, wide = boxes[full], (width > height * rng.uniform(0.8, 1.25, len(boxes)))[full]
        share = rng.uniform(0.38, 0.62, len(boxes))
        low, high = boxes.copy(), boxes.copy()
        for axis, turn in ((0, wide), (1, ~wide)):
            cut = boxes[:, axis] + share * (boxes[:, axis + 2] - boxes[:, axis])
            cut = np.round(cut / GRID) * GRID
            low[turn, axis + 2] = high[turn, axis] = cut[turn]
        boxes = np.vstack([low, high])
    return np.vstack(done)


def _river_line(rng: np.random.Generator) -> shapely.LineString:
    """A meandering line across the whole square, passing a little beside the middle.

    A sine-generated curve: the river's heading, not its position, swings like a sine along its course.
    """
    step = 40.0
    along = np.arange(-1.1 * SIDE, 1.1 * SIDE, step)
    phase = rng.uniform(0, 2 * np.pi, 3)
    swing = 0.95 + 0.25 * np.sin(along / 2_900 + phase[0])
    heading = swing * np.sin(2 * np.pi * along / 4_300 + phase[1]) + 0.25 * np.sin(along / 2_100 + phase[2])
    heading += np.deg2rad(rng.uniform(50, 75))
    course = np.cumsum(step * np.column_stack([np.cos(heading), np.sin(heading)]), axis=0)
    middle = len(along) // 2
    aside = 700.0 * np.array([-np.sin(heading[middle]), np.cos(heading[middle])])
    # Towns were founded on a bank: the river passes 700 m from the middle.
    return shapely.LineString(course - course[middle] + aside)


def _faces(boxes: np.ndarray, river: shapely.Polygon) -> np.ndarray:
    """Streets and banks cut the plan into faces, polygons with identical shared edges."""
    lines = shapely.boundary(np.append(shapely.box(*boxes.T), river))
    noded = shapely.union_all(lines, grid_size=GRID)
    faces = shapely.get_parts(shapely.polygonize(shapely.get_parts(noded)))
    return faces[shapely.area(faces) > 0]


def _inside_the_limits(
    rng: np.random.Generator, faces: np.ndarray, points: np.ndarray, water: np.ndarray
) -> np.ndarray:
    """Which faces lie within irregular town limits, positions: the river and a bank on either side, each one piece."""
    angle = np.arctan2(points[:, 1], points[:, 0])
    phase = rng.uniform(0, 2 * np.pi, 3)
    limit = LIMITS * (1 + sum(0.05 * np.sin(n * angle + p) for n, p in zip((2, 3, 5), phase)))
    inside = np.flatnonzero(np.hypot(*points.T) < limit)
    pairs, lengths = _neighbours(faces[inside])
    alike = water[inside][pairs[:, 0]] == water[inside][pairs[:, 1]]
    _, piece = connected_components(_graph(pairs[alike], lengths[alike], len(inside)), directed=False)
    # What a bend of the river cuts off at the limits stays outside.
    kept = np.zeros(piece.max() + 1, bool)
    for kind, n_pieces in ((water[inside], 1), (~water[inside], 2)):
        sizes = np.bincount(piece[kind], minlength=len(kept))
        kept[np.argsort(-sizes, kind="stable")[:n_pieces]] = True
    return inside[kept[piece]]


def _neighbours(faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of faces that share an edge, (m, 2), and the length they share, (m,); shared edges are identical."""
    coordinates, face = shapely.get_coordinates(faces, return_index=True)
    inner = face[:-1] == face[1:]
    start, end, owner = coordinates[:-1][inner], coordinates[1:][inner], face[:-1][inner]
    swapped = (start[:, 0] > end[:, 0]) | ((start[:, 0] == end[:, 0]) & (start[:, 1] > end[:, 1]))
    edges = np.where(swapped[:, None], np.hstack([end, start]), np.hstack([start, end]))
    order = np.lexsort(edges.T)
    edges, owner = edges[order], owner[order]
    twin = np.flatnonzero((edges[:-1] == edges[1:]).all(axis=1))
    pairs = np.column_stack([owner[twin], owner[twin + 1]])
    return pairs, np.hypot(edges[twin, 2] - edges[twin, 0], edges[twin, 3] - edges[twin, 1])


def _graph(pairs: np.ndarray, weights: np.ndarray, n: int) -> sparse.csr_matrix:
    """The pairs as a symmetric matrix (n, n)."""
    both = np.vstack([pairs, pairs[:, ::-1]])
    return sparse.csr_matrix((np.concatenate([weights, weights]), (both[:, 0], both[:, 1])), shape=(n, n))


def _areas_of_blocks(
    rng: np.random.Generator, faces: np.ndarray, points: np.ndarray, density: _Density, n_areas: int
) -> np.ndarray:
    """The area of each block, (m,): blocks join the nearest of n_areas centres that spread as the people do."""
    content = shapely.area(faces) * density.at(points)
    sites = points[rng.choice(len(points), n_areas, replace=False, p=content / content.sum())]
    # Lloyd's rounds with the density once more as weight keep the centres as dense as they were drawn.
    weight = content * density.at(points)
    for _ in range(LLOYD_ROUNDS):
        nearest = cKDTree(sites).query(points)[1]
        total = np.bincount(nearest, weight, n_areas)
        moved = np.column_stack([np.bincount(nearest, weight * points[:, a], n_areas) for a in (0, 1)])
        sites = np.where(total[:, None] > 0, moved / np.maximum(total, 1e-300)[:, None], sites)
    return cKDTree(sites).query(points)[1]


def _river_stretch(river_line: shapely.LineString, points: np.ndarray) -> np.ndarray:
    """Which stretch of the river each point lies in, numbered downstream, (m,)."""
    along = shapely.line_locate_point(river_line, shapely.points(points))
    reach = np.linspace(along.min(), along.max(), RIVER_AREAS + 1)
    return np.searchsorted(reach[1:-1], along)


def _made_whole(labels: np.ndarray, pairs: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Labels 0, 1, ... of faces such that each is one piece: what lies apart joins its longest neighbour.

    labels : (m,); pairs, lengths : the borders across which faces may be joined.
    """
    n = len(labels)
    while True:
        inner = labels[pairs[:, 0]] == labels[pairs[:, 1]]
        n_pieces, piece = connected_components(_graph(pairs[inner], lengths[inner], n), directed=False)
        size = np.bincount(piece)
        label_of_piece = np.zeros(n_pieces, np.int64)
        label_of_piece[piece] = labels
        # The largest piece of each label keeps it; of equal ones the first.
        order = np.lexsort((np.arange(n_pieces), -size, label_of_piece))
        stray = np.ones(n_pieces, bool)
        stray[order[np.unique(label_of_piece[order], return_index=True)[1]]] = False
        if not stray.any():
            return np.unique(labels, return_inverse=True)[1].reshape(-1)
        between = _graph(np.column_stack([piece[pairs[~inner, 0]], piece[pairs[~inner, 1]]]), lengths[~inner], n_pieces)
        border = between[:, ~stray]
        longest = np.asarray(border.argmax(axis=1)).ravel()
        joins = stray & (np.asarray(border.sum(axis=1)).ravel() > 0)
        if not joins.any():  # an island with no neighbour of its kind: an area of its own
            label_of_piece[stray] = labels.max() + 1 + np.arange(stray.sum())
        label_of_piece[joins] = label_of_piece[~stray][longest[joins]]
        labels = label_of_piece[piece]


def _dissolved(faces: np.ndarray, labels: np.ndarray, progress: Progress) -> np.ndarray:
    """One polygon per label, in order, (n,)."""
    order = np.argsort(labels, kind="stable")
    groups = np.split(faces[order], np.flatnonzero(np.diff(labels[order])) + 1)
    polygons = np.empty(len(groups), dtype=object)
    for number, group in enumerate(groups):
        polygons[number] = shapely.coverage_union_all(group)
        progress((number + 1) / len(groups))
    return shapely.normalize(polygons)


@dataclass(frozen=True, eq=False)
class _Bend:
    """A smooth displacement that bends the straight streets; the old town's are turned towards the river."""

    turn: float
    waves: np.ndarray

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> _Bend:
        direction = rng.uniform(0, 2 * np.pi, (8, 1))
        length = rng.uniform(3_500, 9_000, (8, 1)) / (2 * np.pi)
        shift = rng.uniform(-1, 1, (8, 2)) * length * 0.10
        phase = rng.uniform(0, 2 * np.pi, (8, 1))
        return cls(
            np.deg2rad(rng.uniform(18, 32)),
            np.hstack([np.cos(direction) / length, np.sin(direction) / length, phase, shift]),
        )

    def moved(self, coordinates: np.ndarray) -> np.ndarray:
        """Coordinates (m, 2) where they end up, to the centimetre."""
        x, y = coordinates.T
        angle = self.turn * np.exp(-(np.hypot(x, y) ** 2) / 3_200**2)
        turned = np.column_stack([x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)])
        swing = np.sin(turned @ self.waves[:, :2].T + self.waves[:, 2])
        return np.round(turned + swing @ self.waves[:, 3:], 2)
