"""The column types that Porthole's rows share."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models

from apps.orgs import ids
from apps.orgs.text import fold
from apps.web.characters import is_plain, prose

# The unit separator, between the words of a search key: no query reaches from one into the next.
WORD_SEPARATOR = "\x1f"


class CodePointField(models.CharField):
    """Text that is compared by code point on both databases.

    PostgreSQL would otherwise follow the language of the database (`COLLATE "C"` is what SQLite does by itself).
    """

    def db_parameters(self, connection: Any) -> dict[str, Any]:
        parameters = dict(super().db_parameters(connection))
        if connection.vendor == "postgresql":
            parameters["collation"] = "C"
        return parameters


def validate_plain(text: str) -> None:
    """Raises ValidationError where text holds what nobody sees."""
    if not is_plain(text):
        raise ValidationError("This holds characters that are not seen.", "not_plain")


class _Text(models.CharField):
    """Migrations know it as what it is in the database: a column of text."""

    stored_as: type[models.Field] = models.CharField

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, f"django.db.models.{self.stored_as.__name__}", args, kwargs


class ProseField(_Text):
    """What people wrote for people, without what nobody sees (`apps.web.characters`), however it is written.

    `lines`: whether line breaks and tabs stay.
    """

    def __init__(self, *args: Any, lines: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lines = lines

    def to_python(self, value: Any) -> Any:
        """Also before it is stored, and in conditions."""
        text = super().to_python(value)
        return prose(text, lines=self.lines) if isinstance(text, str) else text

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        value = getattr(model_instance, self.attname)
        if isinstance(value, str):
            setattr(model_instance, self.attname, self.to_python(value))
        return getattr(model_instance, self.attname)


class IdentifierField(_Text):
    """What names something elsewhere: forms refuse what nobody sees, as syncs do."""

    default_validators = [validate_plain]


def validate_web_address(text: str) -> None:
    """Raises ValidationError for what a link should not lead to."""
    if not text.startswith(("http://", "https://")):
        raise ValidationError("Write an address that starts with http:// or https://.", "no_web_address")


class WebAddressField(IdentifierField):
    default_validators = [validate_plain, validate_web_address]


class EmailField(models.EmailField):
    default_validators = [*models.EmailField.default_validators, validate_plain]

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.EmailField", args, kwargs


def id_field(prefix: str) -> "CodePointField":
    """A primary key as in `apps.orgs.ids`; syncs derive it, everything else gets a random one."""
    default: Callable[[], str] = partial(ids.random_id, prefix)
    return CodePointField(primary_key=True, max_length=ids.MAX_LENGTH, default=default, editable=False)


class FollowingField(models.Field):
    """A column that follows from other text columns of its row, `of`, and is written whenever one of them is.

    `save()` and bulk writes fill it: see `apps.orgs.models.named`. Migrations know it as what it is in the database,
    a plain column of the type `stored_as`.
    """

    stored_as: type[models.Field]

    def __init__(self, *args: Any, of: tuple[str, ...] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs | {"editable": False})
        self.of = of

    def deconstruct(self) -> Any:
        _, _, args, kwargs = super().deconstruct()
        plain = self.stored_as(*args, **kwargs)
        plain.set_attributes_from_name(self.name)
        return plain.deconstruct()

    def follow(self, *texts: Any) -> str:
        """The value for what the columns `of` hold. Raises TypeError where one of them is an expression."""
        if not all(text is None or isinstance(text, str) for text in texts):
            raise TypeError(f"{self.name} follows from {', '.join(self.of)}: they must be text, not expressions.")
        return fold(WORD_SEPARATOR.join(text or "" for text in texts))

    def pre_save(self, model_instance: models.Model, add: bool) -> str:
        fields = (model_instance._meta.get_field(name) for name in self.of)
        value = self.follow(*(field.pre_save(model_instance, add) for field in fields))  # type: ignore[union-attr]
        setattr(model_instance, self.attname, value)
        return value


class SortKeyField(FollowingField, CodePointField):
    """What lists go by: the column `of`, folded."""

    stored_as = CodePointField

    def __init__(self, *args: Any, of: str = "name", **kwargs: Any) -> None:
        super().__init__(*args, of=(of,), **kwargs)


class SearchKeyField(FollowingField, models.TextField):
    """What `query` looks in: the columns `of`, folded, with WORD_SEPARATOR between them."""

    stored_as = models.TextField
