"""Kinds of credentials that are known in texts by what they look like: bc-detect-secrets' patterns, and our own."""

import re
import string
from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import version
from typing import Any, NamedTuple

from apps.web.once import Once

PACKAGE = "bc-detect-secrets"
# Raise it when anything here changes what is found: what was kept of scans is for one version.
OUR_VERSION = 1

REACH = 400  # characters
# What tokens are made of, with what they are written behind in a URL or a shell.
LONG, OF_LONG_WORDS = 20, string.ascii_letters + string.digits + "_.:/+=~%-"
LONG_REACH = 8 * 1024


class Kind(NamedTuple):
    """A pattern, and where to look for it: only around words without which it does not match.

    So a text without these words costs next to nothing, and a pattern that would run away on a hostile text runs over
    few characters at a time. What is masked is the group `secret`, or else everything that matched.
    """

    pattern: re.Pattern[str]
    words: tuple[str | re.Pattern[str], ...]  # lower case, where the pattern is not about case
    before: int = 0  # characters: how far before such a word a match may begin, and how far after it end
    after: int = REACH
    group: int | str = 0
    is_in_long_word: bool = False  # such a word is in LONG or more OF_LONG_WORDS
    min_variety: int = 8  # different characters; fewer are a placeholder, ghp_xxxxxxxx…


class Taken(NamedTuple):
    """What is taken of one plugin of the detector: which of its patterns, and what Kind tells of them."""

    plugin: str
    position: int
    words: tuple[str | re.Pattern[str], ...]
    before: int = 0
    after: int = REACH
    group: int | str = 0
    is_in_long_word: bool = False


_CLOUDANT_KEY = re.compile("cl(?:oudant|ou)?[_-]?(?:api)?(?:key|pw|pass|token)")
_SOFTLAYER_KEY = re.compile("sl[_-]?(?:api)?[_-]?(?:key|pw|pass|token)")

# Not taken: entropy and keywords (guesses), private keys (redaction.py masks whole blocks), IBM's IAM keys (any key of
# 44 characters, where entropy does not decide), and where ours know more: passwords in URLs (of a password with signs
# in it only a part), Azure's (by lines around it) and JSON web tokens (not before a /).
TAKEN = (
    Taken("artifactory.ArtifactoryDetector", 0, ("AKC",), before=1),
    Taken("artifactory.ArtifactoryDetector", 1, (re.compile("AP[0-9A-F][A-Za-z0-9]{8}"),), before=250, group=1),
    Taken("aws.AWSKeyDetector", 0, ("A3T", "ABIA", "ACCA", "AKIA", "ASIA"), is_in_long_word=True),
    Taken("aws.AWSKeyDetector", 1, ("aws",), group=1),
    Taken("cloudant.CloudantDetector", 0, (_CLOUDANT_KEY,), before=2, group=1),
    Taken("cloudant.CloudantDetector", 1, (_CLOUDANT_KEY,), before=2, group=1),
    Taken("cloudant.CloudantDetector", 2, (".cloudant.com",), before=200, after=20),
    Taken("cloudant.CloudantDetector", 3, (".cloudant.com",), before=200, after=20),
    Taken("discord.DiscordBotTokenDetector", 0, (re.compile(r"\.[\w-]{6}\.[\w-]{27}"),), before=26),
    Taken("github_token.GitHubTokenDetector", 0, ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), is_in_long_word=True),
    Taken("ibm_cos_hmac.IbmCosHmacDetector", 0, ("secret",), before=20, group=1),
    Taken("mailchimp.MailchimpDetector", 0, ("-us",), before=32, after=5, is_in_long_word=True),
    Taken("npm.NpmDetector", 0, ("npm_",), is_in_long_word=True),
    Taken("npm.NpmDetector", 0, ("_authToken", re.compile("NPM[ _-]?TOKEN")), group=1),
    Taken("sendgrid.SendGridDetector", 0, ("SG.",), is_in_long_word=True),
    Taken("slack.SlackDetector", 0, ("xox",)),
    Taken("slack.SlackDetector", 1, ("https://hooks.slack.com/",)),
    Taken("softlayer.SoftlayerDetector", 0, ("softlayer", _SOFTLAYER_KEY), before=2, group=1),
    Taken("softlayer.SoftlayerDetector", 1, ("://api.softlayer.com/",), before=5, group=1),
    Taken("square_oauth.SquareOAuthDetector", 0, ("sq0csp-",), is_in_long_word=True),
    Taken("stripe.StripeDetector", 0, ("sk_live_", "rk_live_"), is_in_long_word=True),
    Taken("twilio.TwilioKeyDetector", 0, (re.compile("AC[a-z0-9]{32}"),)),
    Taken("twilio.TwilioKeyDetector", 1, (re.compile("SK[a-z0-9]{32}"),)),
)


def _starting(*words: str, body: str, before: str = "") -> Kind:
    return Kind(re.compile(f"{before}(?:{'|'.join(map(re.escape, words))}){body}"), words, is_in_long_word=True)


