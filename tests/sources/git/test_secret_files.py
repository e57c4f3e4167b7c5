"""Files that are secrets by nature."""

import pytest

from apps.sources.git.secret_files import is_secret


@pytest.mark.parametrize(
    "path",
    [
        ".env", ".ENV", ".env.local", ".env.production", "deploy/.env.staging", "prod.env", ".envrc", ".env~",
        ".env.bak", ".dev.vars", ".dev.vars.production", "local.settings.json", "secret.json", "ssh_host_rsa_key",
        "ssh_host_ed25519_key", "ssh_host_ecdsa_key.bak", "rclone.conf", "private.asc", "wg0.conf", "wg1.conf",
        "etc/wireguard/home.conf", ".databrickscfg", ".age-key.txt", "age-key.txt", "keys/age_key", "env.production",
        "env.local", "app.env.production", "prod.env.json", "backup.env.2024", "server.key.txt", ".pgpass",
        "id_rsa.txt", "tls/server.pem", "server.KEY", "www.example.com.key", "a.p12", "a.pfx", "a.jks", "a.keystore",
        "a.kdbx", "a.ppk", "a.p8", "a.bks", "a.pkcs8", "krb5.keytab", "id_rsa", "ID_RSA", "keys/id_rsa.old", "id_dsa",
        "id_ecdsa", "id_ed25519", "id_ed25519_work", "deploy_rsa", "private_key", "private-key.txt",
        "rsa_private_key", "privkey1", "secring.gpg", "my-private.gpg", "secret.asc", "secret-key.asc", ".netrc",
        "_netrc", ".npmrc", "web/.npmrc", ".yarnrc.yml", ".pypirc", ".gemrc", ".git-credentials", ".gitcookies",
        "pgpass.conf", ".my.cnf", ".mylogin.cnf", ".pg_service.conf", ".htpasswd", "htpasswd", ".htdigest",
        ".dockercfg", ".docker/config.json", "home/.docker/config.json", ".aws/credentials", ".aws/config",
        ".kube/config", "kubeconfig", "prod.kubeconfig", ".azure/accessTokens.json", ".oci/config",
        "gcloud/credentials.db", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials",
        ".m2/settings.xml", ".config/hub", "gh/hosts.yml", ".s3cfg", ".boto", ".passwd-s3fs", ".vault-token",
        ".vault_pass", "vault-password.txt", ".terraformrc", "credentials.tfrc.json", "terraform.tfstate",
        "terraform.tfstate.backup", "prod.tfvars", "prod.auto.tfvars", "prod.tfvars.json", "credentials.json",
        "credentials.yml", "credentials.csv", "credentials", "rootkey.csv", "deploy_accessKeys.csv",
        "client_secret_123.json", "service-account.json", "service-account-prod.json", "service_account.json",
        "application_default_credentials.json", "shop-firebase-adminsdk-x.json", "gcp-key.json", "secrets.yml",
        "secrets.yaml", "config/Secrets.yaml", "secrets.json", "secrets.toml", "app.secret.json", "secret.txt",
        "key.properties", "config/master.key", "config/master.key.bak", ".ssh/config", ".gnupg/pubring.kbx",
        ".env/inside", "keys.pem/inside.txt", ".terraform.tfstate.swp", ".secrets.yml.swp", "id_rsa.1", "client.ovpn",
        "ipsec.secrets", "wpa_supplicant.conf", "office.nmconnection", "chap-secrets", "logins.json", "key4.db",
        "cookies.sqlite", ".sentryclirc", ".snowsql.cfg", "kaggle.json", ".password-store/mail.gpg", "auth.json",
        "passwords.txt", ".esmtprc", "config/secret_token.rb", ".env.js", ".envrc.sh", ".ftpconfig", ".msmtprc",
        "wallet.dat", ".config/rclone/rclone.conf",
    ],
)  # fmt: skip
def test_a_secret_is_known_by_its_name(path):
    assert is_secret(path)


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".env.example", ".env.sample", ".env.template", ".env.dist", ".ENV.EXAMPLE", ".env-example", "example.env",
        "id_rsa.pub", ".ssh/id_ed25519.pub", "prod.tfvars.example", "service-account.example.json", "README.md",
        "src/env.py", "environment.yml", "keyboard.py", "config.json", "docker/config.json",
        "src/credentials/index.ts", "secrets.py", "config/secrets.example.yml", "settings.py", "kubeconfig.go",
        "package.json", "Makefile", "a/b/c", "monkey", "public.keys", "tests/test_tfstate.py", "environment.ts",
        "environments/production.ts", "monkey.txt", "turkey.md", "keys.ts", "src/keys/index.js", "hotkeys.json",
        "keymap.json", "keyframes.css", "keynote.pdf", "donkey.py", "whiskey.rb", "jockey.go", "env.ts", "env.d.ts",
        ".env.d.ts", "vite-env.d.ts", "env.py", "env.go", "src/env/index.ts", "envoy.yaml", "env/bin/python",
        "envelope.py", "environment.md", "private_key.py", "private-key.test.ts", "privateKey.md", "secret_files.py",
        "secret.md", "secrets.go", "SecretManager.java", "secrets/README.md", "secretary.txt", "docs/secrets.md",
        "credentials.py", "credentials.ts", "CredentialStore.swift", "token.py", "tokens.ts", "tokenizer.json",
        "tokens.json", "auth.py", "auth.ts", "authors.txt", "passwords.py", "password_reset.html", "passwd.c",
        "password.ts", "login.html", "logins.py", "cookies.ts", "cookies/index.js", "cookie.py",
        "src/cookies/parse.ts", "rclone.md", "rclone.go", "wg.py", "wireguard.md", "wgsl/shader.wgsl",
        "page-keys.json", "message-key.txt", "image-key.png", "language-keys.yml", "sausage-key.json", "config.yml",
        "config.toml", "app.conf", "nginx.conf", "httpd.conf", "redis.conf", "my.cnf.md", "pom.xml", "settings.xml",
        "settings.json", "settings.local.md", "appsettings.json", "tsconfig.json", "vars.yml", "dev.ts", "main.tf",
        "variables.tf", "outputs.tf", "terraform.tf.json", "terraform.md", "ssh.py", "ssh_config", "sshd_config",
        "known_hosts", "authorized_keys", "ssh_host_rsa_key.pub", "id_ed25519.pub", "public.asc", "signature.asc",
        "release.asc", "pubring.html", "gpg.md", "age.py", "ages.json", "agency.txt", "wages.csv",
        "package-lock.json", "yarn.lock", "Gemfile.lock", "Cargo.toml", "go.sum", "pyproject.toml", "npm.md",
        ".npmignore", ".gitignore", ".gitattributes", ".dockerignore", "Dockerfile", "docker-compose.yml",
        ".editorconfig", ".eslintrc.json", ".prettierrc", ".babelrc", ".github/workflows/ci.yml", ".gitlab-ci.yml",
        "Jenkinsfile", "LICENSE", "CHANGELOG.md", "index.html", "main.rs", "lib.c", "logo.svg", "data.csv",
        "test.sql", "schema.sql", "migrations/0001_initial.py", "preview.env.md", "deploy.sh", "process.env.test.js",
    ],
)  # fmt: skip
def test_an_ordinary_file_and_an_example_are_not_secret(path):
    assert not is_secret(path)


@pytest.mark.parametrize(
    "path",
    [
        ".pgpass ", ".pgpass.", ".pgpass. .", ".PGPASS", "\uff0epgpass", ".pg\u200bpass", ".pgpass\u200d", ".env\u00a0",
        "\u200e.env", "\uff49\uff44_rsa", "id_rsa\t", ".\u00adenv", "\ufeff.npmrc", "server.\u212aey",
        "secret\u017f.yml",
    ],
)  # fmt: skip
def test_what_a_reader_does_not_see_does_not_hide_a_secret(path):
    assert is_secret(path)
