"""Every setting, read from the environment. What may not be combined is in checks.py."""

from django.core.exceptions import ImproperlyConfigured

from apps.net.addresses import host_of
from apps.web import logs
from config import database, files
from config.env import BASE_DIR, Env

env = Env()

PORTHOLE_ENV = env.choice("PORTHOLE_ENV", ("local", "preview", "production"), default="production")
IS_LOCAL = PORTHOLE_ENV == "local"
DEBUG = False

SECRET_KEY = env.text(
    "SECRET_KEY", "porthole-local-only-this-is-not-a-secret-and-does-not-need-to-be" if IS_LOCAL else ""
)
# What they signed and encrypted is still good: earlier keys, or one that other processes have already.
SECRET_KEY_FALLBACKS = env.keys("SECRET_KEY_FALLBACKS")
# For credentials that are stored, such as platforms' keys. In local there is one from SECRET_KEY besides.
ENCRYPTION_KEYS = env.fernet_keys("ENCRYPTION_KEYS")
PORT = env.integer("PORT", 8000, low=1, high=65535)
PUBLIC_URL = env.origin("PUBLIC_URL", f"http://localhost:{PORT}" if IS_LOCAL else "")
for _name, _value, _way in (("SECRET_KEY", SECRET_KEY, " manage.py setup makes one."), ("PUBLIC_URL", PUBLIC_URL, "")):
    if not _value:
        raise ImproperlyConfigured(f"{_name} must be set, because PORTHOLE_ENV is {PORTHOLE_ENV}.{_way}")

ALLOWED_HOSTS = [f"[{host_of(PUBLIC_URL)}]" if ":" in host_of(PUBLIC_URL) else host_of(PUBLIC_URL)]
if IS_LOCAL:
    ALLOWED_HOSTS += ["localhost", "127.0.0.1", "[::1]"]
# Other sites whose pages may call the tools; local adds every loopback origin (apps.web.cors).
ALLOWED_ORIGINS = [PUBLIC_URL, *env.origins("ALLOWED_ORIGINS")]
TRUSTED_PROXIES = env.networks("TRUSTED_PROXIES")
PROBE_NETWORKS = env.networks("PROBE_NETWORKS")
PROBE_CONNECT_TO = env.connect_to("PROBE_CONNECT_TO")
SOURCE_NETWORKS = env.networks("SOURCE_NETWORKS")
SOURCE_PROXY = env.proxy("SOURCE_PROXY")  # to git hosts
# Authorities that are believed besides the system's: of platforms, of git hosts, and of domains that are probed.
EXTRA_CA_CERTS = env.authorities("EXTRA_CA_CERTS")
RATE_LIMITS = env.choice("RATE_LIMITS", ("on", "off"), default="on") == "on"
# Of answers that each process keeps while they are right (apps/tools/answers.py). 0: none.
ANSWER_CACHE_MIB = env.integer("ANSWER_CACHE_MIB", 32, low=0, high=65536)

# What repositories that were fetched may take in DATA_DIR.
MIRRORS_GIB = env.integer("MIRRORS_GIB", 10, low=2, high=65536)

# Data

DATA_DIR = env.path("DATA_DIR", BASE_DIR / "var")
try:
    files.close_to_others(DATA_DIR)
except OSError:
    raise ImproperlyConfigured("DATA_DIR names a folder that cannot be made.") from None
DOCS_DIRS = env.paths("DOCS_DIRS", BASE_DIR / "docs")
DOCS_BASE_URL = env.url("DOCS_BASE_URL")
OWN_DOCS = BASE_DIR / "docs"  # these pages are everybody's; those of other folders only with DOCS_PUBLIC
DOCS_PUBLIC = env.choice("DOCS_PUBLIC", ("on", "off"), default="off") == "on"
DOCS_SYNONYMS = env.synonyms("DOCS_SYNONYMS")  # besides those of apps/sources/docs/synonyms.txt

DATABASES = {"default": database.parse(env.text("DATABASE_URL", f"sqlite:///{DATA_DIR}/porthole.sqlite3"))}

# Authentication

LOCAL_DEV_BEARER = env.text("LOCAL_DEV_BEARER", "porthole-local-dev" if IS_LOCAL else "")
LOCAL_DEV_ORG = env.text("LOCAL_DEV_ORG", "demo")
LOCAL_DEV_ORG_IS_SET = bool(env.text("LOCAL_DEV_ORG"))
E2E_BOOTSTRAP_SECRET = env.text("E2E_BOOTSTRAP_SECRET")
BOOTSTRAP_ORG = env.text("BOOTSTRAP_ORG")
DEMO_EMAIL = env.text("DEMO_EMAIL", "demo@porthole.test")
DEMO_PASSWORD = env.text("DEMO_PASSWORD", "porthole-demo")
# Private-use schemes of redirect URIs without a dot, such as cursor:// (RFC 8252 §7.1 asks for one with a dot).
REDIRECT_SCHEMES = [
    "claude", "cursor", "cursor-nightly", "vscode", "vscode-insiders", "vscodium", "windsurf", "zed",
    *env.schemes("REDIRECT_SCHEMES"),
]  # fmt: skip
AUTH_USER_MODEL = "orgs.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "account_login"
PASSWORD_RESET_TIMEOUT = 60 * 60

