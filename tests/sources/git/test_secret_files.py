"""Files that are secrets by nature."""

import pytest

from apps.sources.git.secret_files import is_secret


@pytest.mark.parametrize(
    "path",
    [
        ".env", ".ENV", ".env.local", ".env.production", "deploy/.env.staging", "prod.env", ".envrc", ".env~",
        ".env.bak", "tls/server.pem", "server.KEY", "www.example.com.key", "a.p12", "a.pfx", "a.jks", "a.keystore",
        "a.kdbx", "a.ppk", "id_rsa", "ID_RSA", "keys/id_rsa.old", "id_dsa", "id_ecdsa", "id_ed25519",
        "id_ed25519_work", "deploy_rsa", ".netrc", "_netrc", ".npmrc", "web/.npmrc", ".pypirc", ".git-credentials",
        ".pgpass", ".htpasswd", ".dockercfg", ".docker/config.json", "home/.docker/config.json", ".aws/credentials",
        ".kube/config", "kubeconfig", "terraform.tfstate", "terraform.tfstate.backup", "prod.tfvars",
        "prod.auto.tfvars", "prod.tfvars.json", "credentials.json", "service-account.json",
        "service-account-prod.json", "service_account.json", "secrets.yml", "secrets.yaml", "config/Secrets.yaml",
        ".vault-token", "config/master.key", "config/master.key.bak", ".ssh/config", ".gnupg/pubring.kbx",
        ".env/inside", "keys.pem/inside.txt", ".terraform.tfstate.swp", ".secrets.yml.swp", "id_rsa.1",
    ],
)  # fmt: skip
def test_a_secret_is_known_by_its_name(path):
    assert is_secret(path)


@pytest.mark.parametrize(
    "path",
    [
        ".env.example", ".env.sample", ".env.template", ".env.dist", ".ENV.EXAMPLE", ".env-example", "example.env",
        "id_rsa.pub", ".ssh/id_ed25519.pub", "prod.tfvars.example", "service-account.example.json", "README.md",
        "src/env.py", "environment.yml", "keyboard.py", "config.json", "docker/config.json",
        "src/credentials/index.ts", "secrets.py", "config/secrets.example.yml", "settings.py", "kubeconfig.go",
        "package.json", "Makefile", "", "a/b/c", "monkey", "public.keys", "tests/test_tfstate.py",
    ],
)  # fmt: skip
def test_an_ordinary_file_and_an_example_are_not_secret(path):
    assert not is_secret(path)
