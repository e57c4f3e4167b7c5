"""What a client may write for `ref`: a branch, a tag, HEAD, or a commit's sha."""

import re

from apps.web.exceptions import InvalidInput

HEAD = "HEAD"
# git-check-ref-format(1), and nothing that starts like an option. What passes is still only data to git: it is sent
# after --end-of-options, behind refs/heads/ or refs/tags/.
FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|\Z)|\A[-/.]|[/.]\Z|\A@\Z")
MAX_REF = 255
FULL_SHA = re.compile(r"[0-9a-f]{40}\Z")
SHORT_SHA = re.compile(r"[0-9a-f]{7,39}\Z")


def ref_not_found(branch: str | None = None) -> InvalidInput:
    """`branch` is what is read without a ref; None is the default branch."""
    instead = f'the branch "{branch}"' if branch else "the default branch"
    return InvalidInput.because(
        "ref",
        f"There is no such branch, tag or commit in the repository: leave ref out for {instead}.",
        "ref_not_found",
    )


def is_valid_ref(ref: str) -> bool:
    return 0 < len(ref) <= MAX_REF and not FORBIDDEN.search(ref) and _is_text(ref)


def full_sha(ref: str) -> str | None:
    return ref.lower() if FULL_SHA.match(ref.lower()) else None


def short_sha(ref: str) -> str | None:
    return ref.lower() if SHORT_SHA.match(ref.lower()) else None


def is_ref(ref: str) -> bool:
    """Whether a client may write this."""
    try:
        names_of(ref)
    except InvalidInput:
        return False
    return True


def names_of(ref: str) -> tuple[str, ...]:
    """What a repository may call a ref: a branch before a tag, as the hosts' own pages do. Raises ref_not_found."""
    if not is_valid_ref(ref):
        raise ref_not_found()
    if ref == HEAD or full_sha(ref):
        return (full_sha(ref) or HEAD,)
    if ref.startswith("refs/"):
        # Pull requests, notes and the like are not what `ref` promises.
        if not ref.startswith(("refs/heads/", "refs/tags/")):
            raise ref_not_found()
        return (ref,)
    return (f"refs/heads/{ref}", f"refs/tags/{ref}")


def _is_text(ref: str) -> bool:
    """A lone surrogate is not: it has no UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in ref)
