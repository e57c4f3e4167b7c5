"""Where a repository is found that was renamed or moved, and where the search for it ends."""

import pytest

from apps.sources.hosts.host import HostError


def test_a_renamed_repository_is_found(fake, connect):
    fake.renamed["old/name"] = "acme/app-03"
    assert connect(fake).current_name("old/name") == "acme/app-03"
    assert connect(fake).current_name("acme/app-03") is None
    assert connect(fake).current_name("acme/gone") is None
    assert {authorization for *_, authorization in fake.sent} <= fake.accepted()


def test_a_public_repository_is_found_without_credentials(fake, connect):
    fake.renamed["old/name"] = "acme/app-03"
    host = connect(fake, credentials=None)
    assert host.current_name("old/name") == "acme/app-03"
    assert {authorization for *_, authorization in fake.sent} == {None}


def test_groups_of_gitlab_have_groups_in_them(gitlab, connect):
    gitlab.repositories = ["acme/web/shop", "acme/shop"]
    gitlab.renamed["acme/group/shop"] = "acme/web/shop"
    assert connect(gitlab).current_name("acme/group/shop") == "acme/web/shop"
    assert [path for _, path, _ in gitlab.sent] == ["/api/v4/projects/acme%2Fgroup%2Fshop", "/api/v4/projects/0"]
    gitlab.redirects = False
    assert connect(gitlab).current_name("acme/group/shop") is None


def test_deploy_tokens_are_not_sent_to_the_api(gitlab, connect):
    gitlab.renamed["old/name"] = "acme/app-03"
    host = connect(gitlab, kind="deploy_token", username="gitlab+deploy-token-1")
    assert host.current_name("old/name") == "acme/app-03"
    assert {authorization for *_, authorization in gitlab.sent} == {None}


def test_large_and_small_letters_are_no_other_name(github, connect):
    assert connect(github).current_name("ACME/app-03") is None


@pytest.mark.parametrize("name", ["", "acme", "acme/../admin", "acme/a b", "acme/a?b=c", "/acme/a", "a/" + "b" * 500])
def test_what_is_no_name_is_not_asked_for(fake, connect, name):
    assert connect(fake).current_name(name) is None
    assert fake.sent == []


@pytest.mark.parametrize("kind", ["elsewhere", "other_port", "outside", "climbing", "nowhere"])
def test_a_redirect_to_anywhere_else_is_not_followed(fake, connect, kind):
    fake.fail("/(repos|projects|repositories)/.*", kind)
    with pytest.raises(HostError, match=r"elsewhere, which is not followed|may not be reached"):
        connect(fake).current_name("acme/app-03")
    assert len(fake.sent) == 1


def test_redirects_that_do_not_end_are_given_up(gitea, connect):
    gitea.renamed |= {"a/a": "b/b", "b/b": "a/a"}
    with pytest.raises(HostError, match="not followed"):
        connect(gitea).current_name("a/a")
    assert len(gitea.sent) == 4


def test_a_few_redirects_are_followed(gitea, connect):
    gitea.renamed |= {"a/a": "b/b", "b/b": "c/c", "c/c": "acme/app-03"}
    assert connect(gitea).current_name("a/a") == "acme/app-03"
