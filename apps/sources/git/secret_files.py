"""Files that are secrets by nature: their names may be seen, their content is never answered."""

import re
import unicodedata
from fnmatch import translate
from itertools import pairwise

SECRET_NAMES = (
    # Environment files, and variables of CI systems
    ".env*", "*.env", ".flaskenv", ".dev.vars*", "*.dev.vars", ".secrets.*",
    "local.settings.json", "*.local.settings.json", ".ci.vars", "ci[-_]secrets*",
    # Private keys and key stores
    "*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.pkcs12", "*.pkcs8", "*.jks", "*.keystore", "*.bks", "*.kdb",
    "*.kdbx", "*.ppk", "*.agekey", "age[-_]key*", ".age[-_]key*", "*[-_.]age[-_]key*", "age-identity*",
    "*.pvk", "*.snk", "*.keytab",
    "*private*.asc", "secret*.asc", "*secret-key*.asc", "*secret[-_]key*.asc", "*private*.gpg", "secring.*",
    "*private[-_]key*", "privkey*", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "id_xmss*",
    "*_rsa", "*_dsa", "*_ecdsa", "*_ed25519", "ssh_host_*_key*", "wallet.dat", "*.wallet", "identity.age",
    # Tunnels
    "*.ovpn", "wg[0-9]*.conf", "wg-*.conf", "wireguard*.conf", "ipsec.secrets", "*.mobileconfig", "chap-secrets",
    "pap-secrets", "wpa_supplicant*.conf", "*.nmconnection", "openvpn*auth*.txt", "tailscaled.state",
    # Passwords and tokens that programs keep in files of their own
    ".netrc", "_netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".gemrc", ".git-credentials", ".gitcookies",
    ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf", ".pg_service.conf", ".htpasswd", "htpasswd", ".htdigest",
    ".dockercfg", ".dockerconfigjson", ".s3cfg", ".boto", ".passwd-s3fs", ".passwd", "passwd-s3fs", "rclone.conf",
    ".rclone.conf", ".vault-token", ".vault[-_]pass*", "vault[-_]pass", "vault[-_]pass.txt", "vault[-_]password",
    "vault[-_]password.txt", ".terraformrc", "terraform.rc", "credentials.tfrc.json", ".ftpconfig", "sftp-config.json",
    ".msmtprc", ".fetchmailrc", ".mutt_secrets", "auth.json", ".databrickscfg", ".snowsql.cfg", ".bigqueryrc",
    ".kaggle.json", "kaggle.json", ".sentryclirc",
    ".curlrc", ".wgetrc", ".wakatime.cfg", ".esmtprc",
    "kubeconfig", "*.kubeconfig", "kubeconfig.y*ml", "kubeconfig.json", "kubeconfig.conf",
    "settings-security.xml", "passwords.txt", "passwords.csv", "password.txt", "passwd.txt", "token.txt",
    "api[-_]key.txt", "apikey.txt", "access[-_]token.txt", "oauth[-_]token*", "*.token",
    # Profiles of browsers
    "logins.json", "key4.db", "key3.db", "cookies.sqlite", "signons.sqlite",
    # Infrastructure state and variables
    "*.tfstate", "*.tfstate.*", "*.tfvars", "*.tfvars.json", "pulumi.*.secrets.yaml",
    # Credentials of applications and clouds
    "credentials.json", "credentials.y*ml", "credentials.toml", "credentials.xml", "credentials.ini",
    "credentials.csv", "credentials.db", "accesskeys.csv", "rootkey.csv",
    "*[-_]accesskeys.csv", "client[-_]secret*.json", "service[-_]account*.json", "serviceaccount*.json",
    "application_default_credentials.json", "google-credentials*.json", "gcp-key*.json", "gcloud-key*.json",
    "*firebase-adminsdk*.json", "azureauth.json", "azure-credentials.json", "accesstokens.json",
    "secret.y*ml", "secrets.y*ml", "*.secrets.y*ml", "secret.json", "secrets.json", "*.secret.json", "*.secrets.json",
    "secret.toml", "secrets.toml", "secret.ini", "secrets.ini", "secret.txt", "secrets.txt", "secrets.xml",
    "secrets.properties", "secret.properties", "*.secret", "*.secrets", ".secret", ".secrets",
    "secret[-_]key.txt", "secret[-_]token.rb", "keystore.properties", "key.properties",
)  # fmt: skip
# Elsewhere these names are ordinary.
SECRET_IN_FOLDER = (
    ".docker/config.json", ".aws/config", ".kube/config", ".config/hub", "gh/hosts.yml", ".azure/*.json",
    ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".ssh/*", ".gnupg/*", ".password-store/*",
    "gcloud/credentials.db", "gcloud/access_tokens.db", ".oci/config", ".bluemix/config.json", "doctl/config.yaml",
    ".fly/config.yml", ".heroku/credentials", ".config/rclone", ".composer/auth.json", ".bundle/config",
    "wireguard/*.conf", ".kaggle/*", ".databricks/*", "age/keys.txt",
)  # fmt: skip
# Folders of these names are ordinary, files are not.
SECRET_AS_FILE = (
    "credentials",
    "cookies",
    "login data",
    "web data",
    "local state",
    "dotenv",
    "access[-_]token",
    "passwd",
    "shadow",
)
# The word .env, or an environment's file without the dot, anywhere in a name: prod.env.json, env.production
ENVIRONMENT = re.compile(
    r"\.env(?=[ ._~-]|\Z)"
    r"|(?:\A|[._-])env[._-](?:local|prod|production|dev|development|stag|stage|staging|test|testing|live|preview|qa|uat"
    r"|ci|docker|secrets?|private)\Z"
)
# Made to be shown. Only at the end of a name: www.example.com.key is a key.
SHOWN = re.compile(
    r"(?:\A|[._-])(?:example|sample|template|dist|defaults?)(?:\.(?:json|ya?ml|toml|tfvars|env|ini|xml|txt|conf))?\Z"
    r"|\.pub\Z"
)
# Programs that deal with secrets, and texts about them. Not .env.js, which is one.
PROGRAM = re.compile(
    r"\A(?!\.env(?!\.d\.ts\Z)|secret[-_]token\.rb\Z).*"
    r"\.(?:[cm]?[jt]sx?|py[ix]?|go|rs|java|kt|rb|php|cs|c|h|cc|cpp|hpp|swift|scala|sh|mdx?|rst|html|css|vue|snap|tf)\Z"
)
# A copy that an editor or a person left beside the original is as secret. Vim's copy of x is .x.swp.
COPY = re.compile(r"(?:~|\.(?:bak|backup|old|orig|save|copy|tmp|txt|swp|swo|\d{1,8}))+\Z")
# What nobody sees: zero-width characters, marks of direction, soft hyphens, controls.
UNSEEN = {"Cf", "Cc"}