# Signing in (allauth). Which of its pages there are is in apps/accounts/urls.py.

ACCOUNT_ADAPTER = "apps.accounts.adapter.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
# The link of an invitation proves the address, so there is nothing to confirm; and User.email is the only one there
# is: with Django's own tokens for password resets, allauth never keeps addresses of its own, which could differ.
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_PASSWORD_RESET_TOKEN_GENERATOR = "django.contrib.auth.tokens.PasswordResetTokenGenerator"  # noqa: S105
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False  # no mail to strangers
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = "Porthole: "
# Beside those that allauth suggests. What failed is counted by apps/accounts/attempts.py. A mailbox that gets no more
# mail within the hour has some whose link works: that is how long they work.
ACCOUNT_LIMITS = {"login_failed": None, "reset_password": "20/m/ip,5/h/key", "invitation": "20/m/ip"}
ACCOUNT_RATE_LIMITS: dict[str, str | None] | bool = ACCOUNT_LIMITS if RATE_LIMITS else False
ACCOUNT_FORMS = {
    "login": "apps.accounts.forms.LoginForm",
    "reauthenticate": "apps.accounts.forms.ReauthenticateForm",
    "change_password": "apps.accounts.forms.ChangePasswordForm",
    "reset_password": "apps.accounts.forms.ResetPasswordForm",
    "reset_password_from_key": "apps.accounts.forms.ResetPasswordKeyForm",
}
MFA_ADAPTER = "apps.accounts.adapter.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Porthole"
MFA_FORMS = {
    "authenticate": "apps.accounts.forms.CodeForm",
    "reauthenticate": "apps.accounts.forms.CodeAgainForm",
    "activate_totp": "apps.accounts.forms.ActivateTOTPForm",
}
# Whoever runs the installation, on their own machine, needs no telephone for it.
OPERATORS_NEED_SECOND_FACTOR = not IS_LOCAL

# OAuth (django-oauth-toolkit). All five of its models are swapped for ours; its endpoints are in apps/oauthmcp.

OAUTH2_PROVIDER_APPLICATION_MODEL = "oauthmcp.Application"
OAUTH2_PROVIDER_GRANT_MODEL = "oauthmcp.Grant"
OAUTH2_PROVIDER_ACCESS_TOKEN_MODEL = "oauthmcp.AccessToken"  # noqa: S105
OAUTH2_PROVIDER_REFRESH_TOKEN_MODEL = "oauthmcp.RefreshToken"  # noqa: S105
OAUTH2_PROVIDER_ID_TOKEN_MODEL = "oauthmcp.IDToken"  # noqa: S105
OAUTH2_PROVIDER = {
    "OAUTH2_VALIDATOR_CLASS": "apps.oauthmcp.validator.Validator",
    "OAUTH2_SERVER_CLASS": "apps.oauthmcp.server.AuthorizationServer",
    "OAUTH2_BACKEND_CLASS": "apps.oauthmcp.server.Backend",
    "ACCESS_TOKEN_GENERATOR": "apps.oauthmcp.server.new_access_token",
    "REFRESH_TOKEN_GENERATOR": "apps.oauthmcp.server.new_refresh_token",
    "SCOPES_BACKEND_CLASS": "apps.oauthmcp.server.Scopes",
    "ACCESS_TOKEN_EXPIRE_SECONDS": 60 * 60,  # of codes and refresh tokens: apps/oauthmcp/models.py
    # What follows is read by its deploy checks; apps/oauthmcp holds itself to it.
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    "COMPLIANT_BCP_RFC9700_IMPLICIT_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PASSWORD_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
    "COMPLIANT_BCP_RFC9700_ACCESS_TOKEN_TRANSPORT": True,
    "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
    "COMPLIANT_BCP_RFC9700_TOKEN_STORAGE": True,
    "COMPLIANT_BCP_RFC9700_REFRESH_TOKEN": True,
    "COMPLIANT_BCP_RFC9700_REDIRECT_URI_MATCHING": True,
    "COMPLIANT_BCP_RFC9700_PKCE_REQUIRED": True,
    "APPLICATION_ADMIN_CLASS": "apps.oauthmcp.admin.ApplicationAdmin",
    "GRANT_ADMIN_CLASS": "apps.oauthmcp.admin.GrantAdmin",
    "ACCESS_TOKEN_ADMIN_CLASS": "apps.oauthmcp.admin.AccessTokenAdmin",
    "REFRESH_TOKEN_ADMIN_CLASS": "apps.oauthmcp.admin.RefreshTokenAdmin",
    "ID_TOKEN_ADMIN_CLASS": "apps.oauthmcp.admin.IDTokenAdmin",
}

