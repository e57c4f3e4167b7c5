"""How many of what there are, and how they are spread over organizations."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from hashlib import md5
from itertools import pairwise

TYPICAL = 50  # applications of the last organization, so that there is the same one at every size
APPS_OF_PROJECT, MOST_PROJECTS = 10, 100


@dataclass(frozen=True, slots=True)
class Sizes:
    """Rows to make. `largest`: applications of the first organization. The same `seed` makes the same rows.

    Raises ValueError where that does not go together.
    """

    organizations: int
    apps: int
    deployments: int
    tokens: int
    largest: int
    seed: int
    now: datetime

    def __post_init__(self) -> None:
        if min(self.organizations, self.apps, self.deployments, self.tokens, self.largest) < 1:
            raise ValueError("Of everything there is one at least.")
        if self.organizations > 1 and self.apps < self.largest + TYPICAL + self.organizations:
            raise ValueError(
                f"Beside the largest organization's {self.largest} applications there must be {TYPICAL} for the last "
                "organization and one for each of the others: choose more applications, or fewer of the others."
            )

    @property
    def users(self) -> int:
        return max(self.organizations, self.tokens // 100)

    @property
    def authorizations(self) -> int:
        return max(1, self.tokens // 5)

    def id(self, prefix: str, *numbers: int) -> str:
        """As SQL makes them of the other rows (`rows.id_of`)."""
        text = "-".join(map(str, (self.seed, prefix, *numbers)))
        return f"{prefix}_{md5(text.encode(), usedforsecurity=False).hexdigest()[:26]}"

    def apps_of_organizations(self) -> list[int]:
        """The largest one first, then fewer and fewer, and a typical one last: together `apps`."""
        between = self.organizations - 2
        if between < 0:
            return [self.apps]
        rest = self.apps - self.largest - TYPICAL
        if between == 0:
            return [self.largest + rest, TYPICAL]
        # One each, and of the others half as many where there are four times as many before.
        bounds = [round((rest - between) * (number / between) ** 0.5) for number in range(between + 1)]
        sizes = [1 + end - begin for begin, end in pairwise(bounds)]
        return [self.largest, *sizes, TYPICAL]


@dataclass(frozen=True, slots=True)
class Skeleton:
    """What belongs to what: the rows of three tables that are gone in the end, each numbered from 0."""

    sizes: Sizes

    def organizations(self) -> Iterator[tuple[int, str, int]]:
        """Number, id, number of applications."""
        for number, apps in enumerate(self.sizes.apps_of_organizations()):
            yield number, self.sizes.id("org", number), apps

    def projects(self) -> Iterator[tuple[int, str, int, str]]:
        """Number, id, and the number and the id of the organization."""
        number = 0
        for organization, id, apps in self.organizations():
            for _ in range(-(-apps // _apps_of_project(apps))):
                yield number, self.sizes.id("prj", number), organization, id
                number += 1

    def apps(self) -> Iterator[tuple[int, str, int, str, str, str]]:
        """Number, id, number and id of the organization, and the ids of project and environment.

        Every third is in its project's second environment.
        """
        number = project = 0
        for organization, id, apps in self.organizations():
            each = _apps_of_project(apps)
            for place in range(apps):
                of, stage = project + place // each, int(place % 3 == 2)
                yield (
                    number, self.sizes.id("app", number), organization, id, self.sizes.id("prj", of),
                    self.sizes.id("env", 2 * of + stage),
                )  # fmt: skip
                number += 1
            project += -(-apps // each)


def _apps_of_project(apps: int) -> int:
    """A hundred projects at most in an organization, so that large ones have large projects."""
    return max(APPS_OF_PROJECT, -(-apps // MOST_PROJECTS))
