"""What a client may write for `ref`."""

import pytest

from apps.sources.git.refs import full_sha, names_of, short_sha
from apps.web.exceptions import InvalidInput

SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("ref", "names"),
    [
        ("main", ("refs/heads/main", "refs/tags/main")),
        ("feature/login-2", ("refs/heads/feature/login-2", "refs/tags/feature/login-2")),
        ("v1.0", ("refs/heads/v1.0", "refs/tags/v1.0")),
        ("größe", ("refs/heads/größe", "refs/tags/größe")),
        ("refs/tags/v1", ("refs/tags/v1",)),
        ("HEAD", ("HEAD",)),
        (SHA.upper(), (SHA,)),
    ],
)
def test_a_branch_comes_before_a_tag(ref, names):
    assert names_of(ref) == names


@pytest.mark.parametrize(
    "ref",
    [
        "", "-x", "--upload-pack=x", "/main", "main/", "a//b", "a..b", "..", ".hidden", "a/.b", "main.lock", "a.lock/b",
        "a.", "@", "a@{1}", "@{u}", "a b", "a~1", "a^", "a^{tree}", "a:b", "+a:b", "a?", "a*", "a[b", "a\\b", "a\nb",
        "a\0b", "a\x7fb", "\t", "x" * 256, "\ud800", "refs/pull/1/head", "refs/", "refs/notes/commits",
    ],
)  # fmt: skip
def test_what_git_would_not_take_for_a_name_is_not_found(ref):
    with pytest.raises(InvalidInput) as refusal:
        names_of(ref)
    assert [(problem.field, problem.type) for problem in refusal.value.problems] == [("ref", "ref_not_found")]


def test_a_sha_is_40_digits_or_at_least_7():
    assert full_sha(SHA) == SHA
    assert full_sha(SHA + "0") is None
    assert full_sha(SHA + "\n") is None
    assert short_sha(SHA[:7].upper()) == SHA[:7]
    assert short_sha(SHA[:6]) is None
    assert short_sha(SHA) is None