# Mail

_mail = env.mail("EMAIL_URL", "console:" if IS_LOCAL else "")
globals().update(_mail)  # Django's EMAIL_BACKEND, EMAIL_HOST and so on
MAIL_IS_SET_UP = bool(_mail)
MAIL_IS_PRINTED = _mail.get("EMAIL_BACKEND", "").endswith("printed_mail.EmailBackend")
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.email("EMAIL_FROM", f"porthole@{host_of(PUBLIC_URL)}")

# How it is put together

INSTALLED_APPS = [
    "apps.installation.apps.InstallationConfig",
    "apps.accounts.apps.AllauthConfig",
    "allauth.mfa",
    "config.apps.PortholeConfig",
    "apps.accounts.apps.AccountsConfig",
    "apps.oauthmcp.apps.OAuthMcpConfig",
    "oauth2_provider",
    "apps.tools.apps.ToolsConfig",
    "apps.platforms.apps.PlatformsConfig",
    "apps.sources.apps.SourcesConfig",
    "apps.orgs.apps.OrgsConfig",
    "apps.jobs.apps.JobsConfig",
    "django_tasks",
    "django_tasks_db",
    "apps.web.apps.WebConfig",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "apps.accounts.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
]
MIDDLEWARE = [
    "apps.web.middleware.RequestMiddleware",
    "apps.web.cors.CorsMiddleware",
    "apps.web.pages.PageMiddleware",
]
PAGE_MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "apps.accounts.sessions.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "apps.web.resending.ResendMiddleware",
]
ROOT_URLCONF = "config.urls"
FORCE_SCRIPT_NAME = ""  # it is served at the root of PUBLIC_URL, whatever a server says
WSGI_APPLICATION = "config.wsgi.application"
APPEND_SLASH = False
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False
FORMAT_MODULE_PATH = ["config.formats"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# What failed sign-ins count and which codes were used. In the database, so that all processes and machines know it;
# large enough that nobody can push their own failures out of it.
CACHES = {
    "default": {
        "BACKEND": "apps.web.cache.StrictDatabaseCache",
        "LOCATION": "porthole_cache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    }
}

STATIC_URL = "/static/"
STATIC_ROOT = (BASE_DIR / env.text("STATIC_DIR", str(DATA_DIR / "static"))).resolve()
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# Cookies and security headers

SECURE_COOKIES = PUBLIC_URL.startswith("https://")
# RFC 6265bis §4.1.3.2: no other host of the domain, and nobody over plain http, can plant cookies of these names.
_prefix = "__Host-" if SECURE_COOKIES else ""
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"{_prefix}sessionid", f"{_prefix}csrftoken"
SESSION_ENGINE = "apps.accounts.sessions"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_COOKIES
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
# Plain http is refused where secrets are sent, and public pages redirect (apps.web.middleware). A preview whose address
# is http:// has no https that anybody could be sent to.
HTTPS_REQUIRED = SECURE_SSL_REDIRECT = SECURE_COOKIES and not IS_LOCAL
SECURE_REDIRECT_EXEMPT = ["^healthz$", "^readyz$"]
SECURE_HSTS_SECONDS = 31_536_000 if PORTHOLE_ENV == "production" else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
# The preload list takes whole registered domains; whether to join it is the domain owner's choice, not ours.
SILENCED_SYSTEM_CHECKS = ["security.W021"]
# These look in MIDDLEWARE for what is in PAGE_MIDDLEWARE.
SILENCED_SYSTEM_CHECKS += ["security.W001", "security.W002", "security.W003", "admin.E408", "admin.E409", "admin.E410"]
SILENCED_SYSTEM_CHECKS += ["oauth2_provider.W008"]  # apps/oauthmcp/redirects.py says where http may lead
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "apps.web.resending.csrf_failure"

REST_FRAMEWORK = {
    # A string, so that apps.tools does not import apps.oauthmcp.
    "DEFAULT_AUTHENTICATION_CLASSES": ["apps.oauthmcp.bearer.BearerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "EXCEPTION_HANDLER": "apps.web.errors.exception_handler",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Porthole",
    "VERSION": "1",
    "DESCRIPTION": "A read-only window into an organization's deployments.",
    "LICENSE": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
    "OAS_VERSION": "3.1.1",
    # Its check would describe the URLs; apps.tools.schema describes the registry, and tests validate that.
    "ENABLE_DJANGO_DEPLOY_CHECK": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "apps.tools.schema.finish",
    ],
}

LOGGING = logs.CONFIGURATION
