"""Users: they sign in with an e-mail address, there is no user name."""

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models, transaction
from django.db.models.functions import Lower
from django.utils import timezone

from apps.orgs.models.fields import EmailField, ProseField
from apps.orgs.models.versioned import raise_version


def fold_email(email: str) -> str:
    """The one spelling under which an address is stored and looked up."""
    return email.strip().casefold()


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=fold_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email=fold_email(username or ""))


class User(AbstractBaseUser, PermissionsMixin):
    """Somebody who signs in: a member of organizations, an operator (`is_staff`), or both."""

    email = EmailField("e-mail", max_length=254, unique=True)
    name = ProseField(max_length=100, blank=True)
    is_active = models.BooleanField("active", default=True, help_text="Untick this instead of deleting somebody.")
    is_staff = models.BooleanField("operator", default=False, help_text="May sign in to the admin.")
    date_joined = models.DateTimeField("joined", default=timezone.now, editable=False)
    password_changed_at = models.DateTimeField(
        null=True, editable=False, help_text="Sessions and authorizations from before are not valid any more."
    )

    objects = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        ordering = ["email"]
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_case_folded")]

    def __str__(self) -> str:
        return self.email

    def clean(self) -> None:
        self.email = fold_email(self.email)

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.email = fold_email(self.email)
        columns = kwargs.get("update_fields")
        with transaction.atomic():
            super().save(*args, **kwargs)
            if columns is None or not {"email", "name"}.isdisjoint(columns):
                raise_version(self.memberships.values_list("organization_id", flat=True))

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        with transaction.atomic():
            owners = list(self.memberships.values_list("organization_id", flat=True))
            deleted = super().delete(*args, **kwargs)
            raise_version(owners)
        return deleted

    def set_password(self, raw_password: str | None) -> None:
        # A password that is only hashed anew, at a sign-in, is saved alone (update_fields), so that keeps its time.
        self.password_changed_at = timezone.now()
        super().set_password(raw_password)

    def get_full_name(self) -> str:
        return self.name or self.email

    def get_short_name(self) -> str:
        return self.name or self.email
