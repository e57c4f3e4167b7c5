"""What happens in the background, beside whom it serves: the docs index and the mirrors of this DATA_DIR."""

from django.conf import settings
from django_tasks import task

from apps.sources.docs import corpus
from apps.sources.git import disk, refreshing


class IndexNotBuilt(Exception):
    """The sentence is what `/readyz` says too."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@task
def refresh_docs() -> None:
    """Raises IndexNotBuilt. Processes that serve look at the directories too: with a worker they find nothing to do."""
    if problem := corpus.refresh():
        raise IndexNotBuilt(f"The documentation: {problem}.")


@task
def refresh_mirrors() -> None:
    refreshing.refresh_mirrors(settings.DATA_DIR)
    mirrors = settings.DATA_DIR / "mirrors"
    disk.remove_leftovers(mirrors)
    disk.keep_within(mirrors, settings.MIRRORS_GIB * 2**30)
