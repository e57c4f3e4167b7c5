"""Files that are secrets by nature: their names may be seen, their content is never answered."""

import re
from fnmatch import translate
from itertools import pairwise

SECRET_NAMES = (
    # Environment files
    ".env*", "*.env", ".flaskenv",
    # Private keys and key stores
    "*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.pkcs12", "*.jks", "*.keystore", "*.kdb", "*.kdbx", "*.ppk",
    "*.ovpn", "*.agekey", "secring.*", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*",
    "*_rsa", "*_dsa", "*_ecdsa", "*_ed25519", "wallet.dat",
    # Passwords and tokens that programs keep in files of their own
    ".netrc", "_netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".git-credentials", ".pgpass", "pgpass.conf", ".my.cnf",
    ".mylogin.cnf", ".htpasswd", "htpasswd", ".htdigest", ".dockercfg", ".dockerconfigjson", ".s3cfg", ".boto",
    ".vault-token", ".vault[-_]pass*", "vault[-_]pass", "vault[-_]pass.txt", "vault[-_]password",
    "vault[-_]password.txt", ".terraformrc", "terraform.rc", "credentials.tfrc.json", ".ftpconfig", "sftp-config.json",
    ".msmtprc", "auth.json", "kubeconfig", "*.kubeconfig", "kubeconfig.y*ml", "kubeconfig.json",
    "settings-security.xml", "passwords.txt", "passwords.csv",
    # Infrastructure state and variables
    "*.tfstate", "*.tfstate.*", "*.tfvars", "*.tfvars.json",
    # Credentials of applications and clouds
    "credentials.json", "credentials.y*ml", "credentials.toml", "credentials.xml", "client_secret*.json",
    "service[-_]account*.json", "serviceaccount*.json", "application_default_credentials.json",
    "google-credentials*.json", "*firebase-adminsdk*.json",
    "secret.y*ml", "secrets.y*ml", "*.secrets.y*ml", "secrets.json", "secrets.toml", "secrets.ini",
    "*.secret", "*.secrets", ".secret", ".secrets",
)  # fmt: skip
# Elsewhere these names are ordinary.
SECRET_IN_FOLDER = (
    ".docker/config.json", ".aws/config", ".aws/credentials", ".kube/config", ".config/hub", "gh/hosts.yml",
    ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".ssh/*", ".gnupg/*",
)  # fmt: skip
# Made to be shown. Only at the end of a name: www.example.com.key is a key.
SHOWN = re.compile(
    r"(?:\A|[._-])(?:example|sample|template|dist)(?:\.(?:json|ya?ml|toml|tfvars|env|ini|xml))?\Z|\.pub\Z"
)
# A copy that an editor or a person left beside the original is as secret. Vim's copy of x is .x.swp.
COPY = re.compile(r"(?:~|\.(?:bak|backup|old|orig|save|copy|tmp|swp|swo|\d{1,8}))+\Z")


def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(translate(pattern) for pattern in patterns))


_SECRET_NAME = _any_of(SECRET_NAMES)
_SECRET_IN_FOLDER = _any_of(SECRET_IN_FOLDER)


def is_secret(path: str) -> bool:
    """Whether a path names a secret, or lies in something that is named like one. Upper and lower case are the same."""
    names = path.casefold().split("/")
    return any(map(_is_secret_name, names)) or any(
        _SECRET_IN_FOLDER.match(f"{folder}/{name}") and not SHOWN.search(name) for folder, name in pairwise(names)
    )


def _is_secret_name(name: str) -> bool:
    original = COPY.sub("", name)
    copied = (original, original.removeprefix(".")) if original != name else ()
    return any(_SECRET_NAME.match(candidate) and not SHOWN.search(candidate) for candidate in (name, *copied))