# No letter before it, unless that is of an escape: \nsk-… in a string, and %3Dsk-… in a URL.
_ALONE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-F]{2}))"
_ASSIGNED = r"""["'\]\\]{0,3}\s{0,4}(?:=>|:=|[:=,(])\s{0,4}[\\"'`]{0,2}"""
_FORTY = r"(?P<secret>(?:[A-Za-z0-9+]|\\?/){40})(?![A-Za-z0-9/+=])"
_TO_FORTY = r"[\w.-]{0,24}key\W{1,15}[a-z0-9+/\\]{40}"
_WORD = r"[A-Za-z0-9_-]"

_PLACEHOLDER = (
    r"\$?\{+[^}\s]*\}+|\$[A-Z_][A-Z0-9_]*|\$\([^)\s]*\)|<[^>\s]*>|&lt;\S*?&gt;\]?|%\(\w+\)s|%s|[*.]{3,}|x{3,}"
    r"|(?i:pass(?:word|wd)?|pw|pwd|secret|your[_-]\w+)"
)

# Of services whose tokens the detector does not know, or knows only in an older form.
OUR_KINDS = (
    _starting("porthole_st_", "porthole_at_", "porthole_rt_", body=rf"{_WORD}{{40,}}"),
    _starting("github_pat_", body=r"\w{22,}"),
    _starting(
        "glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glsoat-", "glimt-", "glagent-", "glffct-",
        "glwt-", "gloas-", "GR1348941", body=rf"{_WORD}{{20,}}(?:\.{_WORD}{{2}}\.{_WORD}{{7,9}})?",
    ),
    _starting("ATBB", "ATCTT3", "ATATT3", before=_ALONE, body=r"[A-Za-z0-9_=-]{24,}"),
    _starting("sk-ant-", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-v1-", "sk-lf-",
              body=rf"(?={_WORD}*\d){_WORD}{{20,}}"),
    _starting("sk-", before=_ALONE, body="[A-Za-z0-9]{32,}"),
    _starting("gsk_", "xai-", "pplx-", "r8_", "lsv2_pt_", "lsv2_sk_", "jina_", before=_ALONE, body="[A-Za-z0-9]{30,}"),
    _starting("nvapi-", "pcsk_", before=_ALONE, body=rf"{_WORD}{{50,}}"),
    _starting("hf_", "api_org_", before=_ALONE, body="[A-Za-z0-9]{30,}"),
    _starting("sk_test_", "rk_test_", "sk_live_", "rk_live_", "whsec_", body="[A-Za-z0-9+/]{16,}"),
    _starting("xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-",
              body="[A-Za-z0-9%-]{16,}"),
    _starting("hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/",
              "hooks.slack-gov.com/services/", body=r"[\w/+-]{20,}"),
    _starting("discord.com/api/webhooks/", "discordapp.com/api/webhooks/", body=rf"\d{{15,}}/{_WORD}{{40,}}"),
    # A password in a URL of any scheme: to the last @, since some have one.
    Kind(re.compile(rf"://[^\s:/@\"'<>`]{{0,64}}:(?!(?:{_PLACEHOLDER})@)(?P<secret>[^\s/\"'<>`]{{3,200}})@"),
         (re.compile(r"://[^\s:/@]{0,64}:[^\s/@]"),),
         group="secret", min_variety=1),
    Kind(re.compile(r"\d{8,10}:AA[\w-]{33}"), (":AA",), before=10, is_in_long_word=True),  # Telegram
    _starting("npm_", body="[A-Za-z0-9]{36}"),
    _starting("pypi-Ag", body=rf"{_WORD}{{50,}}"),
    _starting("rubygems_", "pul-", "sbp_", before=_ALONE, body="[a-f0-9]{40,}"),
    _starting("cio", before=_ALONE, body="[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    _starting("dckr_pat_", "dckr_oat_", body=rf"{_WORD}{{24,}}"),
    _starting("AIza", body=rf"{_WORD}{{35}}"),
    _starting("AQ.Ab", "ya29.", "1//0", before=_ALONE, body=rf"{_WORD}{{30,}}"),
    _starting("GOCSPX-", body=rf"{_WORD}{{24,}}"),
    _starting("AKIA", "ASIA", before=r"(?<![A-Z0-9/+])", body="[A-Z2-7]{16}(?![A-Za-z0-9/+])"),
    Kind(re.compile(rf"(?<![A-Za-z0-9/+=])(?=\S{{0,40}}[A-Z])(?=\S{{0,40}}[a-z])(?=\S{{0,40}}\d){_FORTY}"),
         (re.compile("A[KS]IA[A-Z2-7]{16}"),), before=250, after=250, group="secret"),
    Kind(re.compile(rf"(?:secret|aws)[\w.-]{{0,24}}key{_ASSIGNED}{_FORTY}", re.I),
         (re.compile(rf"secret{_TO_FORTY}"), re.compile(rf"aws{_TO_FORTY}")),
         group="secret"),
    _starting("IQoJb3JpZ2lu", "FwoGZXIvYXdz", "ABSK", before=_ALONE, body="[A-Za-z0-9+/]{100,}"),
    # Azure: 64 bytes as base64 behind a name; the marks that keys have had since 2023; secrets of applications.
    Kind(re.compile(rf"key\w{{0,12}}{_ASSIGNED}(?P<secret>[A-Za-z0-9+/]{{86}}==)", re.I),
         (re.compile(r"key\w{0,12}\W{1,15}[a-z0-9+/]{40}"),), group="secret"),
    Kind(re.compile(r"[A-Za-z0-9+/]{76}(?:\+ASt|ACDb)[A-Za-z0-9+/]{5,6}={1,2}"), ("+ASt", "ACDb"), before=76,
         is_in_long_word=True),
    Kind(re.compile("[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"), ("AZDO",), before=76, is_in_long_word=True),
    Kind(re.compile("[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}"), ("JQQJ99",), before=52, is_in_long_word=True),
    Kind(re.compile(r"SharedAccess(?:Key|Signature)=(?P<secret>[A-Za-z0-9+/]{43}=)"), ("SharedAccess",),
         group="secret"),
    Kind(re.compile(r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"), ("Q~",), before=4, is_in_long_word=True),
    Kind(re.compile(rf"twilio\w{{0,12}}token{_ASSIGNED}(?P<secret>[a-f0-9]{{32}})", re.I), ("twilio",), group="secret"),
    _starting("dop_v1_", "doo_v1_", "dor_v1_", body="[a-f0-9]{64}"),
    _starting("shpat_", "shpca_", "shppa_", "shpss_", body="[A-Fa-f0-9]{32}"),
    _starting("dapi", before=_ALONE, body=r"[a-f0-9]{32}(?:-\d)?"),
    _starting("hvs.", "hvb.", "hvr.", before=_ALONE, body=rf"{_WORD}{{24,}}"),
    Kind(re.compile(rf"[A-Za-z0-9]{{14}}\.atlasv1\.{_WORD}{{60,}}"), (".atlasv1.",), before=14, is_in_long_word=True),
    _starting("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit.", before=_ALONE, body=r"[\w.-]{40,}"),
    _starting("lin_api_", "lin_oauth_", "ntn_", "glsa_", "glc_", "sntrys_", "sntryu_", "bkua_", "nfp_", "vcp_",
              "NRAK-", "phx_", before=_ALONE, body="[A-Za-z0-9]{24,}"),
    _starting("figd_", "sb_secret_", "pscale_tkn_", "pscale_pw_", "pscale_oauth_", "CCIPAT_", "PMAK-", "HRKU-", "fo1_",
              "cfut_", "cfat_", "tskey-auth-", "tskey-api-", "tskey-client-", before=_ALONE,
              body=rf"(?={_WORD}*\d){_WORD}{{24,}}"),
    _starting("fm2_", before=_ALONE, body="[A-Za-z0-9+/=,_]{40,}"),
    _starting("xkeysib-", body="[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    _starting("AGE-SECRET-KEY-1", body="[0-9A-Z]{58}"),
    _starting("ops_ey", body=rf"{_WORD}{{100,}}"),
    Kind(re.compile(r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"), (re.compile(r"pat[A-Za-z0-9]{14}\."),)),  # Airtable
    # JSON web tokens: header and payload are JSON objects, so both begin alike. A third part signs them.
    # Known by the second, as data in base64, without a dot, has the first as often as it has objects.
    Kind(re.compile(rf"eyJ{_WORD}{{10,}}\.eyJ{_WORD}{{8,}}(?:\.{_WORD}*)?"), (".eyJ",), before=LONG_REACH,
         after=LONG_REACH, is_in_long_word=True),
)  # fmt: skip


def _read_patterns() -> dict[str, list[tuple[str, int]]]:
    """Of every plugin that something is taken of, what its patterns are: plain values, since imports weigh 6 MiB."""
    return {plugin: [(pattern.pattern, pattern.flags) for pattern in _denylist(plugin)] for plugin, *_ in TAKEN}


def _denylist(plugin: str) -> Iterable[re.Pattern[str]]:
    module, _, name = plugin.partition(".")
    # Not before somebody asks: it brings a client for HTTP along, which nothing here needs.
    detector: Any = getattr(import_module(f"detect_secrets.plugins.{module}"), name)
    denylist: Iterable[re.Pattern[str]] = detector.denylist
    return denylist


detector_patterns = Once(_read_patterns)


def _make_kinds() -> tuple[Kind, ...]:
    patterns = detector_patterns()
    taken = [Kind(re.compile(*patterns[taken.plugin][taken.position]), *taken[2:]) for taken in TAKEN]
    return (*OUR_KINDS, *taken)


known_kinds = Once(_make_kinds)
DETECTOR = f"{PACKAGE} {version(PACKAGE)}, {OUR_VERSION}"