def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(translate(pattern) for pattern in patterns))


_SECRET_NAME = _any_of(SECRET_NAMES)
_SECRET_AS_FILE = _any_of(SECRET_AS_FILE)
_SECRET_IN_FOLDER = _any_of(SECRET_IN_FOLDER)


def is_secret(path: str) -> bool:
    """Whether a path names a secret, or lies in something that is named like one.

    Names are compared as people read them: without case, compatibility forms, what nobody sees, and dots or spaces at
    the end.
    """
    names = [_folded(name) for name in path.split("/")]
    return (
        bool(_SECRET_AS_FILE.match(names[-1]))
        or any(map(_is_secret_name, names))
        or any(_SECRET_IN_FOLDER.match(f"{folder}/{name}") and not _is_shown(name) for folder, name in pairwise(names))
    )


def _folded(name: str) -> str:
    name = unicodedata.normalize("NFKC", name)
    name = "".join(character for character in name if unicodedata.category(character) not in UNSEEN)
    return unicodedata.normalize("NFKC", name.casefold()).strip().rstrip(". ")


def _is_secret_name(name: str) -> bool:
    original = COPY.sub("", name)
    copied = (original, original.removeprefix(".")) if original != name else ()
    return any(_names_a_secret(candidate) and not _is_shown(candidate) for candidate in (name, *copied))


def _names_a_secret(name: str) -> bool:
    return bool(_SECRET_NAME.match(name) or ENVIRONMENT.search(name))


def _is_shown(name: str) -> bool:
    return bool(SHOWN.search(name) or PROGRAM.match(name))
